//! Values of a track, copied for a sample.

use super::times::Pick;
use crate::allocation;
use crate::dataset::TrackView;
use crate::format::track::payload::TrackNumber;
use crate::format::track::schema::TrackType;
use crate::loader::track_batch::TrackData;
use crate::{Error, Result};

/// A number, for what lies between two.
trait Blend: TrackNumber {
    fn float(self) -> f64;
}

macro_rules! blend {
    ($($number:ty),+) => {
        $(impl Blend for $number {
            #[allow(clippy::cast_lossless, reason = "one macro for all types, of which i64 has no other way")]
            fn float(self) -> f64 {
                self as f64
            }
        })+
    };
}

blend!(f32, f64, i16, i32, i64, u8);

/// The values that were picked, as they are stored; zeros where there is none.
pub(super) fn stored(track: &TrackView<'_>, picks: &[Option<usize>]) -> Result<TrackData> {
    Ok(match track.schema().kind {
        TrackType::F32 => TrackData::F32(copied(track, picks)?),
        TrackType::F64 => TrackData::F64(copied(track, picks)?),
        TrackType::I16 => TrackData::I16(copied(track, picks)?),
        TrackType::I32 => TrackData::I32(copied(track, picks)?),
        TrackType::I64 => TrackData::I64(copied(track, picks)?),
        TrackType::U8 => TrackData::U8(copied(track, picks)?),
        TrackType::Utf8 => return Err(Error::internal("texts as numbers")),
    })
}

/// What lies between the values that were picked: `f64` of `f64`, else `f32`; zeros where there is none.
pub(super) fn blended(track: &TrackView<'_>, picks: &[Option<Pick>]) -> Result<TrackData> {
    let narrow = |x: f64| x as f32;
    Ok(match track.schema().kind {
        TrackType::F64 => TrackData::F64(between::<f64, f64>(track, picks, |x| x)?),
        TrackType::F32 => TrackData::F32(between::<f32, f32>(track, picks, narrow)?),
        TrackType::I16 => TrackData::F32(between::<i16, f32>(track, picks, narrow)?),
        TrackType::I32 => TrackData::F32(between::<i32, f32>(track, picks, narrow)?),
        TrackType::I64 => TrackData::F32(between::<i64, f32>(track, picks, narrow)?),
        TrackType::U8 => TrackData::F32(between::<u8, f32>(track, picks, narrow)?),
        TrackType::Utf8 => return Err(Error::internal("texts between texts")),
    })
}

fn copied<T: TrackNumber>(track: &TrackView<'_>, picks: &[Option<usize>]) -> Result<Vec<T>> {
    let (numbers, each) = (track.numbers::<T>().unwrap_or_default(), track.schema().numbers_per_value());
    let mut all = zeros(picks.len(), each)?;
    for (to, pick) in all.chunks_exact_mut(each).zip(picks) {
        if let Some(at) = pick {
            to.copy_from_slice(value(&numbers, *at, each)?);
        }
    }
    Ok(all)
}

fn between<T: Blend, F: TrackNumber>(
    track: &TrackView<'_>,
    picks: &[Option<Pick>],
    round: impl Fn(f64) -> F,
) -> Result<Vec<F>> {
    let (numbers, each) = (track.numbers::<T>().unwrap_or_default(), track.schema().numbers_per_value());
    let mut all = zeros(picks.len(), each)?;
    for (to, pick) in all.chunks_exact_mut(each).zip(picks) {
        let Some(Pick { at, toward }) = *pick else { continue };
        let from = value(&numbers, at, each)?;
        match toward {
            None => to.iter_mut().zip(from).for_each(|(to, from)| *to = round(from.float())),
            Some((next, weight)) => {
                let next = value(&numbers, next, each)?;
                for ((to, a), b) in to.iter_mut().zip(from).zip(next) {
                    *to = round(a.float() + (b.float() - a.float()) * weight);
                }
            }
        }
    }
    Ok(all)
}

fn zeros<T: TrackNumber>(values: usize, each: usize) -> Result<Vec<T>> {
    allocation::zeroed(values.saturating_mul(each), "the values of a track")
}

fn value<T>(numbers: &[T], at: usize, each: usize) -> Result<&[T]> {
    let found = at.checked_mul(each).and_then(|from| numbers.get(from..from.checked_add(each)?));
    found.ok_or_else(|| Error::internal("a value beyond its track"))
}
