//! A location in object storage as an input: the videos below it, as its server lists them.
//!
//! A list may be too long for memory, so vidrec writes it to a file on this machine as it arrives. If the program ends before
//! the list does, the next run continues after the last object in the file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use super::extensions::is_clip;
use super::folders;
use super::job::FoundVideo;
use super::job::Job;
use super::labels::{Classes, Label};
use super::notes::UnlabeledVideos;
use super::notes::{IgnoredFiles, IgnoredTally, kind_by_ending};
use super::options::InputOptions;
use super::roots;
use vidrec_core::source_name;
use vidrec_core::source_name::is_hidden;
use vidrec_core::store::remote::{ListedObject, Listing};
use vidrec_format::error::{Error, Result};

/// The objects below a location, which may be too many for memory: in a temporary file, in the order of their names.
#[derive(Debug)]
pub(super) struct ObjectList {
    location: PathBuf,
    images: bool,
    file: File,
}

impl ObjectList {
    /// Lists the objects below a location.
    ///
    /// # Errors
    ///
    /// The server did not answer or refused access, or the list cannot be written.
    pub fn of(location: &Path, InputOptions { images, storage, .. }: &InputOptions) -> Result<Self> {
        let io = |e| Error::io("write the list of objects", location, e);
        let mut file = BufWriter::new(tempfile::tempfile().map_err(io)?);
        let mut listing = Listing::begin(location, storage, None)?;
        let mut last: Option<String> = None;
        while let Some(page) = listing.next_page()? {
            for ListedObject { name, bytes, version } in page {
                if let Some(last) = last.filter(|last| *last >= name) {
                    let e = Error::usage("the server does not list its objects in the order of their keys");
                    let e = e.file(location).found(format!("{name:?} after {last:?}"));
                    return Err(e.help("name the videos in a manifest on this machine"));
                }
                let line = serde_json::to_string(&(&name, bytes, version));
                let line = line.map_err(|e| Error::internal(format!("list of objects: {e}")))?;
                writeln!(file, "{line}").map_err(io)?;
                last = Some(name);
            }
        }
        let file = file.into_inner().map_err(|e| io(e.into_error()))?;
        Ok(ObjectList { location: location.to_owned(), images: *images, file })
    }

    /// Passes all objects to `take`, in order.
    pub fn each(&self, take: &mut dyn FnMut(ListedObject) -> Result<()>) -> Result<()> {
        let io = |e| Error::io("read the list of objects", &self.location, e);
        (&self.file).rewind().map_err(io)?;
        for line in BufReader::with_capacity(1 << 16, &self.file).lines() {
            let object = serde_json::from_str(&line.map_err(io)?);
            let (name, bytes, version) = object.map_err(|e| Error::internal(format!("list of objects: {e}")))?;
            take(ListedObject { name, bytes, version })?;
        }
        Ok(())
    }

    /// Passes all videos to `take`, in order, and counts the objects that are none.
    pub fn each_video(
        &self,
        passed_over: &mut IgnoredTally,
        take: &mut dyn FnMut(FoundVideo, ListedObject) -> Result<()>,
    ) -> Result<()> {
        self.each(&mut |object| match self.video(&object, passed_over) {
            _ if folders::is_of_lerobot(&object.name) => Err(folders::refused_lerobot(&self.location)),
            Some(found) => take(found, object),
            None => Ok(()),
        })
    }

    /// Returns the video that an object is. Its class is the first folder below the location on the way, as in a folder.
    fn video(&self, object: &ListedObject, passed_over: &mut IgnoredTally) -> Option<FoundVideo> {
        let name = Path::new(&object.name);
        if name.iter().any(is_hidden) {
            return None;
        }
        if !is_clip(name, self.images) {
            passed_over.add(kind_by_ending(name), || source_name::of_path(name));
            return None;
        }
        // Some tools make an empty object that stands for a folder.
        if object.bytes == 0 && name.extension().is_none() {
            return None;
        }
        let label = object.name.split_once('/').map_or(Label::None, |(folder, _)| Label::name(folder));
        let path = self.location.join(roots::encoded(&object.name));
        Some(FoundVideo::new(path, source_name::of_path(name), label))
    }
}

/// The videos of a plan that stay in a list on disk.
#[derive(Debug)]
pub(crate) struct ListedVideos {
    list: ObjectList,
    classes: Classes,
    pub videos: u64,
    pub passed_over: Vec<IgnoredFiles>,
    pub note: Option<String>,
}

impl ListedVideos {
    /// Lists the videos below a location. `classes` are those that the caller names.
    pub(super) fn of(location: &Path, classes: Option<Classes>, options: &InputOptions) -> Result<Self> {
        let list = ObjectList::of(location, options)?;
        let (mut passed_over, mut labels) = (IgnoredTally::default(), HashSet::new());
        let mut unlabeled = UnlabeledVideos::default();
        list.each_video(&mut passed_over, &mut |found, _| {
            unlabeled.count(&found);
            labels.insert(found.label);
            Ok(())
        })?;
        let classes = classes.map_or_else(|| Classes::of(labels.iter()), Ok)?;
        let passed_over = passed_over.into_list();
        Ok(ListedVideos { list, classes, videos: unlabeled.of, passed_over, note: unlabeled.note() })
    }

    /// Passes all videos to `take`, in order, with what the server said of each.
    pub fn each(&self, take: &mut dyn FnMut(Job, ListedObject) -> Result<()>) -> Result<()> {
        let mut ordinal = 0;
        self.list.each_video(&mut IgnoredTally::default(), &mut |found, object| {
            let job = found.into_job(ordinal, &self.classes)?;
            ordinal += 1;
            take(job, object)
        })
    }

    pub fn classes(&self) -> &[String] {
        &self.classes.names
    }
}
