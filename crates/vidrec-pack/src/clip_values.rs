//! Values of a track for clips that are packed already, from the files that packing reads.

use std::path::Path;

use serde_json::{Map, Value};

use crate::plan::{pictures, row_tracks};
use crate::track::{
    self, Array, ArrayFile, PlannedTrack, ReadVideo, TrackClock, TrackFiles, TrackSpec, TrackSpecTiming, Window,
};
use crate::video::open_regular;
use vidrec_core::dataset::Clip;
use vidrec_core::dataset::writer::EncodedTrack;
use vidrec_format::error::{Error, Result};

/// A track whose values come from rows of a table or arrays of a file, for clips of a data set. The first values decide its
/// type and shape.
pub struct ClipValues {
    spec: TrackSpec,
    planned: Option<PlannedTrack>,
}

impl ClipValues {
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): a word of the description is about videos.
    pub fn new(spec: TrackSpec) -> Result<Self> {
        let default: TrackSpec = format!("{}={},frames", spec.name, spec.column).parse()?;
        let is_of_video =
            (spec.clock, spec.tolerance_us, spec.partial) != (TrackClock::Video, default.tolerance_us, false);
        if is_of_video || spec.timing == TrackSpecTiming::EveryFrame {
            let what = "every-frame, clock, tolerance and partial are for values of a video";
            let e = Error::usage(format!("track \"{}\": {what}", spec.name));
            return Err(e.help("times are on the clock of the clip, and frames are those of the clip"));
        }
        // The frames of a clip may be from a part of what the values are of.
        Ok(ClipValues { spec: TrackSpec { tolerance_us: u64::MAX, partial: true, ..spec }, planned: None })
    }

    /// The columns of a table that it needs.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.spec.columns()
    }

    /// The values that a row of a table has for a clip; `None` if it has none. `cells` are by column. Paths begin at the folder
    /// of the table.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): the values cannot be read, or do not fit the clip or other clips.
    pub fn of_row(
        &mut self,
        (table, line): (&Path, u64),
        cells: &Map<String, Value>,
        clip: &Clip<'_>,
    ) -> Result<Option<EncodedTrack>> {
        let root = table.parent().unwrap_or(Path::new(""));
        let row = row_tracks((table, root), std::slice::from_ref(&self.spec), line, cells);
        let row = row
            .map_err(|(column, what)| Error::usage(format!("line {line}, column \"{column}\": {what}")).file(table))?;
        let Some(row) = row.filter(|row| row.cells.iter().any(Option::is_some)) else { return Ok(None) };
        let video: ReadVideo<'_> = &|_, _, _| Err(Error::usage("pictures in a video can be packed, but not added"));
        let how = TrackFiles { open: &open_regular, list: &pictures, video };
        if self.planned.is_none() {
            self.planned = track::plan(std::slice::from_ref(&self.spec), std::iter::once(&*row), how)?.pop();
        }
        self.planned.as_ref().map_or(Ok(None), |planned| planned.of_clip(0, &row, &window(clip)?, how))
    }

    /// The values in an array of a file for a clip.
    ///
    /// # Errors
    ///
    /// See [`of_row`](Self::of_row). The values have times of their own, which such an array lacks.
    pub fn of_array(&mut self, file: &mut ArrayFile, name: &str, clip: &Clip<'_>) -> Result<EncodedTrack> {
        if matches!(self.spec.timing, TrackSpecTiming::Times(_) | TrackSpecTiming::Spans) {
            let e = Error::usage(format!("track \"{}\": the arrays of clips have no times", self.spec.name));
            return Err(e.help("write a .jsonl table whose rows name the clips and files with values and times"));
        }
        let values = file.read(name)?;
        self.of_values(values, clip)
            .map_err(|e| Error::usage(format!("track \"{}\", array {name:?}: {e:#}", self.spec.name)).file(file.path()))
    }

    fn of_values(&mut self, values: Array, clip: &Clip<'_>) -> Result<EncodedTrack> {
        let planned = match self.planned.take() {
            Some(planned) => planned,
            None => PlannedTrack::of_values(&self.spec, values.clone())?,
        };
        self.planned.insert(planned).of_raw(values.into(), &window(clip)?)
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
