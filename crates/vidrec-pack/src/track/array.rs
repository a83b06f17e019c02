//! Values that were read from a file or a list, and conversions between number types.

use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::track::schema::TrackType;

/// An array of numbers or texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Array {
    pub values: TrackValues,
    /// The number of values, followed by the shape of one value.
    pub shape: Vec<usize>,
}

/// Converts all numbers to `$to`. The error is the place of the first number that `$fits` rejects.
macro_rules! cast {
    ($values:expr, $to:ty, $fits:expr) => {
        $values
            .iter()
            .enumerate()
            .map(|(i, &n)| {
                let cast = n as $to;
                if $fits(n, cast) { Ok(cast) } else { Err(i) }
            })
            .collect::<std::result::Result<Vec<$to>, usize>>()
    };
}

/// Converts numbers of any type to `$to`, if they keep their meaning.
macro_rules! cast_all {
    ($values:expr, $to:ty, $variant:ident, $from_float:expr) => {
        match $values {
            TrackValues::F32(n) => cast!(n, $to, $from_float),
            TrackValues::F64(n) => cast!(n, $to, $from_float),
            TrackValues::I16(n) => cast!(n, $to, |n, cast: $to| cast as i128 == i128::from(n)),
            TrackValues::I32(n) => cast!(n, $to, |n, cast: $to| cast as i128 == i128::from(n)),
            TrackValues::I64(n) => cast!(n, $to, |n, cast: $to| cast as i128 == i128::from(n)),
            TrackValues::U8(n) => cast!(n, $to, |n, cast: $to| cast as i128 == i128::from(n)),
            TrackValues::U16(n) => cast!(n, $to, |n, cast: $to| cast as i128 == i128::from(n)),
            // Those are whole numbers before.
            TrackValues::Bool(_) => Err(0),
            TrackValues::Texts(_) => Err(0),
        }
        .map(TrackValues::$variant)
    };
}

impl Array {
    /// Creates an array of one dimension.
    pub fn row(values: TrackValues) -> Self {
        let shape = vec![values.count()];
        Array { values, shape }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Returns the shape of one value.
    ///
    /// # Errors
    ///
    /// The array is a single number, or too large.
    pub fn value_shape(&self) -> Result<Vec<u32>> {
        let (_, shape) = self.shape.split_first().ok_or_else(|| {
            Error::usage("the array is a single number").expected("an array whose first side counts the values")
        })?;
        if shape.len() > limits::MAX_TRACK_SIDES {
            return Err(Error::limit("the array has too many sides").found(self.shape.len()));
        }
        let side = |&n: &usize| u32::try_from(n).ok().filter(|&n| n > 0);
        let sides = shape.iter().map(side).collect::<Option<Vec<u32>>>();
        sides
            .ok_or_else(|| Error::usage("a value has no numbers, or too many").found(format!("shape {:?}", self.shape)))
    }

    /// Returns the same values as another type.
    ///
    /// Floats are rounded to the nearest `f32`. All other conversions must be exact, so only whole floats below
    /// 2^53 become integers.
    #[expect(clippy::cast_lossless, clippy::useless_conversion, reason = "written once for all types")]
    pub fn into_type(self, kind: TrackType) -> Result<Self> {
        let found = self.values.kind();
        if found == kind {
            return Ok(self);
        }
        if found == TrackType::Utf8 || kind == TrackType::Utf8 {
            return Err(Error::usage("the values have the wrong type").expected(kind).found(found));
        }
        if let TrackValues::Bool(bools) = self.values {
            let numbers = TrackValues::U8(bools.into_iter().map(u8::from).collect());
            return Array { values: numbers, shape: self.shape }.into_type(kind);
        }
        let values = match kind {
            TrackType::F32 => {
                cast_all!(&self.values, f32, F32, |n, cast: f32| cast.is_finite() || !f64::from(n).is_finite())
            }
            TrackType::F64 => cast_all!(&self.values, f64, F64, |_, _| true),
            TrackType::I16 => cast_all!(&self.values, i16, I16, |n, cast: i16| is_same(f64::from(n), cast as f64)),
            TrackType::I32 => cast_all!(&self.values, i32, I32, |n, cast: i32| is_same(f64::from(n), cast as f64)),
            TrackType::I64 => cast_all!(&self.values, i64, I64, |n, cast: i64| is_same(f64::from(n), cast as f64)),
            TrackType::U8 => cast_all!(&self.values, u8, U8, |n, cast: u8| is_same(f64::from(n), cast as f64)),
            TrackType::U16 => cast_all!(&self.values, u16, U16, |n, cast: u16| is_same(f64::from(n), cast as f64)),
            TrackType::Bool => {
                let all = cast_all!(&self.values, u8, U8, |n, cast: u8| is_same(f64::from(n), cast as f64));
                all.and_then(|numbers| bools(&numbers))
            }
            TrackType::Utf8 => Err(0),
        };
        let values = values.map_err(|i| {
            let per_value = self.shape.iter().skip(1).product::<usize>().max(1);
            Error::usage(format!("a number of type {found} cannot be converted to type {kind}")).found(format!(
                "{} in value {}",
                text(&self.values, i),
                i / per_value
            ))
        })?;
        Ok(Array { values, shape: self.shape })
    }

    /// Returns the values in `range`, which must exist.
    pub fn slice(self, range: std::ops::Range<usize>) -> Self {
        let per_value = self.shape.iter().skip(1).product::<usize>();
        let numbers = range.start * per_value..range.end * per_value;
        let mut shape = self.shape;
        if let Some(count) = shape.first_mut() {
            *count = range.len();
        }
        Array { values: pick(&self.values, numbers), shape }
    }

    /// Returns the values at these places, which must exist.
    pub fn take(&self, places: &[usize]) -> Self {
        let per_value = self.shape.iter().skip(1).product::<usize>();
        let numbers = places.iter().flat_map(|&i| i * per_value..(i + 1) * per_value);
        let mut shape = self.shape.clone();
        if let Some(count) = shape.first_mut() {
            *count = places.len();
        }
        Array { values: pick(&self.values, numbers), shape }
    }
}

/// The numbers as `bool`. The error is the place of the first number that is neither 0 nor 1.
fn bools(numbers: &TrackValues) -> std::result::Result<TrackValues, usize> {
    let TrackValues::U8(numbers) = numbers else { return Err(0) };
    match numbers.iter().position(|&n| n > 1) {
        Some(i) => Err(i),
        None => Ok(TrackValues::Bool(numbers.iter().map(|&n| n == 1).collect())),
    }
}

/// Whether a float equals the whole number that it became. From 2^53 on, it may stand for another number than the
/// one that was written.
fn is_same(number: f64, whole: f64) -> bool {
    number == whole && number.abs() < 9_007_199_254_740_992.0
}

/// Returns the numbers or texts at these places, which must exist.
fn pick(values: &TrackValues, places: impl Iterator<Item = usize>) -> TrackValues {
    match values {
        TrackValues::F32(n) => TrackValues::F32(places.map(|i| n[i]).collect()),
        TrackValues::F64(n) => TrackValues::F64(places.map(|i| n[i]).collect()),
        TrackValues::I16(n) => TrackValues::I16(places.map(|i| n[i]).collect()),
        TrackValues::I32(n) => TrackValues::I32(places.map(|i| n[i]).collect()),
        TrackValues::I64(n) => TrackValues::I64(places.map(|i| n[i]).collect()),
        TrackValues::U8(n) => TrackValues::U8(places.map(|i| n[i]).collect()),
        TrackValues::U16(n) => TrackValues::U16(places.map(|i| n[i]).collect()),
        TrackValues::Bool(n) => TrackValues::Bool(places.map(|i| n[i]).collect()),
        TrackValues::Texts(texts) => TrackValues::Texts(places.map(|i| texts[i].clone()).collect()),
    }
}

/// Returns a number or a text in words, for errors.
fn text(values: &TrackValues, i: usize) -> String {
    match pick(values, [i].into_iter().filter(|&i| i < values.count())) {
        TrackValues::F32(n) => format!("{n:?}"),
        TrackValues::F64(n) => format!("{n:?}"),
        TrackValues::I16(n) => format!("{n:?}"),
        TrackValues::I32(n) => format!("{n:?}"),
        TrackValues::I64(n) => format!("{n:?}"),
        TrackValues::U8(n) => format!("{n:?}"),
        TrackValues::U16(n) => format!("{n:?}"),
        TrackValues::Bool(n) => format!("{n:?}"),
        TrackValues::Texts(texts) => format!("{texts:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_meaning_or_are_refused() {
        let ints = |n: Vec<i64>| Array::row(TrackValues::I64(n));
        let floats = |n: Vec<f64>| Array::row(TrackValues::F64(n));
        assert_eq!(ints(vec![1, -2]).into_type(TrackType::F32).unwrap().values, TrackValues::F32(vec![1.0, -2.0]));
        assert_eq!(ints(vec![255]).into_type(TrackType::U8).unwrap().values, TrackValues::U8(vec![255]));
        let bools = Array::row(TrackValues::Bool(vec![true, false]));
        assert_eq!(floats(vec![1.0, 0.0]).into_type(TrackType::Bool).unwrap(), bools);
        assert_eq!(bools.into_type(TrackType::F32).unwrap().values, TrackValues::F32(vec![1.0, 0.0]));
        assert_eq!(floats(vec![0.1]).into_type(TrackType::F32).unwrap().values, TrackValues::F32(vec![0.1]));
        for (array, kind, found) in [
            (ints(vec![0, 256]), TrackType::U8, "[256] in value 1"),
            (ints(vec![0, 1, 2]), TrackType::Bool, "[2] in value 2"),
            (floats(vec![0.5]), TrackType::Bool, "[0.5] in value 0"),
            (ints(vec![(1 << 24) + 1]), TrackType::F32, "16777217"),
            (ints(vec![i64::MAX]), TrackType::F64, "9223372036854775807"),
            (floats(vec![1.0, 1.5]), TrackType::I32, "[1.5] in value 1"),
            (floats(vec![32_768.0]), TrackType::I16, "32768"),
            (floats(vec![9_007_199_254_740_992.0]), TrackType::I64, "9007199254740992"),
            (floats(vec![f64::NAN]), TrackType::I64, "NaN"),
            (floats(vec![1e300]), TrackType::F32, "1e300"),
        ] {
            let e = array.into_type(kind).unwrap_err().to_string();
            assert!(e.contains(found), "{e}");
        }
        let whole = floats(vec![-3.0, 1e15]).into_type(TrackType::I64).unwrap();
        assert_eq!(whole.values, TrackValues::I64(vec![-3, 1_000_000_000_000_000]), "JSON and text have only floats");
        let nan = floats(vec![f64::NAN]).into_type(TrackType::F32).unwrap();
        assert!(matches!(nan.values, TrackValues::F32(n) if n[0].is_nan()), "that is judged elsewhere");
    }

    #[test]
    fn values_are_taken_whole() {
        let array = Array { values: TrackValues::U8((0..6).collect()), shape: vec![3, 2] };
        assert_eq!(array.take(&[2, 0, 0]).values, TrackValues::U8(vec![4, 5, 0, 1, 0, 1]));
        let cut = array.slice(1..3);
        assert_eq!((cut.values, cut.shape), (TrackValues::U8(vec![2, 3, 4, 5]), vec![2, 2]));
    }
}
