//! A video of a plan, and what identifies its files: of a file its size and time, of a remote video its length and version.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::plan::Job;
use crate::work::{ChangedFile, Stamp, changed_file};
use vidrec_core::store::location::is_remote;
use vidrec_core::store::remote::{ListedObject, Opening, Remote, check_location};
use vidrec_core::store::storage::Storage;
use vidrec_core::threads::in_order;
use vidrec_format::error::Result;

/// The number of videos to ask about at a time.
const AT_ONCE: usize = 64;

/// A line of `jobs.jsonl`.
#[derive(Serialize, Deserialize)]
pub(super) struct PlannedJob<J = Job> {
    /// What identified the files when the plan was made. A pack on one machine reads the files as it finds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<InputStamps>,
    pub job: J,
}

/// What identifies the files of a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct InputStamps {
    /// The size and time of the file. Absent if the file could not be looked at.
    pub video: Option<Stamp>,
    /// For a remote video, the answer of the server. Absent if the server was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectStamp>,
    /// The stamps of the files of its tracks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<Option<Stamp>>,
}

impl InputStamps {
    /// Returns the first file of a video that has changed.
    pub fn changed<'a>(&self, job: &'a Job) -> Option<ChangedFile<'a>> {
        changed_file(job, self.video, &self.tracks)
    }
}

/// The server's answer about a remote video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ObjectStamp {
    Missing,
    Object {
        /// Its length.
        bytes: u64,
        /// Its ETag, or else the time of its last change, or else an empty text.
        version: String,
    },
}

impl From<ListedObject> for ObjectStamp {
    fn from(ListedObject { bytes, version, .. }: ListedObject) -> Self {
        ObjectStamp::Object { bytes, version }
    }
}

impl ObjectStamp {
    pub fn bytes(&self) -> u64 {
        match self {
            ObjectStamp::Missing => 0,
            ObjectStamp::Object { bytes, .. } => *bytes,
        }
    }

    /// Requests one byte, as a reader of the video does, because some servers refuse requests for no data.
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

/// Requests the stamps of all remote videos among these paths, each once and several at a time.
pub(super) fn look<'a>(
    paths: impl Iterator<Item = &'a Path>,
    storage: &Storage,
) -> Result<HashMap<&'a Path, ObjectStamp>> {
    // A path that is not a valid location fails when it is packed.
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
