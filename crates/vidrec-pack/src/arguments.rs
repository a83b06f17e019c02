//! Options as text: which numbers and words each takes, and their JSON schemas.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::sampler::ShortVideo;
use vidrec_format::words::text;
use vidrec_jpeg::Encoder;

/// The most draws of one video: more than anybody trains epochs on it.
pub(crate) const MAX_DRAWS: u32 = 10_000;
/// More threads than any machine decodes with.
const MAX_THREADS: u64 = 1024;

/// Returns the numbers that an option takes.
fn range(option: &str) -> RangeInclusive<u64> {
    match option {
        "frames" | "max_frames" => 1..=limits::MAX_FRAMES_PER_CLIP.into(),
        "every" => 1..=u32::MAX.into(),
        "draws" => 1..=MAX_DRAWS.into(),
        "quality" => 1..=100,
        "effort" => 0..=Encoder::MAX_EFFORT.into(),
        "threads" => 1..=MAX_THREADS,
        "max_pixels" => 1..=u64::MAX,
        _ => 0..=u64::MAX,
    }
}

/// Reads a whole number for the option of this name.
///
/// ```
/// use vidrec::pack::arguments::number;
///
/// assert_eq!(number::<u32>("draws", "4")?, 4);
/// let e = number::<u32>("draws", "0").unwrap_err();
/// assert_eq!(e.to_string(), "expected a whole number from 1 to 10000, found 0");
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): the text is not a whole number, or the option does not take
/// that number.
pub fn number<T: TryFrom<u64>>(option: &str, text: &str) -> Result<T> {
    let range = range(option);
    let number = text.parse().ok().filter(|n| range.contains(n)).and_then(|n| T::try_from(n).ok());
    number.ok_or_else(|| {
        let most = if *range.end() == u64::MAX { "2^64 - 1".into() } else { range.end().to_string() };
        Error::usage(format!("expected a whole number from {} to {most}, found {text}", range.start()))
    })
}

/// Reads numbers for the option of this name on a command line.
#[cfg(feature = "clap")]
pub fn number_of<T: TryFrom<u64>>(option: &'static str) -> impl Fn(&str) -> Result<T> + Clone {
    move |text| number(option, text)
}

/// Reads a whole number that may be written as text, because TOML has none above 2^63.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<u64, D::Error> {
    let text = text(deserializer)?;
    number("", &text).map_err(D::Error::custom)
}

/// The same for an option that may be absent.
pub(crate) fn whole_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    struct Whole(#[serde(deserialize_with = "whole")] u64);
    Ok(Option::<Whole>::deserialize(deserializer)?.map(|Whole(number)| number))
}

/// A length of time. As text, it is a number of seconds such as `10` or `0.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seconds(pub Duration);

impl Seconds {
    /// Reads a number of seconds above 0.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): the text is not such a number.
    pub fn above_zero(text: &str) -> Result<Self> {
        let seconds = text.parse().ok().filter(|Seconds(time)| !time.is_zero());
        seconds.ok_or_else(|| Error::usage(format!("expected a number of seconds above 0, found {text}")))
    }
}

impl FromStr for Seconds {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let seconds = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
        seconds.map(Seconds).ok_or_else(|| Error::usage(format!("expected a number of seconds, found {text}")))
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0.subsec_nanos() {
            0 => serializer.serialize_u64(self.0.as_secs()),
            _ => serializer.serialize_f64(self.0.as_secs_f64()),
        }
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Seconds::above_zero(&text(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs_f64())
    }
}

/// Takes the words of an option. `--help` and completions list them.
#[cfg(feature = "clap")]
pub(crate) fn words<T>() -> impl clap::builder::TypedValueParser<Value = T>
where
    T: strum::VariantNames + FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(T::VARIANTS).try_map(|word| word.parse())
}

/// A value that is written as a number or as text.
pub(crate) struct NumberOrText;

impl JsonSchema for NumberOrText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NumberOrText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["number", "string"]})
    }
}

pub(crate) fn short(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": <ShortVideo as strum::VariantNames>::VARIANTS})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_of_the_range_are_refused() {
        for (option, good) in [("threads", "1024"), ("seed", "18446744073709551615")] {
            assert_eq!(number::<u64>(option, good).unwrap().to_string(), good);
        }
        for (option, bad) in [
            ("threads", "0"),
            ("threads", "1025"),
            ("every", "0"),
            ("every", "4294967296"),
            ("max_pixels", "0"),
            ("seed", "-1"),
            ("seed", "18446744073709551616"),
            ("frames", "1.5"),
            ("frames", ""),
        ] {
            let e = number::<u64>(option, bad).unwrap_err().to_string();
            assert!(e.starts_with("expected a whole number from ") && e.ends_with(&format!("found {bad}")), "{e}");
        }
        assert!(number::<u8>("seed", "256").is_err(), "a number that does not fit the type");
    }
}
