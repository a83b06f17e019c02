//! The context in which a manifest is read, and the videos that its rows become.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::row::{ManifestRow, in_column};
use crate::plan::job::{Attributes, FoundVideo};
use crate::plan::labels::Tag;
use crate::plan::options::InputOptions;
use crate::plan::roots;
use crate::plan::segment::{Segment, SegmentClock};
use crate::track::{EpisodeFrames, RowTracks, TrackCell, TrackInput, TrackSpec};
use vidrec_core::source_name;
use vidrec_core::store::disk::inside::{Inside, is_below, outside};
use vidrec_core::store::disk::regular_file::{Links, open_regular};
use vidrec_core::store::location::is_remote;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::TrackType;

/// The largest manifest that is read as a whole, in bytes.
const MOST_BYTES: u64 = 4 << 30;

/// The context in which a manifest is read.
pub(super) struct Context<'a> {
    /// The path of the manifest.
    pub file: &'a Path,
    /// The root of its paths.
    pub root: PathBuf,
    pub options: &'a InputOptions,
    /// The word for its rows: `line`, or `entry` of an array.
    pub unit: &'static str,
    /// The limits on where it may lead, if the caller did not name it.
    pub limits: Option<ManifestLimits>,
}

/// The videos of a manifest so far.
#[derive(Default)]
pub(super) struct ManifestVideos {
    pub videos: Vec<FoundVideo>,
    /// The line of each video.
    pub lines: Vec<u64>,
    names: HashSet<Arc<str>>,
}

impl ManifestVideos {
    /// Adds the video of a row. Equal names of classes share their memory.
    ///
    /// # Errors
    ///
    /// The row leads out of the folder in which the manifest was found.
    pub fn push(&mut self, context: &Context<'_>, row: ManifestRow) -> Result<()> {
        self.lines.push(row.line);
        let mut found = context.found(row)?;
        for tag in found.label.tags_mut() {
            let Tag::Name(name) = tag else { continue };
            match self.names.get(name) {
                Some(known) => *name = known.clone(),
                None => drop(self.names.insert(name.clone())),
            }
        }
        self.videos.push(found);
        Ok(())
    }
}

impl Context<'_> {
    /// Returns why a video fails whose row makes no sense.
    pub fn fault(&self, line: u64, what: impl fmt::Display) -> Box<str> {
        let manifest = source_name::of_os_str(self.file.file_name().unwrap_or_default());
        format!("{manifest}, {} {line}, {what}", self.unit).into()
    }

    /// The command that turns an array into objects on lines.
    pub fn one_each_line(&self) -> String {
        let name = self.file.file_name().unwrap_or_default().display();
        format!("write one object on each line, for instance with `jq -c '.[]' {name} > list.jsonl`")
    }

    /// Opens the manifest. A manifest that the caller names may be anything that can be read, such as a pipe.
    pub fn open(&self) -> Result<File> {
        match &self.limits {
            Some(_) => open_regular(self.file, Links::Follow),
            None => File::open(self.file).map_err(|e| Error::io("open the manifest", self.file, e)),
        }
    }

    pub fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.open()?.take(MOST_BYTES).read_to_end(&mut bytes);
        read.map_err(|e| Error::io("read the manifest", self.file, e))?;
        if bytes.len() as u64 == MOST_BYTES {
            return Err(Error::limit("the manifest is too long").file(self.file).expected(MOST_BYTES));
        }
        Ok(bytes)
    }

    /// Returns where a path of the manifest leads.
    pub fn path(&self, name: &str) -> PathBuf {
        roots::below(&self.root, &source_name::to_path(name))
    }

    /// Returns the video of a row. A row without a path is named by its line.
    fn found(&self, row: ManifestRow) -> Result<FoundVideo> {
        let specs = &self.options.track;
        let tracks = row_tracks((self.file, &self.root), specs, row.line, &row.tracks);
        let (tracks, no_track) =
            tracks.map_or_else(|(column, what)| (None, Some(in_column(&column, what))), |t| (t, None));
        let ManifestRow { line, mut path, label, start_us, end_us, episode, split, attributes, fault, .. } = row;
        let (episode, of_episode) = episode.unzip();
        let no_path = path.is_empty().then(|| in_column("path", "the path is empty"));
        let (segment, no_segment) = match Segment::new(start_us, end_us) {
            Ok(segment) => (segment.filter(|_| self.options.segments != SegmentClock::Ignore), None),
            Err(what) => (None, Some(in_column("end", what))),
        };
        let fault = fault.or(no_path).or(no_segment).or(no_track).map(|what| self.fault(line, what));
        if path.is_empty() {
            path = format!("{}:{line}", source_name::of_os_str(self.file.file_name().unwrap_or_default()));
        }
        let (segment, episode) = (of_episode.or(segment), episode.map(Box::new));
        let attributes = Attributes::from_map(attributes);
        let name = source_name::to_path(&path);
        let (mut source, mut path) = (roots::source(&name), roots::below(&self.root, &name));
        // There may be millions of them.
        source.shrink_to_fit();
        path.shrink_to_fit();
        let found = FoundVideo { source, path, root: 0, label, segment, split, attributes, fault, tracks, episode };
        match self.limits.as_ref().and_then(|limits| limits.outside(&found)) {
            None => Ok(found),
            Some(path) => Err(self.leads_out(line, path)),
        }
    }

    fn leads_out(&self, line: u64, path: &Path) -> Error {
        let e = outside(format!("line {line}: the list was found in a folder, but leads out of it")).file(self.file);
        e.expected("relative paths below the folder, and no links out of it")
            .found(format!("{:?}", path.display().to_string()))
            .help("name the list itself as the input; or, if you trust whoever made the folder, allow this")
    }
}

/// The limits on where a manifest from an input folder may lead.
pub(super) struct ManifestLimits {
    /// The root of its videos: the folder of the manifest, or the root that the caller named.
    root: PathBuf,
    /// The root of its files of values, which are on this machine.
    values: PathBuf,
    /// The folder that links may lead to.
    inside: RefCell<Inside>,
}

impl ManifestLimits {
    /// Creates the limits for a manifest that was found in `folder`, and whose paths begin at `root`.
    ///
    /// # Errors
    ///
    /// The manifest is a link that leads out of the folder.
    pub fn new(file: &Path, folder: &Path, root: &Path, options: &InputOptions) -> Result<Self> {
        let mut inside = Inside::new(folder)?;
        inside.check(file)?;
        // A caller who names a root wants what is there.
        if let Some(root) = options.root.as_deref().filter(|root| !is_remote(root)) {
            inside = Inside::new(root)?;
        }
        let values = if is_remote(root) { file.parent().unwrap_or(Path::new("")) } else { root };
        Ok(ManifestLimits { root: root.to_owned(), values: values.to_owned(), inside: RefCell::new(inside) })
    }

    /// Returns the first path that leads where the manifest may not lead: the video, or values beside it.
    pub fn outside<'a>(&self, found: &'a FoundVideo) -> Option<&'a Path> {
        let mut inside = self.inside.borrow_mut();
        let video = found.path.as_path();
        let is_kept = is_below(&self.root, video) && (is_remote(video) || inside.holds_all(video));
        let mut files = found.tracks.iter().flat_map(|tracks| tracks.files());
        Some(video)
            .filter(|_| !is_kept)
            .or_else(|| files.find(|file| !is_below(&self.values, file) || !inside.holds_all(file)))
    }
}

/// Returns the tracks of a row of the manifest `file`, whose paths begin at `root`, or `None` if the row provides
/// none.
///
/// `cells` are by column. An error names its column.
pub(crate) fn row_tracks(
    (file, root): (&Path, &Path),
    specs: &[TrackSpec],
    line: u64,
    cells: &Map<String, Value>,
) -> Result<Option<Box<RowTracks>>, (String, String)> {
    if cells.is_empty() {
        return Ok(None);
    }
    // A remote root is for the videos. Files of values must be on this machine.
    let root = if is_remote(root) { file.parent().unwrap_or(Path::new("")) } else { root };
    let input = |column: &str, is_picture: bool| {
        let input = cells.get(column).map(|value| track_input(root, value, is_picture));
        input.transpose().map_err(|what| (column.to_owned(), what))
    };
    let mut row = Vec::new();
    for spec in specs {
        let mut columns = spec.columns();
        let is_picture = !spec.list && matches!(spec.kind, Some(TrackType::U8 | TrackType::U16));
        let values = columns.next().map(|column| input(column, is_picture)).transpose()?.flatten();
        let times = columns.next().map(|column| input(column, false)).transpose()?.flatten();
        row.push(values.map(|values| TrackCell { values, times }));
    }
    Ok(Some(Box::new(RowTracks { manifest: source_name::of_path(file).into(), line, cells: row })))
}

/// `is_picture` says that texts in a list name pictures, because the type of the track is one of numbers.
fn track_input(root: &Path, value: &Value, is_picture: bool) -> Result<TrackInput, String> {
    let place = |name: &str| -> PathBuf { roots::below(root, &source_name::to_path(name)) };
    let names = match value {
        Value::Array(_) if is_picture => serde_json::from_value::<Vec<String>>(value.clone()).ok(),
        Value::String(text) if is_picture && text.starts_with('[') => serde_json::from_str(text).ok(),
        _ => None,
    };
    if let Some(names) = names.filter(|names| !names.is_empty()) {
        return Ok(TrackInput::Pictures(names.iter().map(|name| place(name)).collect()));
    }
    match value {
        Value::Array(_) => Ok(TrackInput::List(value.to_string().into())),
        Value::String(text) if text.starts_with('[') => Ok(TrackInput::List(text.as_str().into())),
        Value::String(name) => {
            let path = place(name);
            Ok(if !is_remote(&path) && path.is_dir() { TrackInput::Folder(path) } else { TrackInput::File(path) })
        }
        Value::Object(video) if video.contains_key("count") => {
            let file = video.get("file").and_then(Value::as_str).ok_or("expected the file of a video")?;
            Ok(TrackInput::Video(place(file), EpisodeFrames::read(value)?.0))
        }
        other => Err(format!("expected the name of a file or a list, found {other}")),
    }
}
