//! Copies the values of a track to their place in a batch.

use bytemuck::Pod;

use super::sample_frames::PictureView;
use super::times::Pick;
use crate::dataset::Values;
use crate::loader::options::TrackNormalize;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::payload::{TrackNumber, numbers};
use vidrec_format::track::schema::{TrackSchema, TrackType};

/// A number that can be interpolated.
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

blend!(f32, f64, i16, i32, i64, u8, u16);

/// Copies the picked values as they are stored, and zeros for missing ones. Copies consecutive values at once. A value has
/// `dims` numbers in `out`: its own, and then zeros.
pub(super) fn stored(
    schema: &TrackSchema,
    all: &Values<'_>,
    picks: &[Option<Pick>],
    dims: usize,
    mut out: &mut [u8],
) -> Result<()> {
    let each = schema.value_bytes().unwrap_or(1) as usize;
    let room = each / schema.numbers_per_value().max(1) * dims;
    let follows = |a: &Option<Pick>, b: &Option<Pick>| match (a, b) {
        (Some(a), Some(b)) => b.at == a.at + 1,
        (a, b) => a.is_none() && b.is_none(),
    };
    for run in picks.chunk_by(follows) {
        let (to, rest) = out.split_at_mut_checked(run.len() * room).ok_or_else(no_room)?;
        match run.first().copied().flatten() {
            Some(first) => {
                let from = values(&all.bytes, all.place(first.at), run.len(), each)?;
                if each == room {
                    to.copy_from_slice(from);
                } else {
                    for (to, from) in to.chunks_exact_mut(room).zip(from.chunks_exact(each)) {
                        to[..each].copy_from_slice(from);
                        to[each..].fill(0);
                    }
                }
            }
            None => to.fill(0),
        }
        out = rest;
    }
    Ok(())
}

/// Copies the pixels of the picked values, which are pictures, that the sample shows, and zeros for missing ones.
pub(super) fn seen(
    schema: &TrackSchema,
    all: &Values<'_>,
    picks: &[Option<Pick>],
    view: &PictureView,
    out: &mut [u8],
) -> Result<()> {
    let sides: Vec<usize> = schema.shape.iter().map(|&side| side as usize).collect();
    let [height, width, ..] = sides[..] else {
        return Err(Error::internal("a picture without rows and columns"));
    };
    let each = schema.value_bytes().unwrap_or(1) as usize;
    let (pixel, (columns, rows)) = (each / (height * width), view.sources((width, height)));
    for (to, pick) in out.chunks_exact_mut(pixel * columns.len() * rows.len()).zip(picks) {
        let Some(pick) = pick else {
            to.fill(0);
            continue;
        };
        let from = values(&all.bytes, all.place(pick.at), 1, each)?;
        for (to, &row) in to.chunks_exact_mut(pixel * columns.len()).zip(&rows) {
            let from = values(from, row, 1, pixel * width)?;
            for (to, &column) in to.chunks_exact_mut(pixel).zip(&columns) {
                to.copy_from_slice(values(from, column, 1, pixel)?);
            }
        }
    }
    Ok(())
}

/// Converts numbers from the files' byte order to that of this machine.
pub(super) fn from_le(kind: TrackType, out: &mut [u8]) {
    if cfg!(target_endian = "big") {
        out.chunks_mut(kind.number_bytes().unwrap_or(1) as usize).for_each(<[u8]>::reverse);
    }
}

/// Interpolates between the picked values and normalizes them: to `f64` or `f32`. Writes zeros for missing ones. A value has
/// `dims` numbers in `out`: its own, and then zeros.
pub(super) fn computed(
    schema: &TrackSchema,
    all: &Values<'_>,
    picks: &[Option<Pick>],
    normalize: Option<&TrackNormalize>,
    (dims, kind): (usize, TrackType),
    out: &mut [u8],
) -> Result<()> {
    let normal = |place: usize, x: f64| normalize.map_or(x, |normalize| normalize.apply(place, x));
    let narrow = |place: usize, x: f64| normal(place, x) as f32;
    let each = (schema.numbers_per_value(), dims);
    match schema.kind {
        TrackType::F64 if kind == TrackType::F64 => between::<f64, f64>(all, each, picks, typed(out)?, normal),
        TrackType::F64 => between::<f64, f32>(all, each, picks, typed(out)?, narrow),
        TrackType::F32 => between::<f32, f32>(all, each, picks, typed(out)?, narrow),
        TrackType::I16 => between::<i16, f32>(all, each, picks, typed(out)?, narrow),
        TrackType::I32 => between::<i32, f32>(all, each, picks, typed(out)?, narrow),
        TrackType::I64 => between::<i64, f32>(all, each, picks, typed(out)?, narrow),
        TrackType::U8 | TrackType::Bool => between::<u8, f32>(all, each, picks, typed(out)?, narrow),
        TrackType::U16 => between::<u16, f32>(all, each, picks, typed(out)?, narrow),
        TrackType::Utf8 => Err(Error::internal("texts between texts")),
    }
}

fn between<T: Blend, F: TrackNumber>(
    all: &Values<'_>,
    (each, dims): (usize, usize),
    picks: &[Option<Pick>],
    out: &mut [F],
    round: impl Fn(usize, f64) -> F,
) -> Result<()> {
    let numbers = numbers::<T>(&all.bytes);
    for (to, pick) in out.chunks_exact_mut(dims).zip(picks) {
        let (to, zeros) = to.split_at_mut_checked(each).ok_or_else(no_room)?;
        zeros.fill(F::zeroed());
        match *pick {
            None => to.fill(F::zeroed()),
            Some(Pick { at, toward: 0.0, .. }) => {
                let from = values(&numbers, all.place(at), 1, each)?;
                to.iter_mut().zip(from).enumerate().for_each(|(place, (to, from))| *to = round(place, from.float()));
            }
            Some(Pick { at, toward, .. }) => {
                let (from, next) = values(&numbers, all.place(at), 2, each)?.split_at(each);
                for (place, ((to, a), b)) in to.iter_mut().zip(from).zip(next).enumerate() {
                    *to = round(place, a.float() + (b.float() - a.float()) * toward);
                }
            }
        }
    }
    Ok(())
}

fn typed<T: Pod>(out: &mut [u8]) -> Result<&mut [T]> {
    bytemuck::try_cast_slice_mut(out).map_err(|_| no_room())
}

/// The given number of values of `each` elements, starting at value `at`.
fn values<T>(all: &[T], at: usize, count: usize, each: usize) -> Result<&[T]> {
    let range = at.checked_mul(each).zip(at.checked_add(count).and_then(|end| end.checked_mul(each)));
    let found = range.and_then(|(from, to)| all.get(from..to));
    found.ok_or_else(|| Error::internal("a value beyond its track"))
}

fn no_room() -> Error {
    Error::internal("the values of a track are not as many as their place has room for")
}
