//! Turns tracks into columns. A column has the value of a track at the time of each frame.

use super::table::{Column, Lists};
use vidrec_core::dataset::Clip;
use vidrec_core::dataset::TrackView;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::track::payload::TrackNumber;
use vidrec_format::track::schema::{TrackSchema, TrackTiming, TrackType};

/// A value that is later than a frame by at most this much counts for the frame, because people and programs round
/// times.
const LATE_NS: i64 = 1000;

/// Returns the column of a track, with a value for each frame of a clip.
pub(super) fn of(schema: &TrackSchema, clip: &Clip<'_>) -> Result<Column> {
    let track =
        clip.track(&schema.name)?.ok_or_else(|| without_value("the clip does not have the track", clip, schema))?;
    let places = places(&track, clip)?;
    let values = match schema.kind {
        TrackType::F32 => TrackValues::F32(numbers(&track, &places, clip)?),
        TrackType::F64 => TrackValues::F64(numbers(&track, &places, clip)?),
        TrackType::I16 => TrackValues::I16(numbers(&track, &places, clip)?),
        TrackType::I32 => TrackValues::I32(numbers(&track, &places, clip)?),
        TrackType::I64 => TrackValues::I64(numbers(&track, &places, clip)?),
        TrackType::U8 => TrackValues::U8(numbers(&track, &places, clip)?),
        TrackType::U16 => TrackValues::U16(numbers(&track, &places, clip)?),
        TrackType::Bool => {
            TrackValues::Bool(numbers::<u8>(&track, &places, clip)?.into_iter().map(|byte| byte != 0).collect())
        }
        TrackType::Utf8 => TrackValues::Texts(texts(&track, &places)),
    };
    Ok(Column { name: schema.name.clone(), lists: Lists::Shape(schema.shape.clone()), values })
}

/// Returns the text of a track at each frame; empty if the track has none there.
pub(super) fn text_of(name: &str, clip: &Clip<'_>) -> Result<Vec<String>> {
    match clip.track(name)? {
        Some(track) => Ok(texts(&track, &places(&track, clip)?)),
        None => Ok(vec![String::new(); clip.frame_count() as usize]),
    }
}

/// Returns the index of the value for each frame: the latest value that is not after the frame. Of spans, it is
/// the latest one that has not ended.
fn places(track: &TrackView<'_>, clip: &Clip<'_>) -> Result<Vec<Option<usize>>> {
    if track.schema().timing == TrackTiming::Frames {
        return Ok((0..track.len()).map(Some).collect());
    }
    let starts = (0..track.len()).map(|i| track.time_ns(i)).collect::<Result<Vec<i64>>>()?;
    let ends = track.ends_ns();
    let place = |t: u32| {
        let far =
            || Error::limit("a time in nanoseconds does not fit into 64 bits").in_clip(clip.ordinal()).in_frame(t);
        let time = clip.time_ns(t)?.ok_or_else(far)?;
        let until = starts.partition_point(|&start| start <= time.saturating_add(LATE_NS));
        Ok(match &ends {
            None => until.checked_sub(1),
            Some(ends) => (0..until).rev().find(|&i| ends[i] > time),
        })
    };
    (0..clip.frame_count()).map(place).collect()
}

fn numbers<T: TrackNumber>(track: &TrackView<'_>, places: &[Option<usize>], clip: &Clip<'_>) -> Result<Vec<T>> {
    let all = track.numbers::<T>().unwrap_or_default();
    let each = track.schema().numbers_per_value();
    let mut numbers = Vec::with_capacity(places.len() * each);
    for (t, place) in (0u32..).zip(places) {
        let value = place.and_then(|i| all.get(i * each..(i + 1) * each));
        let missing = || without_value("the track has no value for a frame", clip, track.schema()).in_frame(t);
        numbers.extend_from_slice(value.ok_or_else(missing)?);
    }
    Ok(numbers)
}

fn texts(track: &TrackView<'_>, places: &[Option<usize>]) -> Vec<String> {
    let text = |place: &Option<usize>| place.and_then(|i| track.text(i)).unwrap_or_default();
    places.iter().map(text).collect()
}

fn without_value(what: &str, clip: &Clip<'_>, schema: &TrackSchema) -> Error {
    let e = Error::usage(format!("{what}, which LeRobot requires")).in_clip(clip.ordinal()).in_track(&schema.name);
    e.help("export without the track").hint(Hint::Set("without"))
}
