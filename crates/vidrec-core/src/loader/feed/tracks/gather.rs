//! Copies the values of a track to their place in a batch.

use bytemuck::Pod;

use super::times::Pick;
use crate::dataset::Values;
use crate::loader::feed::sample_spec::SampleSpec;
use crate::loader::options::TrackNormalize;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::payload::{TrackNumber, numbers};
use vidrec_format::track::schema::{TrackSchema, TrackType};

/// Copies the picked values as they are stored, and zeros for missing ones. A value has `dims` numbers in `out`: its own, and
/// then zeros.
pub(super) fn stored(
    schema: &TrackSchema,
    all: &Values<'_>,
    picks: &[Option<Pick>],
    dims: usize,
    out: &mut [u8],
) -> Result<()> {
    let each = schema.value_bytes().unwrap_or(1) as usize;
    let room = each / schema.numbers_per_value().max(1) * dims;
    if room < each || out.len() != room * picks.len() {
        return Err(no_room());
    }
    for (to, pick) in out.chunks_exact_mut(room.max(1)).zip(picks) {
        let (to, zeros) = to.split_at_mut(each);
        match pick {
            Some(pick) => to.copy_from_slice(value(&all.bytes, all.place(pick.at), each)?),
            None => to.fill(0),
        }
        zeros.fill(0);
    }
    from_le(schema.kind, out);
    Ok(())
}

/// Copies the pixels of the picked values, which are pictures, that a sample shows, and zeros for missing ones. A stored
/// picture shows the same scene as a frame, whatever its size.
pub(super) fn seen(
    schema: &TrackSchema,
    all: &Values<'_>,
    picks: &[Option<Pick>],
    sample: &SampleSpec<'_>,
    out: &mut [u8],
) -> Result<()> {
    let sides: Vec<usize> = schema.shape.iter().map(|&side| side as usize).collect();
    let [height, width, ..] = sides[..] else {
        return Err(Error::internal("a picture without rows and columns"));
    };
    let (frame, [left, top, w, h]) = sample.frame_size().zip(sample.params.window).ok_or_else(|| {
        let e = Error::usage("the frames of the clip differ in size, so no track can follow them");
        e.in_clip(sample.clip.ordinal()).help("omit follow of the track, or leave the clip out")
    })?;
    let mut columns = axis((left, w), sample.size.0, frame.0, width);
    if sample.params.flip {
        columns.reverse();
    }
    let rows = axis((top, h), sample.size.1, frame.1, height);
    let each = schema.value_bytes().unwrap_or(1) as usize;
    let pixel = each / (height * width);
    for (to, pick) in out.chunks_exact_mut(pixel * columns.len() * rows.len()).zip(picks) {
        let Some(pick) = pick else {
            to.fill(0);
            continue;
        };
        let from = value(&all.bytes, all.place(pick.at), each)?;
        for (to, &row) in to.chunks_exact_mut(pixel * columns.len()).zip(&rows) {
            let from = value(from, row, pixel * width)?;
            for (to, &column) in to.chunks_exact_mut(pixel).zip(&columns) {
                to.copy_from_slice(value(from, column, pixel)?);
            }
        }
    }
    from_le(schema.kind, out);
    Ok(())
}

/// The stored pixel along an axis that each of `out` pixels shows: the one in which its center lies.
fn axis((start, length): (f64, f64), out: u32, frame: u32, stored: usize) -> Vec<usize> {
    let step = length / f64::from(out);
    let place = |i: u32| {
        let center = start + (f64::from(i) + 0.5) * step;
        // Never negative. What rounding moves beyond the edge is the last pixel.
        ((center * stored as f64 / f64::from(frame)) as usize).min(stored.saturating_sub(1))
    };
    (0..out).map(place).collect()
}

/// Converts numbers from the files' byte order to that of this machine.
fn from_le(kind: TrackType, out: &mut [u8]) {
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
    let float = floats(schema.kind, &all.bytes)?;
    let each = schema.numbers_per_value();
    let number = |pick: &Pick, place: usize| -> Result<f64> {
        let of = |at: usize| float(all.place(at) * each + place).ok_or_else(beyond);
        let x = match pick.toward {
            0.0 => of(pick.at)?,
            toward => {
                let (a, b) = (of(pick.at)?, of(pick.at + 1)?);
                a + (b - a) * toward
            }
        };
        Ok(normalize.map_or(x, |normalize| normalize.apply(place, x)))
    };
    match kind {
        TrackType::F64 => write::<f64>(picks, (each, dims), typed(out)?, |pick, place| number(pick, place)),
        _ => write::<f32>(picks, (each, dims), typed(out)?, |pick, place| Ok(number(pick, place)? as f32)),
    }
}

/// Writes the numbers of each picked value, and zeros after them and for missing ones.
fn write<F: TrackNumber>(
    picks: &[Option<Pick>],
    (each, dims): (usize, usize),
    out: &mut [F],
    number: impl Fn(&Pick, usize) -> Result<F>,
) -> Result<()> {
    out.fill(F::zeroed());
    for (to, pick) in out.chunks_exact_mut(dims.max(1)).zip(picks) {
        let Some(pick) = pick else { continue };
        for (place, to) in to.get_mut(..each).ok_or_else(no_room)?.iter_mut().enumerate() {
            *to = number(pick, place)?;
        }
    }
    Ok(())
}

/// A function that returns the number at a place as a float.
type Float<'a> = Box<dyn Fn(usize) -> Option<f64> + 'a>;

fn floats(kind: TrackType, bytes: &[u8]) -> Result<Float<'_>> {
    fn of<T: TrackNumber>(bytes: &[u8], float: fn(T) -> f64) -> Float<'_> {
        let numbers = numbers::<T>(bytes);
        Box::new(move |at| numbers.get(at).copied().map(float))
    }
    Ok(match kind {
        TrackType::F64 => of::<f64>(bytes, |n| n),
        TrackType::F32 => of::<f32>(bytes, f64::from),
        TrackType::I16 => of::<i16>(bytes, f64::from),
        TrackType::I32 => of::<i32>(bytes, f64::from),
        TrackType::I64 => of::<i64>(bytes, |n| n as f64),
        TrackType::U8 | TrackType::Bool => of::<u8>(bytes, f64::from),
        TrackType::U16 => of::<u16>(bytes, f64::from),
        TrackType::Utf8 => return Err(Error::internal("texts between texts")),
    })
}

fn typed<T: Pod>(out: &mut [u8]) -> Result<&mut [T]> {
    bytemuck::try_cast_slice_mut(out).map_err(|_| no_room())
}

/// Value `at` of values of `each` elements.
fn value<T>(all: &[T], at: usize, each: usize) -> Result<&[T]> {
    let range = at.checked_mul(each).zip(at.checked_add(1).and_then(|end| end.checked_mul(each)));
    range.and_then(|(from, to)| all.get(from..to)).ok_or_else(beyond)
}

fn beyond() -> Error {
    Error::internal("a value beyond its track")
}

fn no_room() -> Error {
    Error::internal("the values of a track are not as many as their place has room for")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pixel_shows_the_stored_one_in_which_its_center_lies() {
        assert_eq!(axis((2.0, 4.0), 4, 8, 8), [2, 3, 4, 5]);
        assert_eq!(axis((2.0, 4.0), 4, 8, 16), [5, 7, 9, 11]);
        assert_eq!(axis((2.0, 4.0), 4, 8, 1), [0; 4]);
        assert_eq!(axis((0.0, 3.0), 2, 6, 6), [0, 2]);
        assert_eq!(axis((0.0, 3.0), 2, 6, 3), [0, 1]);
    }
}
