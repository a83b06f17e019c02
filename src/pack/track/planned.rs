//! The type and the shape of each track, decided before the work: the same for all clips and all parts of a plan.

use serde::{Deserialize, Serialize};

use super::given::{RowTracks, TrackCell};
use super::place::{Raw, place};
use super::read::read;
use super::spec::TrackSpec;
use super::window::Window;
use crate::writer::EncodedTrack;
use crate::{Error, Result, TrackSchema, TrackType};

/// Rows that are looked at for one whose values can be read.
const ROWS: usize = 100;

/// A track that all clips have with the same type and shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedTrack {
    spec: TrackSpec,
    kind: TrackType,
    shape: Vec<u32>,
}

/// Decides the type and the shape of each track, by the first row whose values can be read.
///
/// # Errors
///
/// No row has a value, or no value can be read.
pub(crate) fn plan<'a>(
    specs: &[TrackSpec],
    rows: impl Iterator<Item = &'a RowTracks> + Clone,
) -> Result<Vec<PlannedTrack>> {
    let planned = |(number, spec): (usize, &TrackSpec)| {
        let cells = rows.clone().filter_map(|row| Some((row, row.cells.get(number)?.as_ref()?)));
        let mut first_error = None;
        for (row, cell) in cells.take(ROWS) {
            match first(spec, cell) {
                Ok(planned) => return Ok(planned),
                Err(e) => first_error = first_error.or(Some(named(e, spec, row, cell))),
            }
        }
        Err(first_error.unwrap_or_else(|| {
            Error::usage(format!(
                "track \"{}\": no row of a manifest has a column {:?} with a value",
                spec.name, spec.column
            ))
            .help("tracks come from tables with a header and from .jsonl")
        }))
    };
    specs.iter().enumerate().map(planned).collect()
}

fn first(spec: &TrackSpec, cell: &TrackCell) -> Result<PlannedTrack> {
    let Raw { values, .. } = read(spec, cell)?;
    let values = match spec.kind {
        Some(kind) => values.into_type(kind)?,
        None => values,
    };
    Ok(PlannedTrack { spec: spec.clone(), kind: values.values.kind(), shape: values.value_shape()? })
}

/// An error of a track, with what it is of.
fn named(e: Error, spec: &TrackSpec, row: &RowTracks, cell: &TrackCell) -> Error {
    Error::usage(format!("track \"{}\": {}, {}: {e:#}", spec.name, row.place(), cell.values))
}

impl PlannedTrack {
    /// What all clips have in common.
    pub fn schema(&self) -> TrackSchema {
        let TrackSpec { name, nan, .. } = &self.spec;
        let timing = self.spec.stored_timing();
        TrackSchema { name: name.clone(), kind: self.kind, shape: self.shape.clone(), timing, nan: *nan }
    }

    /// The track of a clip, of the file or the list that a row gives.
    ///
    /// # Errors
    ///
    /// It cannot be read, is of another type or shape than the others, or does not go with the video.
    pub fn of_clip(&self, row: &RowTracks, cell: &TrackCell, window: &Window) -> Result<EncodedTrack> {
        self.make(cell, window).map_err(|e| named(e, &self.spec, row, cell))
    }

    fn make(&self, cell: &TrackCell, window: &Window) -> Result<EncodedTrack> {
        let mut raw = read(&self.spec, cell)?;
        if self.spec.kind.is_some() {
            raw.values = raw.values.into_type(self.kind)?;
        }
        let (found, shape) = (raw.values.values.kind(), raw.values.value_shape()?);
        if (found, &shape) != (self.kind, &self.shape) {
            let words = |kind: TrackType, shape: &[u32]| format!("{kind} {shape:?}");
            return Err(Error::usage("the values are not like those of the first row")
                .expected(words(self.kind, &self.shape))
                .found(words(found, &shape))
                .help("say type=TYPE in the words of the track if only the type differs"));
        }
        place(&self.spec, raw, window)?.encode(window.chosen.len() as u32)
    }
}
