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
use vidrec_format::error::{Error, Result};
use vidrec_format::source_name;
use vidrec_store::disk::inside::outside;
use vidrec_store::disk::regular_file::{Links, open_regular};

/// The largest manifest that is read as a whole, in bytes.
const MOST_BYTES: u64 = 4 << 30;

/// The context in which a manifest is read.
pub(super) struct Context<'a> {
    /// The path of the manifest.
    pub file: &'a Path,
    /// The root of its paths.
    pub root: PathBuf,
    pub options: &'a InputOptions,
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
    pub split: Option<Box<str>>,
    pub attributes: Attributes,
    /// The cells of tracks, by column.
    pub tracks: Map<String, Value>,
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
    /// Returns the error for a line that makes no sense.
    pub fn bad(&self, line: u64, column: &str, what: impl fmt::Display) -> Error {
        Error::usage(format!("line {line}, column \"{column}\": {what}")).file(self.file)
    }

    /// Opens the manifest. A manifest that the caller names may be anything that can be read, such as a pipe.
    pub fn open(&self) -> Result<File> {
        match &self.limits {
            Some(_) => open_regular(self.file, Links::Follow),
            None => File::open(self.file).map_err(|e| Error::io("open the manifest", self.file, e)),
        }
    }

    pub fn text(&self) -> Result<String> {
        let mut text = String::new();
        let read = self.open()?.take(MOST_BYTES).read_to_string(&mut text);
        read.map_err(|e| Error::io("read the manifest", self.file, e))?;
        if text.len() as u64 == MOST_BYTES {
            return Err(Error::limit("the manifest is too long").file(self.file).expected(MOST_BYTES));
        }
        Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }

    /// Returns where a path of the manifest leads.
    pub fn path(&self, name: &str) -> PathBuf {
        places::below(&self.root, &source_name::to_path(name))
    }

    /// Returns the video of a row.
    ///
    /// # Errors
    ///
    /// A cell cannot be a track.
    fn found(&self, row: ManifestRow) -> Result<FoundVideo> {
        let specs = &self.options.track;
        let found = tracks::of((self.file, &self.root), specs, row.line, &row.tracks);
        let tracks = found.map_err(|(column, what)| self.bad(row.line, &column, what))?;
        let ManifestRow { path, label, segment, split, attributes, .. } = row;
        let segment = segment.filter(|_| self.options.segments != SegmentClock::Ignore);
        let name = source_name::to_path(&path);
        let (mut source, mut path) = (places::source(&name), places::below(&self.root, &name));
        // There may be millions of them.
        source.shrink_to_fit();
        path.shrink_to_fit();
        let found = FoundVideo {
            source,
            path,
            root: 0,
            label,
            segment,
            split,
            attributes,
            fault: None,
            tracks,
            episode: None,
            column: None,
        };
        match self.limits.as_ref().and_then(|limits| limits.outside(&found)) {
            None => Ok(found),
            Some(path) => Err(self.leads_out(row.line, path)),
        }
    }

    fn leads_out(&self, line: u64, path: &Path) -> Error {
        let e = outside(format!("line {line}: the list was found in a folder, but leads out of it")).file(self.file);
        e.expected("relative paths below the folder, and no links out of it")
            .found(format!("{:?}", path.display().to_string()))
            .help("name the list itself as the input; or, if you trust whoever made the folder, allow this")
    }
}

/// Returns the lines of a text that are not blank, without the spaces at their ends, with their numbers from 1.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines().map(str::trim_end)).filter(|(_, line)| !line.trim().is_empty())
}

/// Returns the line of a table at which a record begins.
pub(super) fn line(record: &csv::StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}
