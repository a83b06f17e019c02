//! A row of a manifest in any format, and the context in which the manifest is read.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::attributes::Attributes;
use super::super::found::FoundVideo;
use super::super::labels::{Label, Tag};
use super::super::options::InputOptions;
use super::super::places;
use super::super::segment::{Segment, SegmentClock};
use super::found_list::FoundList;
use super::tracks;
use crate::track::EpisodeFrames;
use vidrec_core::source_name;
use vidrec_core::store::disk::inside::outside;
use vidrec_core::store::disk::regular_file::{Links, open_regular};
use vidrec_format::error::{Error, Result};

/// The largest manifest that is read as a whole, in bytes.
const MOST_BYTES: u64 = 4 << 30;

/// The context in which a manifest is read.
pub(super) struct Context<'a> {
    /// The path of the manifest.
    pub file: &'a Path,
    /// The root of its paths.
    pub root: PathBuf,
    pub options: &'a InputOptions,
    /// What its rows are called: `line`, or `entry` of an array.
    pub unit: &'static str,
    /// The limits on where it may lead, if nobody named it.
    pub limits: Option<FoundList>,
}

/// A row of a manifest.
#[derive(Debug, Default)]
pub(super) struct ManifestRow {
    /// The number of the line, or of the element of an array, from 1.
    pub line: u64,
    pub path: String,
    pub label: Label,
    pub segment: Option<Segment>,
    /// The frames that the segment must have, if it is an episode.
    pub episode: Option<Box<EpisodeFrames>>,
    pub split: Option<Box<str>>,
    pub attributes: Attributes,
    /// The cells of tracks, by column.
    pub tracks: Map<String, Value>,
    /// What is wrong with the row. The rest of it is then only known in part.
    pub fault: Option<String>,
}

impl ManifestRow {
    /// Creates a row that makes no sense.
    pub fn bad(line: u64, what: impl Into<String>) -> Self {
        ManifestRow { line, fault: Some(what.into()), ..ManifestRow::default() }
    }
}

/// Returns what is wrong with a cell.
pub(super) fn in_column(column: &str, what: impl fmt::Display) -> String {
    format!("column {column:?}: {what}")
}

/// The videos of a manifest so far.
#[derive(Default)]
pub(super) struct FoundVideos {
    pub videos: Vec<FoundVideo>,
    /// The line of each video.
    pub lines: Vec<u64>,
    names: HashSet<Arc<str>>,
}

impl FoundVideos {
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
        places::below(&self.root, &source_name::to_path(name))
    }

    /// Returns the video of a row. A row without a path is named by its line.
    fn found(&self, row: ManifestRow) -> Result<FoundVideo> {
        let specs = &self.options.track;
        let tracks = tracks::of((self.file, &self.root), specs, row.line, &row.tracks);
        let (tracks, no_track) =
            tracks.map_or_else(|(column, what)| (None, Some(in_column(&column, what))), |t| (t, None));
        let ManifestRow { line, mut path, label, segment, episode, split, attributes, fault, .. } = row;
        let fault = fault.or(no_track).map(|what| self.fault(line, what));
        if path.is_empty() {
            path = format!("{}:{line}", source_name::of_os_str(self.file.file_name().unwrap_or_default()));
        }
        let segment = segment.filter(|_| episode.is_some() || self.options.segments != SegmentClock::Ignore);
        let name = source_name::to_path(&path);
        let (mut source, mut path) = (places::source(&name), places::below(&self.root, &name));
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
