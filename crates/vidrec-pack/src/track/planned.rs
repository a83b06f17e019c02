//! The type and shape of each track. They are decided before the work, for all clips and all parts of a plan.

use std::cell::RefCell;
use std::fmt::Display;

use serde::{Deserialize, Serialize};

use super::arguments::{RowTracks, TrackCell};
use super::array::Array;
use super::place::{RawTrack, Window, picture_places, place};
use super::read::{Pictures, TrackFiles, read};
use super::spec::TrackSpec;
use vidrec_core::dataset::writer::{EncodedTrack, NewPictures};
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::{TrackSchema, TrackType};

/// The number of rows that are searched for one whose values can be read.
const ROWS: usize = 100;

/// A track that has the same type and shape in all clips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedTrack {
    spec: TrackSpec,
    kind: TrackType,
    shape: Vec<u32>,
}

/// Decides the type and shape of each track, from the first row whose values can be read. `how` opens files.
///
/// # Errors
///
/// No row has a value, or no value can be read.
pub(crate) fn plan<'a>(
    specs: &[TrackSpec],
    rows: impl Iterator<Item = &'a RowTracks> + Clone,
    how: TrackFiles<'_>,
) -> Result<Vec<PlannedTrack>> {
    let planned = |(number, spec): (usize, &TrackSpec)| {
        let cells = rows.clone().filter_map(|row| Some((row, row.cells.get(number)?.as_ref()?)));
        let mut first_error = None;
        for (row, cell) in cells.take(ROWS) {
            match first(spec, cell, how) {
                Ok(planned) => return Ok(planned),
                Err(e) => first_error = first_error.or(Some(named(e, spec, row, &cell.values))),
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

fn first(spec: &TrackSpec, cell: &TrackCell, how: TrackFiles<'_>) -> Result<PlannedTrack> {
    if let Some(pictures) = Pictures::of(spec, &cell.values, how)? {
        let (kind, shape) = (spec.kind.unwrap_or(TrackType::U16), pictures.shape(spec, how)?.map(|side| side as u32));
        let planned = PlannedTrack { spec: spec.clone(), kind, shape: shape.into() };
        return match planned.schema().is_picture() {
            true => Ok(planned),
            false => Err(Error::usage("pictures have another type").expected("u16 or u8").found(kind)),
        };
    }
    PlannedTrack::of_values(spec, read(spec, cell, how.open)?.values)
}

/// Adds the track, the row and the place of the values to an error.
fn named(e: Error, spec: &TrackSpec, row: &RowTracks, values: impl Display) -> Error {
    Error::usage(format!("track \"{}\": {}, {values}: {e:#}", spec.name, row.place()))
}

impl PlannedTrack {
    /// The track of which these are the first values.
    pub fn of_values(spec: &TrackSpec, values: Array) -> Result<Self> {
        if spec.list && values.items() == 0 {
            return Err(Error::usage("all lists are empty, so the shape of their items is unknown"));
        }
        let values = match spec.kind {
            Some(kind) => values.into_type(kind)?,
            None => values,
        };
        let (kind, shape) = (values.values.kind(), values.value_shape()?);
        Ok(PlannedTrack { spec: spec.clone(), kind, shape })
    }

    /// Returns the properties that all clips share.
    pub fn schema(&self) -> TrackSchema {
        let TrackSpec { name, nan, list, .. } = &self.spec;
        let timing = self.spec.stored_timing();
        TrackSchema { name: name.clone(), kind: self.kind, shape: self.shape.clone(), timing, nan: *nan, list: *list }
    }

    /// Returns the track of a clip, or `None` if its row has no value for it.
    ///
    /// `number` is the place of this track in the row, and `how` opens files.
    ///
    /// # Errors
    ///
    /// The values cannot be read, have another type or shape than those of other clips, or do not match the video.
    pub fn of_clip(
        &self,
        number: usize,
        row: &RowTracks,
        window: &Window,
        how: TrackFiles<'_>,
    ) -> Result<Option<EncodedTrack>> {
        let Some(cell) = row.cells.get(number).and_then(Option::as_ref) else { return Ok(None) };
        self.of_cell(cell, window, how).map_err(|e| named(e, &self.spec, row, &cell.values)).map(Some)
    }

    /// Refuses a picture that does not have the height and width of the track.
    fn check_size(&self, shape: [usize; 2]) -> Result<()> {
        if self.shape.iter().map(|&side| side as usize).eq(shape) {
            return Ok(());
        }
        let e = Error::usage("a picture has another size than the track");
        Err(e.expected(format!("{:?}", self.shape)).found(format!("{shape:?}")))
    }

    /// Reads the pictures of the clip's frames, or of every frame, one at a time.
    fn of_pictures(&self, of: &Pictures<'_>, window: &Window, how: TrackFiles<'_>) -> Result<EncodedTrack> {
        let (mut pictures, chosen) = (NewPictures::new(self.schema())?, RefCell::default());
        let encode = |(numbers, shape): (Vec<u16>, _)| {
            self.check_size(shape)?;
            pictures.encode(&numbers)
        };
        let choose = |count: usize| {
            let (places, times) = picture_places(&self.spec, count, window)?;
            let mut once = places.clone();
            once.sort_unstable();
            once.dedup();
            // The last choice counts: the first one may rest on an estimate of the number of frames.
            *chosen.borrow_mut() = (places, times, once.clone());
            Ok(once)
        };
        let encoded = of.encode(how, &choose, &encode)?;
        let (places, times, once) = chosen.into_inner();
        for place in places {
            let picture = once.binary_search(&place).ok().and_then(|i| encoded.get(i));
            pictures.push(picture.ok_or_else(|| Error::internal("a picture is missing"))?)?;
        }
        Ok(pictures.finish(times.as_deref().unwrap_or_default()))
    }

    fn of_cell(&self, cell: &TrackCell, window: &Window, how: TrackFiles<'_>) -> Result<EncodedTrack> {
        if let Some(pictures) = Pictures::of(&self.spec, &cell.values, how)? {
            return self.of_pictures(&pictures, window, how);
        }
        self.of_raw(read(&self.spec, cell, how.open)?, window)
    }

    /// Returns the track of a clip with these values.
    pub fn of_raw(&self, mut raw: RawTrack, window: &Window) -> Result<EncodedTrack> {
        if self.spec.kind.is_some() {
            raw.values = raw.values.into_type(self.kind)?;
        }
        if self.spec.list && raw.values.items() == 0 {
            raw.values.shape = [0].into_iter().chain(self.shape.iter().map(|&side| side as usize)).collect();
        }
        let (found, shape) = (raw.values.values.kind(), raw.values.value_shape()?);
        if (found, &shape) != (self.kind, &self.shape) {
            let words = |kind: TrackType, shape: &[u32]| format!("{kind} {shape:?}");
            return Err(Error::usage("the values differ in type or shape from those of the first row")
                .expected(words(self.kind, &self.shape))
                .found(words(found, &shape))
                .help("if only the type differs, add type=TYPE to the description of the track"));
        }
        place(&self.spec, raw, window)?.encode(window.chosen.len() as u32)
    }
}
