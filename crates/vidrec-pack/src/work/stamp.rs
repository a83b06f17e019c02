//! Sizes, times and versions of inputs, by which a pack notices that one has changed.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::plan::Job;
use vidrec_core::store::location::is_remote;
use vidrec_core::store::remote::{ListedObject, Opening, Remote, check_location};
use vidrec_core::store::storage::Storage;
use vidrec_core::threads::in_order;
use vidrec_format::error::Result;

/// Size and time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub bytes: u64,
    /// The time at which the file was last changed, in nanoseconds since 1970.
    pub modified_ns: u64,
}

impl Stamp {
    /// Returns the stamp of a local file, if it can be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        if is_remote(path) {
            return None;
        }
        let meta = std::fs::metadata(path).ok()?;
        let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Stamp { bytes: meta.len(), modified_ns: u64::try_from(since.as_nanos()).ok()? })
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, changed {} ns after 1970", self.bytes, self.modified_ns)
    }
}

/// The stamps of the files of a video, by which it is the same when it is packed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InputStamps {
    /// `None` if it is no local file, or if it could not be looked at.
    pub video: Option<Stamp>,
    /// The object of a remote video, in the plan of parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectStamp>,
    /// The stamps of the files of its tracks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<Option<Stamp>>,
}

impl InputStamps {
    /// Returns the stamps of the local files of a video as they are now.
    pub fn of(job: &Job) -> Self {
        let tracks = job.tracks.iter().flat_map(|row| row.files()).map(Stamp::of).collect();
        InputStamps { video: Stamp::of(&job.path), object: None, tracks }
    }

    /// Returns the first local file that is another one now, with its stamps then and now.
    pub fn changed<'a>(&self, job: &'a Job) -> Option<(&'a Path, [String; 2])> {
        let text = |stamp: Option<Stamp>| stamp.map_or("no file".into(), |stamp| stamp.to_string());
        let tracks = job.tracks.iter().flat_map(|row| row.files()).zip(self.tracks.iter().copied());
        let mut files = std::iter::once((&*job.path, self.video)).chain(tracks);
        files.find_map(|(file, then)| {
            let now = Stamp::of(file);
            (now != then).then(|| (file, [then, now].map(text)))
        })
    }

    /// Returns the bytes of the video, or 0 if they are not known.
    pub fn bytes(&self) -> u64 {
        match (&self.video, &self.object) {
            (Some(stamp), _) => stamp.bytes,
            (None, Some(ObjectStamp::Object { bytes, .. })) => *bytes,
            _ => 0,
        }
    }
}

/// An object in object storage, or that there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObjectStamp {
    Missing,
    Object {
        bytes: u64,
        /// The version that the server gives, such as an ETag.
        version: String,
    },
}

impl From<ListedObject> for ObjectStamp {
    fn from(ListedObject { bytes, version, .. }: ListedObject) -> Self {
        ObjectStamp::Object { bytes, version }
    }
}

impl ObjectStamp {
    fn of(remote: &Arc<Remote>, path: &Path) -> Result<Self> {
        match Opening::start_with(remote, path, 1).and_then(Opening::finish) {
            Ok(object) => Ok(ObjectStamp::Object { bytes: object.len(), version: object.version().to_owned() }),
            Err(e) if e.is_missing() => Ok(ObjectStamp::Missing),
            Err(e) => Err(e),
        }
    }
}

impl fmt::Display for ObjectStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectStamp::Missing => f.write_str("no object"),
            ObjectStamp::Object { bytes, version } => write!(f, "{bytes} bytes, version {version}"),
        }
    }
}

/// The most objects that are looked at together.
const AT_ONCE: usize = 64;

/// Looks at the objects of the remote videos among these paths, each of them once.
///
/// # Errors
///
/// The server did not answer, or refused access.
pub(crate) fn look<'a>(
    paths: impl Iterator<Item = &'a Path>,
    storage: &Storage,
) -> Result<HashMap<&'a Path, ObjectStamp>> {
    // A location that is not valid fails when its part is packed.
    let is_asked = |path: &&Path| is_remote(path) && check_location(path).is_ok();
    let mut remote: Vec<&Path> = paths.filter(is_asked).collect();
    remote.sort_unstable();
    remote.dedup();
    if remote.is_empty() {
        return Ok(HashMap::new());
    }
    let store = Remote::new(&Storage { cache: None, ..storage.clone() })?;
    let stamps = in_order(remote.len(), AT_ONCE, |i| ObjectStamp::of(&store, remote[i]))?;
    Ok(remote.into_iter().zip(stamps).collect())
}
