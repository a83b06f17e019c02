//! A number of bytes; as JSON also a text such as `"1GiB"`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::byte_size::parse_bytes;

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
