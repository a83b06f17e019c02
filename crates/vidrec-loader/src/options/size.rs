//! Sizes of pictures, as JSON and in Rust.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number, or two.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of 0 or more, or two of them")]
enum OneOrTwo {
    One(u32),
    Two(u32, u32),
}

impl OneOrTwo {
    fn of((a, b): (u32, u32)) -> Self {
        if a == b { OneOrTwo::One(a) } else { OneOrTwo::Two(a, b) }
    }

    fn both(self) -> (u32, u32) {
        match self {
            OneOrTwo::One(a) => (a, a),
            OneOrTwo::Two(a, b) => (a, b),
        }
    }
}

/// Width and height; as JSON a number for a square, or height and width.
pub(super) mod size {
    use super::*;

    pub fn serialize<S: Serializer>(&(width, height): &(u32, u32), to: S) -> Result<S::Ok, S::Error> {
        OneOrTwo::of((height, width)).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<(u32, u32), D::Error> {
        let (height, width) = OneOrTwo::deserialize(from)?.both();
        Ok((width, height))
    }
}

/// A size as [`size`](mod@size), or none.
pub(super) mod maybe {
    use super::*;

    pub fn serialize<S: Serializer>(size: &Option<(u32, u32)>, to: S) -> Result<S::Ok, S::Error> {
        size.map(|(width, height)| OneOrTwo::of((height, width))).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(u32, u32)>, D::Error> {
        let swapped = Option::<OneOrTwo>::deserialize(from)?.map(OneOrTwo::both);
        Ok(swapped.map(|(height, width)| (width, height)))
    }
}

/// A list of sizes.
pub(super) mod list {
    use super::*;

    pub fn serialize<S: Serializer>(sizes: &[(u32, u32)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(sizes.iter().map(|&(width, height)| OneOrTwo::of((height, width))))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(u32, u32)>, D::Error> {
        let swapped = Option::<Vec<OneOrTwo>>::deserialize(from)?.unwrap_or_default();
        Ok(swapped.into_iter().map(OneOrTwo::both).map(|(height, width)| (width, height)).collect())
    }
}

/// A range of lengths; as JSON a number if both ends are equal.
pub(super) mod range {
    use super::*;

    pub fn serialize<S: Serializer>(range: &Option<(u32, u32)>, to: S) -> Result<S::Ok, S::Error> {
        range.map(OneOrTwo::of).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(u32, u32)>, D::Error> {
        Ok(Option::<OneOrTwo>::deserialize(from)?.map(OneOrTwo::both))
    }
}

/// A number of bytes; as JSON also a text such as `"1GiB"`.
pub(super) mod bytes {
    use super::*;
    use serde::de::Error as _;
    use vidrec_format::byte_size::parse_bytes;

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number of bytes, or a text such as 1GiB")]
    enum Bytes {
        Number(u64),
        Text(String),
    }

    pub fn serialize<S: Serializer>(bytes: &u64, to: S) -> Result<S::Ok, S::Error> {
        bytes.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        match Bytes::deserialize(from)? {
            Bytes::Number(bytes) => Ok(bytes),
            Bytes::Text(text) => parse_bytes(&text).map_err(D::Error::custom),
        }
    }
}

/// The default for `null`.
pub(super) fn null_is_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}
