//! A range of lengths; as JSON a number if both ends are equal.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::pair::OneOrTwo;

pub fn serialize<S: Serializer>(range: &Option<(u32, u32)>, to: S) -> Result<S::Ok, S::Error> {
    range.map(OneOrTwo::of).serialize(to)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(u32, u32)>, D::Error> {
    Ok(Option::<OneOrTwo>::deserialize(from)?.map(OneOrTwo::both))
}
