//! Folders of images: one folder per clip.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::sink::{self, ImportOptions, Sink, malformed, read_text};
use super::sink::{ExportReport, ImportReport};
use crate::{ClipInfo, Dataset, Error, Meta, ProgressFn, Result, limits};
use vidrec_core::progress::Counter;
use vidrec_core::source_name;
use vidrec_core::source_name::{NaturalOrder, is_hidden};
use vidrec_core::store::disk::NewFolder;
use vidrec_core::store::disk::inside::Inside;
use vidrec_core::store::disk::regular_file::{Links, read_regular};

/// The file with everything that is known about a clip except its frames and tracks, in the clip's folder.
const CLIP_FILE: &str = "clip.json";
/// The file with everything that all clips share: class names, settings and provenance.
const META_FILE: &str = "vidrec.json";

/// The contents of `clip.json`.
#[derive(Serialize, Deserialize)]
struct ClipJson {
    #[serde(flatten)]
    info: ClipInfo,
    /// The presentation time of each frame, and its ordinal in its source, if it is known.
    times: Vec<(i64, Option<u32>)>,
}

/// Writes a folder of images for each of some clips to a new folder.
///
/// A frame is `CLIP/FRAME.jpg`, such as `000012/003.jpg` for frame 3 of clip 12. `CLIP/clip.json` holds everything else that is known
/// about the clip, except its tracks, which the report names.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists and is not an empty folder;
/// [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged.
pub fn export(
    dataset: &Dataset,
    clips: impl IntoIterator<Item = u64>,
    out: &Path,
    progress: &mut ProgressFn<'_>,
) -> Result<ExportReport> {
    let clips: BTreeSet<u64> = clips.into_iter().collect();
    let (counter, mut frames) = (&mut Counter::new(Some(clips.len() as u64), progress), 0);
    let mut folder = NewFolder::create(out)?;
    for &ordinal in &clips {
        let (clip, name) = (dataset.clip(ordinal)?, format!("{ordinal:06}"));
        let mut times = Vec::new();
        for (t, frame) in clip.frames().enumerate() {
            let frame = frame?;
            frame.check()?;
            folder.write(format!("{name}/{t:03}.jpg"), frame.jpeg())?;
            times.push((frame.pts(), frame.source_index()));
        }
        folder.write(format!("{name}/{CLIP_FILE}"), &json(&ClipJson { info: clip.info()?, times }))?;
        frames += u64::from(clip.frame_count());
        counter.add(clip.frame_count().into(), 0)?;
    }
    folder.write(META_FILE, &json(dataset.meta()))?;
    let report = ExportReport::without_tracks(dataset, folder.publish()?)?;
    Ok(ExportReport { clips: clips.len() as u64, frames, ..report })
}

/// Returns a value as JSON. Serializing strings and numbers cannot fail.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(value).unwrap_or_default()
}

/// Imports each folder below `root` that contains images (`.jpg`, `.jpeg`, `.png`) as a clip, in order of path.
///
/// Each clip gets all images of its folder as frames, in the natural order of their names: `img_9.jpg` comes
/// before `img_10.jpg`. Hidden images and folders, whose names start with a dot, are ignored. If folders with
/// images are inside other folders, the first folder level is the class. Otherwise there are no labels. If an
/// export wrote a `clip.json`, that file supplies the rest; it may also say that a
/// clip has no frames. A link that
/// leads out of `root` is an error, unless [`outside`](ImportOptions::outside) is set.
///
/// # Errors
///
/// The first fault, such as an image that is not a JPEG, unless [`salvage`](ImportOptions::salvage) is set.
/// [`Io`](vidrec_format::error::ErrorKind::Io), [`Usage`](vidrec_format::error::ErrorKind::Usage).
pub fn import(root: &Path, out: &Path, options: &ImportOptions, progress: &mut ProgressFn<'_>) -> Result<ImportReport> {
    let limits = if options.outside { None } else { Some(RefCell::new(Inside::new(root)?)) };
    let check = |path: &Path| limits.as_ref().map_or(Ok(()), |limits| limits.borrow_mut().check(path));
    check(&root.join(META_FILE))?;
    let folders = folders(root, &check)?;
    if folders.is_empty() {
        return Err(Error::usage("there are no folders with images here").file(root).expected(".jpg or .png files"));
    }
    let classes: BTreeSet<String> = folders.iter().filter_map(|(folder, _)| class(folder)).collect();
    let classes: Vec<String> = classes.into_iter().collect();
    let meta_file = root.join(META_FILE);
    let meta = match meta_file.exists() {
        true => Meta::from_json(read_text(&meta_file)?.as_bytes())
            .map_err(|e| malformed(&meta_file, format!("this is not JSON in vidrec's form: {e}")))?,
        false => sink::meta("frames", classes.clone()),
    };
    let mut sink = Sink::create(out, meta, options, progress)?;
    for (folder, files) in &folders {
        let place = root.join(source_name::to_path(folder));
        let read = |file: &PathBuf| read_regular(file, limits::MAX_RECORD_BYTES, Links::Follow).map(Cow::Owned);
        let pictures = files.iter().map(read).collect::<Result<Vec<_>>>();
        match clip(root, folder, &classes, &sink).and_then(|clip| Ok((clip, pictures?))) {
            Ok((clip, _)) if files.is_empty() && !clip.times.is_empty() => {
                sink.leave_out(folder, Error::decode("the images of the clip are missing").file(place))?;
            }
            Ok((clip, pictures)) => {
                sink.add(folder, clip.info, &clip.times, &pictures).map_err(|e| {
                    let file = e.frame().and_then(|t| files.get(t as usize)).unwrap_or(&place);
                    e.file(file)
                })?;
            }
            Err(e) => sink.leave_out(folder, e)?,
        }
    }
    sink.finish()
}

/// Refuses a path that leads out of the folder, unless the options allow such paths.
type Check<'a> = dyn Fn(&Path) -> Result<()> + 'a;

/// Returns the folders that contain images or a `clip.json`, and their images. The paths of the folders are relative to `root`, as
/// names of sources.
///
/// # Errors
///
/// `check` refuses a link.
fn folders(root: &Path, check: &Check<'_>) -> Result<Vec<(String, Vec<PathBuf>)>> {
    let mut folders: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let walk = WalkDir::new(root).follow_links(true).into_iter();
    for entry in walk.filter_entry(|e| e.depth() == 0 || !is_hidden(e.file_name())) {
        let entry = entry.map_err(|e| Error::io("list the folder", root, e.into()))?;
        let path = entry.path();
        if entry.depth() > 0 && entry.path_is_symlink() {
            check(path)?;
        }
        let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let is_picture = matches!(ending.as_deref(), Some("jpg" | "jpeg" | "png"));
        if entry.file_type().is_file() && (is_picture || entry.file_name() == CLIP_FILE) {
            let folder = path.parent().and_then(|p| p.strip_prefix(root).ok()).unwrap_or(Path::new(""));
            let files = folders.entry(source_name::of_path(folder)).or_default();
            files.extend(is_picture.then(|| path.to_owned()));
        }
    }
    for files in folders.values_mut() {
        files.sort_by_cached_key(|file| NaturalOrder::of_file(file));
    }
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by_cached_key(|(folder, _)| NaturalOrder(folder.clone()));
    Ok(folders)
}

/// Returns the first folder level, if there are several.
fn class(folder: &str) -> Option<String> {
    folder.split_once('/').map(|(class, _)| class.to_owned())
}

fn clip(root: &Path, folder: &str, classes: &[String], sink: &Sink<'_, '_>) -> Result<ClipJson> {
    let path = root.join(source_name::to_path(folder)).join(CLIP_FILE);
    if path.exists() {
        let clip = serde_json::from_str(&read_text(&path)?);
        return clip.map_err(|e| malformed(&path, format!("this is not JSON in vidrec's form: {e}")));
    }
    // Images in `root` itself are one clip with its name.
    let own_name = || source_name::of_os_str(root.file_name().unwrap_or_default());
    let mut info = sink.clip(if folder.is_empty() { own_name() } else { folder.to_owned() });
    if let Some(class) = class(folder) {
        info.label = classes.iter().position(|c| *c == class).map(|i| i as u32);
        info.class = class;
    }
    Ok(ClipJson { info, times: Vec::new() })
}
