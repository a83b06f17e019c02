//! Values that were read from a file or a list, and conversions between number types.

use std::ops::Range;

use half::f16;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::track::schema::TrackType;

/// An array of numbers or texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Array {
    pub values: TrackValues,
    /// The number of values, or of the items of lists, followed by the shape of one of them.
    pub shape: Vec<usize>,
    /// If values are lists of items: where each ends, counted in items.
    pub ends: Option<Vec<usize>>,
}

/// A number of any type that values may have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Whole(i64),
    Float(f64),
}

impl Number {
    /// Returns the same whole number, if it is one. From 2^53 on, a float may stand for another number than the one that
    /// was written.
    fn whole(self) -> Option<i64> {
        match self {
            Number::Whole(n) => Some(n),
            Number::Float(n) if n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0 => Some(n as i64),
            Number::Float(_) => None,
        }
    }

    fn f64(self) -> Option<f64> {
        match self {
            Number::Whole(n) => Some(n as f64).filter(|&float| float as i128 == i128::from(n)),
            Number::Float(n) => Some(n),
        }
    }

    fn f16(self) -> Option<f16> {
        match self {
            Number::Whole(n) => Some(nearest_f16(n as f64)).filter(|&float| f64::from(float) as i128 == i128::from(n)),
            Number::Float(n) => Some(nearest_f16(n)).filter(|float| float.is_finite() || !n.is_finite()),
        }
    }

    fn f32(self) -> Option<f32> {
        match self {
            Number::Whole(n) => Some(n as f32).filter(|&float| float as i128 == i128::from(n)),
            Number::Float(n) => Some(n as f32).filter(|float| float.is_finite() || !n.is_finite()),
        }
    }
}

/// Returns the nearest number of 16 bits. On the way, an inexact `f32` gets an odd last bit: of two that are nearest, it would
/// hide which one the number was nearer to (Boldo and Melquiond, IEEE Transactions on Computers 57, 2008).
fn nearest_f16(n: f64) -> f16 {
    let near = n as f32;
    let bits = near.to_bits();
    if f64::from(near) == n || bits % 2 == 1 || !near.is_finite() {
        return f16::from_f32(near);
    }
    let odd = if f64::from(near).abs() < n.abs() { bits + 1 } else { bits - 1 };
    f16::from_f32(f32::from_bits(odd))
}

/// Returns all numbers, or `None` of texts. `true` is 1.
pub(super) fn numbers(values: &TrackValues) -> Option<Vec<Number>> {
    fn whole<T: Copy + Into<i64>>(numbers: &[T]) -> Vec<Number> {
        numbers.iter().map(|&n| Number::Whole(n.into())).collect()
    }
    Some(match values {
        TrackValues::F16(n) => n.iter().map(|&n| Number::Float(n.into())).collect(),
        TrackValues::F32(n) => n.iter().map(|&n| Number::Float(n.into())).collect(),
        TrackValues::F64(n) => n.iter().map(|&n| Number::Float(n)).collect(),
        TrackValues::I16(n) => whole(n),
        TrackValues::I32(n) => whole(n),
        TrackValues::I64(n) => whole(n),
        TrackValues::U8(n) => whole(n),
        TrackValues::U16(n) => whole(n),
        TrackValues::Bool(n) => whole(n),
        TrackValues::Texts(_) => return None,
    })
}

/// Converts numbers to a type. The error is the place of the first one that would not keep its meaning.
pub(super) fn typed(numbers: &[Number], kind: TrackType) -> std::result::Result<TrackValues, usize> {
    fn all<T>(numbers: &[Number], change: impl Fn(Number) -> Option<T>) -> std::result::Result<Vec<T>, usize> {
        numbers.iter().enumerate().map(|(i, &number)| change(number).ok_or(i)).collect()
    }
    fn whole<T: TryFrom<i64>>(numbers: &[Number]) -> std::result::Result<Vec<T>, usize> {
        all(numbers, |number| number.whole()?.try_into().ok())
    }
    Ok(match kind {
        TrackType::F16 => TrackValues::F16(all(numbers, Number::f16)?),
        TrackType::F32 => TrackValues::F32(all(numbers, Number::f32)?),
        TrackType::F64 => TrackValues::F64(all(numbers, Number::f64)?),
        TrackType::I16 => TrackValues::I16(whole(numbers)?),
        TrackType::I32 => TrackValues::I32(whole(numbers)?),
        TrackType::I64 => TrackValues::I64(whole(numbers)?),
        TrackType::U8 => TrackValues::U8(whole(numbers)?),
        TrackType::U16 => TrackValues::U16(whole(numbers)?),
        TrackType::Bool => {
            TrackValues::Bool(all(numbers, |n| n.whole().filter(|n| (0..=1).contains(n)).map(|n| n == 1))?)
        }
        TrackType::Utf8 => return Err(0),
    })
}

impl Array {
    /// Creates an array of one dimension.
    pub fn row(values: TrackValues) -> Self {
        let shape = vec![values.count()];
        Array { values, shape, ends: None }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.ends.as_ref().map_or(self.items(), Vec::len)
    }

    /// Returns the number of values, or of the items of lists.
    pub fn items(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Returns how many items each list has, if values are lists.
    pub fn lists(&self) -> Option<Vec<u32>> {
        self.ends.as_ref().map(|ends| (0..ends.len()).map(|i| self.range(i).len() as u32).collect())
    }

    /// Returns the place of value `i`, or of the items of list `i`, which must exist.
    fn range(&self, i: usize) -> Range<usize> {
        match &self.ends {
            Some(ends) => i.checked_sub(1).map_or(0, |before| ends[before])..ends[i],
            None => i..i + 1,
        }
    }

    /// Returns the shape of one value, or of an item of lists.
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
    /// Floats are rounded to the nearest `f32` or `f16`. All other conversions must be exact, so only whole floats below
    /// 2^53 become integers.
    pub fn into_type(self, kind: TrackType) -> Result<Self> {
        let found = self.values.kind();
        if found == kind {
            return Ok(self);
        }
        let Some(numbers) = numbers(&self.values).filter(|_| kind != TrackType::Utf8) else {
            return Err(Error::usage("the values have the wrong type").expected(kind).found(found));
        };
        let values = typed(&numbers, kind).map_err(|i| {
            let value = i / self.shape.iter().skip(1).product::<usize>().max(1);
            let number = match numbers.get(i) {
                Some(Number::Float(n)) => format!("{n:?}"),
                Some(Number::Whole(n)) => n.to_string(),
                None => String::new(),
            };
            Error::usage(format!("a number of type {found} cannot be converted to type {kind}"))
                .found(format!("{number} in {} {value}", if self.ends.is_some() { "item" } else { "value" }))
        })?;
        Ok(Array { values, ..self })
    }

    /// Returns the values in `range`, which must exist.
    pub fn slice(self, range: Range<usize>) -> Self {
        self.at(range)
    }

    /// Returns the values at these places, which must exist.
    pub fn take(&self, places: &[usize]) -> Self {
        self.at(places.iter().copied())
    }

    fn at(&self, places: impl Iterator<Item = usize> + Clone) -> Self {
        let each = self.shape.iter().skip(1).product::<usize>();
        let ranges = places.map(|i| self.range(i));
        let numbers = ranges.clone().flat_map(|items| items.start * each..items.end * each);
        let mut total = 0;
        let ends = ranges.map(|items| {
            total += items.len();
            total
        });
        let ends: Vec<usize> = ends.collect();
        let mut shape = self.shape.clone();
        shape.iter_mut().take(1).for_each(|count| *count = total);
        Array { values: pick(&self.values, numbers), shape, ends: self.ends.as_ref().map(|_| ends) }
    }
}

/// Returns the numbers or texts at these places, which must exist.
fn pick(values: &TrackValues, places: impl Iterator<Item = usize>) -> TrackValues {
    match values {
        TrackValues::F16(n) => TrackValues::F16(places.map(|i| n[i]).collect()),
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
            (ints(vec![0, 256]), TrackType::U8, "256 in value 1"),
            (ints(vec![0, 1, 2]), TrackType::Bool, "2 in value 2"),
            (floats(vec![0.5]), TrackType::Bool, "0.5 in value 0"),
            (ints(vec![(1 << 24) + 1]), TrackType::F32, "16777217"),
            (ints(vec![i64::MAX]), TrackType::F64, "9223372036854775807"),
            (floats(vec![1.0, 1.5]), TrackType::I32, "1.5 in value 1"),
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
        let array = Array { values: TrackValues::U8((0..6).collect()), shape: vec![3, 2], ends: None };
        assert_eq!(array.take(&[2, 0, 0]).values, TrackValues::U8(vec![4, 5, 0, 1, 0, 1]));
        let cut = array.slice(1..3);
        assert_eq!((cut.values, cut.shape), (TrackValues::U8(vec![2, 3, 4, 5]), vec![2, 2]));
        let lists = Array { values: TrackValues::U8((0..6).collect()), shape: vec![3, 2], ends: Some(vec![2, 2, 3]) };
        let taken = lists.take(&[2, 0, 1]);
        assert_eq!((&taken.shape, taken.lists()), (&vec![3, 2], Some(vec![1, 2, 0])));
        assert_eq!(taken.values, TrackValues::U8(vec![4, 5, 0, 1, 2, 3]));
    }
}
