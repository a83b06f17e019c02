//! Copies the values of a track to their place in a batch.

use bytemuck::Pod;
use half::f16;

use super::times::Pick;
use crate::dataset::Values;
use crate::loader::feed::sample_spec::SampleSpec;
use crate::loader::options::TrackNormalize;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::payload::{TrackNumber, numbers};
use vidrec_format::track::schema::{TrackSchema, TrackType};

/// The values of a track that a sample has, or the items of one of its lists.
pub(super) struct PickedValues<'a> {
    pub schema: &'a TrackSchema,
    pub all: &'a Values<'a>,
    pub picks: &'a [Option<Pick>],
    /// The number of numbers that a value has in a batch: its own, and then zeros.
    pub dims: usize,
}

impl PickedValues<'_> {
    /// Copies the values as they are stored.
    pub fn stored(&self, out: &mut [u8]) -> Result<()> {
        let each = self.schema.value_bytes().unwrap_or(1) as usize;
        let room = each / self.schema.numbers_per_value().max(1) * self.dims;
        self.write(out, (each, room), |to, pick| {
            to.copy_from_slice(value(&self.all.bytes, self.all.place(pick.at), each)?);
            Ok(())
        })?;
        from_le(self.schema.kind, out);
        Ok(())
    }

    /// Copies the pixels of values, which are pictures, that a sample shows. A stored picture shows the same scene as a
    /// frame, whatever its size.
    pub fn seen(&self, sample: &SampleSpec<'_>, out: &mut [u8]) -> Result<()> {
        let sides: Vec<usize> = self.schema.shape.iter().map(|&side| side as usize).collect();
        let [height, width, ..] = sides[..] else {
            return Err(Error::internal("a picture without rows and columns"));
        };
        let (frame, [left, top, w, h]) = sample
            .frame_size()
            .zip(sample.params.window)
            .ok_or_else(|| Error::internal("pictures that follow frames of several sizes"))?;
        let mut columns = axis((left, w), sample.size.0, frame.0, width);
        if sample.params.flip {
            columns.reverse();
        }
        let rows = axis((top, h), sample.size.1, frame.1, height);
        let each = self.schema.value_bytes().unwrap_or(1) as usize;
        let pixel = each / (height * width);
        let room = pixel * columns.len() * rows.len();
        self.write(out, (room, room), |to, pick| {
            let from = value(&self.all.bytes, self.all.place(pick.at), each)?;
            for (to, &row) in to.chunks_exact_mut(pixel * columns.len()).zip(&rows) {
                let from = value(from, row, pixel * width)?;
                for (to, &column) in to.chunks_exact_mut(pixel).zip(&columns) {
                    to.copy_from_slice(value(from, column, pixel)?);
                }
            }
            Ok(())
        })?;
        from_le(self.schema.kind, out);
        Ok(())
    }

    /// Interpolates between values and normalizes them: to `f64` or `f32`.
    pub fn computed(&self, normalize: Option<&TrackNormalize>, kind: TrackType, out: &mut [u8]) -> Result<()> {
        match kind {
            TrackType::F64 => self.write_computed::<f64>(normalize, |x| x, out),
            _ => self.write_computed::<f32>(normalize, |x| x as f32, out),
        }
    }

    fn write_computed<F: TrackNumber>(
        &self,
        normalize: Option<&TrackNormalize>,
        rounded: impl Fn(f64) -> F,
        out: &mut [u8],
    ) -> Result<()> {
        let out = bytemuck::try_cast_slice_mut(out).map_err(|_| no_room())?;
        match self.schema.kind {
            TrackType::F64 => self.write_floats::<f64, F>(normalize, rounded, out),
            TrackType::F16 => self.write_floats::<f16, F>(normalize, rounded, out),
            TrackType::F32 => self.write_floats::<f32, F>(normalize, rounded, out),
            TrackType::I16 => self.write_floats::<i16, F>(normalize, rounded, out),
            TrackType::I32 => self.write_floats::<i32, F>(normalize, rounded, out),
            TrackType::I64 => self.write_floats::<i64, F>(normalize, rounded, out),
            TrackType::U8 | TrackType::Bool => self.write_floats::<u8, F>(normalize, rounded, out),
            TrackType::U16 => self.write_floats::<u16, F>(normalize, rounded, out),
            TrackType::Utf8 => Err(Error::internal("texts between texts")),
        }
    }

    fn write_floats<T: TrackNumber, F: TrackNumber>(
        &self,
        normalize: Option<&TrackNormalize>,
        rounded: impl Fn(f64) -> F,
        out: &mut [F],
    ) -> Result<()> {
        let (numbers, each) = (numbers::<T>(&self.all.bytes), self.schema.numbers_per_value());
        let normalized = |(place, x)| rounded(normalize.map_or(x, |normalize| normalize.apply(place, x)));
        self.write(out, (each, self.dims), |to, pick| {
            let (first, toward) = (value(&numbers, self.all.place(pick.at), each)?, pick.toward);
            let first = first.iter().map(|n| n.to_f64());
            if toward == 0.0 {
                to.iter_mut().zip(first.enumerate().map(normalized)).for_each(|(to, x)| *to = x);
                return Ok(());
            }
            let next = value(&numbers, self.all.place(pick.at + 1), each)?;
            let between = first.zip(next).map(|(a, b)| a + (b.to_f64() - a) * toward);
            to.iter_mut().zip(between.enumerate().map(normalized)).for_each(|(to, x)| *to = x);
            Ok(())
        })
    }

    /// Calls `write` for the place of each value, which has `each` elements. Writes zeros up to `room` elements, and for
    /// missing values.
    fn write<T: Pod>(
        &self,
        out: &mut [T],
        (each, room): (usize, usize),
        write: impl Fn(&mut [T], &Pick) -> Result<()>,
    ) -> Result<()> {
        if room < each || out.len() != room * self.picks.len() {
            return Err(no_room());
        }
        for (to, pick) in out.chunks_exact_mut(room.max(1)).zip(self.picks) {
            let (to, zeros) = to.split_at_mut(each);
            zeros.fill(T::zeroed());
            match pick {
                Some(pick) => write(to, pick)?,
                None => to.fill(T::zeroed()),
            }
        }
        Ok(())
    }
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

/// Value `at` of values of `each` elements.
fn value<T>(all: &[T], at: usize, each: usize) -> Result<&[T]> {
    let range = at.checked_mul(each).zip(at.checked_add(1).and_then(|end| end.checked_mul(each)));
    range.and_then(|(from, to)| all.get(from..to)).ok_or_else(|| Error::internal("a value beyond its track"))
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
