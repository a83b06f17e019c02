//! Width and height; as JSON a number for a square, or height and width.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::pair::OneOrTwo;

pub fn serialize<S: Serializer>(&(width, height): &(u32, u32), to: S) -> Result<S::Ok, S::Error> {
    OneOrTwo::of((height, width)).serialize(to)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<(u32, u32), D::Error> {
    let (height, width) = OneOrTwo::deserialize(from)?.both();
    Ok((width, height))
}
