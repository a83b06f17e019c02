//! Times of values, converted to nanoseconds.

use super::array::Array;
use super::spec::TimeUnit;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};

/// The latest time that a track may have: 100 years.
const MOST_NS: f64 = 100.0 * 366.0 * 86_400e9;

/// Converts an array of times to nanoseconds.
pub(super) fn nanoseconds(times: &Array, unit: Option<TimeUnit>) -> Result<Vec<i64>> {
    if times.shape.len() != 1 {
        return Err(Error::usage("times must be an array of one dimension").found(format!("shape {:?}", times.shape)));
    }
    let whole = |n: &mut dyn Iterator<Item = i64>| {
        let Some(unit) = unit else {
            return Err(Error::usage("the times are whole numbers without a unit")
                .expected("unit=s, unit=ms, unit=us or unit=ns in the description of the track"));
        };
        n.enumerate()
            .map(|(i, n)| {
                n.checked_mul(unit.nanoseconds()).filter(|&ns| is_time(ns as f64)).ok_or_else(|| no_time(i, n))
            })
            .collect()
    };
    match &times.values {
        TrackValues::F32(n) => seconds(n.iter().map(|&n| f64::from(n)), unit),
        TrackValues::F64(n) => seconds(n.iter().copied(), unit),
        TrackValues::I16(n) => whole(&mut n.iter().map(|&n| i64::from(n))),
        TrackValues::I32(n) => whole(&mut n.iter().map(|&n| i64::from(n))),
        TrackValues::I64(n) => whole(&mut n.iter().copied()),
        TrackValues::U8(n) => whole(&mut n.iter().map(|&n| i64::from(n))),
        TrackValues::U16(n) => whole(&mut n.iter().map(|&n| i64::from(n))),
        TrackValues::Bool(_) | TrackValues::Texts(_) => {
            Err(Error::usage("times must be numbers").found(times.values.kind()))
        }
    }
}

fn seconds(times: impl Iterator<Item = f64>, unit: Option<TimeUnit>) -> Result<Vec<i64>> {
    let unit = unit.unwrap_or(TimeUnit::Seconds).nanoseconds() as f64;
    let ns = |(i, time): (usize, f64)| {
        let ns = time * unit;
        if is_time(ns) { Ok(ns.round() as i64) } else { Err(no_time(i, time)) }
    };
    times.enumerate().map(ns).collect()
}

fn is_time(ns: f64) -> bool {
    (-MOST_NS..=MOST_NS).contains(&ns)
}

fn no_time(place: usize, found: impl std::fmt::Display) -> Error {
    Error::usage(format!("time {place} is not a valid time")).expected("a number within 100 years of 0").found(found)
}

/// Refuses times that run backwards. `what` names them in the error.
pub(super) fn check_order(times: &[i64], what: &str) -> Result<()> {
    match times.windows(2).position(|two| two[0] > two[1]) {
        None => Ok(()),
        Some(i) => Err(Error::usage(format!("{what} run backwards")).found(format!(
            "{} s at value {}, after {} s",
            text(times[i + 1]),
            i + 1,
            text(times[i])
        ))),
    }
}

/// Returns nanoseconds as seconds, for errors.
pub(super) fn text(ns: i64) -> String {
    let text = format!("{:.6}", ns as f64 / 1e9);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_their_unit() {
        let floats = Array::row(TrackValues::F64(vec![0.5, 1.25]));
        assert_eq!(nanoseconds(&floats, None).unwrap(), [500_000_000, 1_250_000_000]);
        assert_eq!(nanoseconds(&floats, Some(TimeUnit::Milliseconds)).unwrap(), [500_000, 1_250_000]);
        let whole = Array::row(TrackValues::I64(vec![-3, 7]));
        assert_eq!(nanoseconds(&whole, Some(TimeUnit::Microseconds)).unwrap(), [-3000, 7000]);
        assert!(nanoseconds(&whole, None).unwrap_err().to_string().contains("unit=us"));
        for bad in [f64::NAN, f64::INFINITY, 1e12] {
            let e = nanoseconds(&Array::row(TrackValues::F64(vec![0.0, bad])), None).unwrap_err().to_string();
            assert!(e.contains("time 1 is not a valid time"), "{e}");
        }
        let large = Array::row(TrackValues::I64(vec![i64::MAX]));
        assert!(nanoseconds(&large, Some(TimeUnit::Seconds)).is_err());
    }

    #[test]
    fn times_that_run_backwards_are_named() {
        check_order(&[1, 1, 2], "times").unwrap();
        let e = check_order(&[0, 2_000_000_000, 1_500_000_000], "times").unwrap_err().to_string();
        assert_eq!(e, "times run backwards: found 1.5 s at value 2, after 2 s");
    }
}
