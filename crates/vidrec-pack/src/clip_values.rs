//! Values of a track for clips that are packed already, from the files that packing reads.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::plan::{pictures, row_tracks};
use crate::track::{self, Array, ArrayFile, PlannedTrack, ReadVideo, TrackFiles, TrackSpec, TrackSpecTiming, Window};
use crate::video::open_regular;
use vidrec_core::dataset::Clip;
use vidrec_core::dataset::writer::EncodedTrack;
use vidrec_format::error::{Error, Result};

/// Where the values of a clip are.
#[derive(Debug, Clone)]
pub enum ClipCell {
    /// In the array of this name, in the track's file of arrays.
    Array(String),
    /// In a row of the track's table: its line, and its cells by column.
    Row(u64, Map<String, Value>),
}

/// A track whose values come from rows of a table or from arrays of an `.npz` file, for clips of a data set. The first
/// values decide its type and shape.
pub struct ClipValues {
    spec: TrackSpec,
    planned: Option<PlannedTrack>,
    table: PathBuf,
    arrays: Option<ArrayFile>,
}

impl ClipValues {
    /// The track, whose values are in `arrays` or else in the table of this name.
    pub fn new(spec: TrackSpec, table: PathBuf, arrays: Option<ArrayFile>) -> Self {
        // The frames of a clip may be from a part of what the values are of.
        let spec = TrackSpec { tolerance_us: u64::MAX, partial: true, ..spec };
        ClipValues { spec, planned: None, table, arrays }
    }

    /// The values of a clip; `None` if it has none. Paths in a table begin at its folder.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): the values cannot be read, or do not fit the clip or other clips.
    pub fn of_clip(&mut self, clip: &Clip<'_>, cell: &ClipCell) -> Result<Option<EncodedTrack>> {
        match (cell, &mut self.arrays) {
            (ClipCell::Array(name), Some(arrays)) => {
                let values = arrays.read(name)?;
                let track = self.of_array(values, clip).map(Some);
                track.map_err(|e| Error::usage(format!("track \"{}\", array {name:?}: {e:#}", self.spec.name)))
            }
            (ClipCell::Row(line, cells), _) => self.of_row(*line, cells, clip),
            _ => Err(Error::internal("an array without a file of arrays")),
        }
    }

    fn of_row(&mut self, line: u64, cells: &Map<String, Value>, clip: &Clip<'_>) -> Result<Option<EncodedTrack>> {
        let (table, root) = (&*self.table, self.table.parent().unwrap_or(Path::new("")));
        let row = row_tracks((table, root), std::slice::from_ref(&self.spec), line, cells);
        let wrong = |(column, what)| Error::usage(format!("line {line}, column \"{column}\": {what}")).file(table);
        let Some(row) = row.map_err(wrong)?.filter(|row| row.cells.iter().any(Option::is_some)) else {
            return Ok(None);
        };
        let video: ReadVideo<'_> = &|_, _, _| Err(Error::usage("pictures in a video can be packed, but not added"));
        let how = TrackFiles { open: &open_regular, list: &pictures, video };
        if self.planned.is_none() {
            self.planned = track::plan(std::slice::from_ref(&self.spec), std::iter::once(&*row), how)?.pop();
        }
        self.planned.as_ref().map_or(Ok(None), |planned| planned.of_clip(0, &row, &window(clip)?, how))
    }

    fn of_array(&mut self, values: Array, clip: &Clip<'_>) -> Result<EncodedTrack> {
        if matches!(self.spec.timing, TrackSpecTiming::Times(_) | TrackSpecTiming::Spans) {
            let e = Error::usage("the arrays of an .npz file have no times");
            return Err(e.help("write a .jsonl table whose rows name the clips, and files with values and times"));
        }
        if self.planned.is_none() {
            self.planned = Some(PlannedTrack::of_values(&self.spec, values.clone())?);
        }
        let planned = self.planned.as_ref().ok_or_else(|| Error::internal("a track without a type"))?;
        planned.of_raw(values.into(), &window(clip)?)
    }
}

/// The clip as a video of its frames.
fn window(clip: &Clip<'_>) -> Result<Window> {
    let too_far = || Error::limit("a time does not fit into 64 bits").in_clip(clip.ordinal());
    let time = |t: u32| clip.time_ns(t)?.ok_or_else(too_far);
    let frames = (0..clip.frame_count()).map(time).collect::<Result<Vec<_>>>()?;
    let all: Vec<usize> = (0..frames.len()).collect();
    let end = frames.last().copied().unwrap_or(0);
    Ok(Window { frames, end, segment: None, inside: all.clone(), chosen: all, to_clip: 0 })
}
