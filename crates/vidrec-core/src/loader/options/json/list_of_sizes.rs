//! A list of sizes.

use serde::{Deserialize, Deserializer, Serializer};

use super::pair::OneOrTwo;

pub fn serialize<S: Serializer>(sizes: &[(u32, u32)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(sizes.iter().map(|&(width, height)| OneOrTwo::of((height, width))))
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(u32, u32)>, D::Error> {
    let swapped = Option::<Vec<OneOrTwo>>::deserialize(from)?.unwrap_or_default();
    Ok(swapped.into_iter().map(OneOrTwo::both).map(|(height, width)| (width, height)).collect())
}
