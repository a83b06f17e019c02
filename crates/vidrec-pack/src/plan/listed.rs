//! A location in object storage as an input: the videos below it, as its server lists them.
//!
//! A list may be too long for memory, so vidrec writes it to a file on this machine as it arrives. If the program ends before
//! the list does, the next run continues after the last object in the file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::extensions::is_clip;
use super::job::FoundVideo;
use super::job::Job;
use super::labels::{Classes, Label};
use super::lerobot;
use super::notes::UnlabeledVideos;
use super::notes::{PassedOver, PassedOverTally, kind_by_ending};
use super::options::InputOptions;
use super::places;
use vidrec_core::natural_order::is_hidden;
use vidrec_core::source_name;
use vidrec_core::store::disk::{AtomicFile, folder};
use vidrec_core::store::remote::{ListedObject, Listing};
use vidrec_core::store::storage::Storage;
use vidrec_core::transfer::upload::own_folder_for;
use vidrec_format::error::{Error, Result};

/// The age at which an unfinished list is of no use, because the objects before its end may be others by now.
const OLD: Duration = Duration::from_secs(24 * 3600);

/// All objects below a location, in the order of their keys, in a file of this machine that goes when this does.
#[derive(Debug)]
pub(super) struct ObjectList {
    location: PathBuf,
    /// Whether each picture is a clip.
    images: bool,
    /// The path under which the file is written. While it is open, no other process lists this location.
    path: PathBuf,
    file: Option<AtomicFile>,
}

impl ObjectList {
    /// Lists the objects below a location, or continues a list that was interrupted.
    ///
    /// # Errors
    ///
    /// A request failed, the file cannot be written, or the server lists its objects in another order than that of
    /// their keys.
    pub fn of(location: &Path, InputOptions { images, storage, .. }: &InputOptions) -> Result<Self> {
        let path = own_folder_for(None, location)?.join("objects.jsonl");
        let mut file = AtomicFile::reopen(&path)?;
        file.keep();
        let path = file.temporary_path().to_owned();
        complete(&mut file, (location, &path), storage)?;
        Ok(ObjectList { location: location.to_owned(), images: *images, path, file: Some(file) })
    }

    /// Passes all objects to `take`, in order.
    pub fn each(&self, take: &mut dyn FnMut(ListedObject) -> Result<()>) -> Result<()> {
        let io = |e| Error::io("read the list of objects", &self.path, e);
        let lines = BufReader::with_capacity(1 << 16, File::open(&self.path).map_err(io)?).split(b'\n');
        for line in lines {
            let object = parsed(&line.map_err(io)?);
            take(object.ok_or_else(|| Error::usage("another program changed the list of objects").file(&self.path))?)?;
        }
        Ok(())
    }

    /// Passes all videos to `take`, in order, and counts the objects that are none.
    pub fn each_video(
        &self,
        passed_over: &mut PassedOverTally,
        take: &mut dyn FnMut(FoundVideo, ListedObject) -> Result<()>,
    ) -> Result<()> {
        self.each(&mut |object| match self.video(&object, passed_over) {
            _ if lerobot::has_object(&object.name) => Err(lerobot::refused(&self.location)),
            Some(found) => take(found, object),
            None => Ok(()),
        })
    }
}

impl ObjectList {
    /// Returns the video that an object is. Its class is the first folder below the location on the way, as in a folder.
    fn video(&self, object: &ListedObject, passed_over: &mut PassedOverTally) -> Option<FoundVideo> {
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
        let path = self.location.join(places::encoded(&object.name));
        Some(FoundVideo::new(path, source_name::of_path(name), label))
    }
}

impl Drop for ObjectList {
    fn drop(&mut self) {
        self.file.take().into_iter().for_each(AtomicFile::discard);
        self.path.parent().into_iter().for_each(folder::remove_if_empty);
    }
}

/// Appends the objects that a list lacks.
fn complete(file: &mut AtomicFile, (location, path): (&Path, &Path), storage: &Storage) -> Result<()> {
    let (end, resumed) = end_of(path).map_err(|e| Error::io("read the list of objects", path, e))?;
    file.cut(end)?;
    let mut listing = Listing::begin(location, storage, resumed.as_deref())?;
    let mut last = resumed.clone();
    while let Some(mut page) = listing.next_page()? {
        // Not every server begins where it is told to.
        page.retain(|object| resumed.as_ref().is_none_or(|resumed| object.name > *resumed));
        for ListedObject { name, bytes, version } in page {
            if let Some(last) = last.filter(|last| *last >= name) {
                let e = Error::usage("the server does not list its objects in the order of their keys").file(location);
                let e = e.found(format!("{name:?} after {last:?}"));
                return Err(e.help("name the videos in a manifest on this machine"));
            }
            let line = serde_json::to_vec(&(&name, bytes, version));
            file.write_all(&line.map_err(|e| Error::internal(format!("list of objects: {e}")))?)?;
            file.write_all(b"\n")?;
            last = Some(name);
        }
        file.flush().map_err(|e| Error::io("write", path, e))?;
    }
    Ok(())
}

/// The number of bytes of the whole lines of an unfinished list, and its last object.
fn end_of(path: &Path) -> io::Result<(u64, Option<String>)> {
    let file = File::open(path)?;
    let written = file.metadata()?.modified()?;
    let (mut end, mut last) = (0, None::<String>);
    if SystemTime::now().duration_since(written).is_ok_and(|age| age > OLD) {
        return Ok((end, last));
    }
    let (mut lines, mut line) = (BufReader::new(file), Vec::new());
    while lines.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
        let object = parsed(&line).filter(|object| last.as_ref().is_none_or(|last| *last < object.name));
        let Some(object) = object else { break };
        end += line.len() as u64;
        last = Some(object.name);
        line.clear();
    }
    Ok((end, last))
}

fn parsed(line: &[u8]) -> Option<ListedObject> {
    let (name, bytes, version) = serde_json::from_slice(line).ok()?;
    Some(ListedObject { name, bytes, version })
}

/// The videos of a plan that stay in a list on disk.
#[derive(Debug)]
pub(crate) struct ListedVideos {
    list: ObjectList,
    classes: Classes,
    pub videos: u64,
    pub passed_over: Vec<PassedOver>,
    pub note: Option<String>,
}

impl ListedVideos {
    /// Lists the videos below a location. `classes` are those that the caller names.
    pub(super) fn of(location: &Path, classes: Option<Classes>, options: &InputOptions) -> Result<Self> {
        let list = ObjectList::of(location, options)?;
        let (mut passed_over, mut labels) = (PassedOverTally::default(), HashSet::new());
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
        self.list.each_video(&mut PassedOverTally::default(), &mut |found, object| {
            let job = found.into_job(ordinal, &self.classes)?;
            ordinal += 1;
            take(job, object)
        })
    }

    pub fn classes(&self) -> &[String] {
        &self.classes.names
    }
}
