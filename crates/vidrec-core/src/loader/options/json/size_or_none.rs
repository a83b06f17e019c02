//! A size, or none.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::pair::OneOrTwo;

pub fn serialize<S: Serializer>(size: &Option<(u32, u32)>, to: S) -> Result<S::Ok, S::Error> {
    size.map(|(width, height)| OneOrTwo::of((height, width))).serialize(to)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(u32, u32)>, D::Error> {
    let swapped = Option::<OneOrTwo>::deserialize(from)?.map(OneOrTwo::both);
    Ok(swapped.map(|(height, width)| (width, height)))
}
