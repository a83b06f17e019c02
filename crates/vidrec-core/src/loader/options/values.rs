//! Values of options: the error about one that makes no sense, fields that several variants have, and the JSON of values that
//! Rust and Python write in different forms.

use std::fmt::Display;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::byte_size::parse_bytes;
use vidrec_format::error::{self, Error};

/// Returns an error that names the option, unless `holds`.
pub(super) fn require(holds: bool, option: &str, found: impl Display, expected: &str) -> error::Result<()> {
    if holds { Ok(()) } else { Err(Error::usage(format!("loader option {option}")).expected(expected).found(found)) }
}

/// Methods that return an option with another value of a field, for the variants that have it.
macro_rules! setters {
    ($enum:ident: $($(#[$doc:meta])* $name:ident, $field:ident: $type:ty, $($variant:ident)|+;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, new: $type) -> Self {
            #[allow(irrefutable_let_patterns, reason = "all variants may have the field")]
            if let $($enum::$variant { $field, .. })|+ = &mut self {
                *$field = new;
            }
            self
        }
    )+};
}

/// Methods that return the value of a field, or another one for the variants that do not have it.
macro_rules! getters {
    ($enum:ident: $(
        $(#[$doc:meta])* $field:ident: $type:ty, $value:expr, of $($variant:ident)|+, or $default:expr;
    )+) => {$(
        $(#[$doc])*
        pub(crate) fn $field(&self) -> $type {
            #[allow(unreachable_patterns, reason = "all variants may have the field")]
            match *self {
                $($enum::$variant { $field, .. })|+ => $value,
                _ => $default,
            }
        }
    )+};
}

pub(super) use {getters, setters};

/// Reads the default from `null`.
pub fn null_is_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// Reads a value, or the `S` that stands for it, such as a number. Reads the default from `null`.
pub fn short<'de, S, T, D>(from: D) -> Result<T, D::Error>
where
    S: DeserializeOwned + Into<T>,
    T: DeserializeOwned + Default,
    D: Deserializer<'de>,
{
    let value = Value::deserialize(from)?;
    let read = match &value {
        Value::Null => Ok(T::default()),
        Value::Object(_) => serde_json::from_value(value),
        // Some variants of an enum are texts, too.
        Value::String(_) => {
            serde_json::from_value(value.clone()).or_else(|_| serde_json::from_value(value).map(S::into))
        }
        _ => serde_json::from_value(value).map(S::into),
    };
    read.map_err(D::Error::custom)
}

/// A number, or two.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of 0 or more, or two of them")]
pub enum OneOrTwo {
    One(u32),
    Two(u32, u32),
}

impl OneOrTwo {
    fn of((a, b): (u32, u32)) -> Self {
        if a == b { OneOrTwo::One(a) } else { OneOrTwo::Two(a, b) }
    }

    pub fn both(self) -> (u32, u32) {
        match self {
            OneOrTwo::One(a) => (a, a),
            OneOrTwo::Two(a, b) => (a, b),
        }
    }
}

fn swapped((a, b): (u32, u32)) -> (u32, u32) {
    (b, a)
}

/// A module for `#[serde(with)]` that reads and writes a type by way of another one.
macro_rules! form {
    ($(#[$doc:meta])* $name:ident: $type:ty, $form:ty, $write:expr, $read:expr) => {
        $(#[$doc])*
        pub mod $name {
            use crate::loader::options::values::*;
            use serde::Serializer;

            pub fn serialize<S: Serializer>(value: &$type, to: S) -> Result<S::Ok, S::Error> {
                let write: fn(&$type) -> $form = $write;
                write(value).serialize(to)
            }

            pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                let read: fn($form) -> $type = $read;
                <$form>::deserialize(from).map(read)
            }
        }
    };
}

form! {
    /// A range of lengths; as JSON a number if both ends are equal.
    range: Option<(u32, u32)>, Option<OneOrTwo>, |range| range.map(OneOrTwo::of), |read| read.map(OneOrTwo::both)
}

form! {
    /// Width and height; as JSON a number for a square, or height and width.
    size: (u32, u32), OneOrTwo, |&size| OneOrTwo::of(swapped(size)), |read| swapped(read.both())
}

form! {
    /// A size, or none.
    size_or_none: Option<(u32, u32)>, Option<OneOrTwo>,
    |size| size.map(|size| OneOrTwo::of(swapped(size))), |read| read.map(|size| swapped(size.both()))
}

form! {
    /// A list of sizes.
    list_of_sizes: Vec<(u32, u32)>, Option<Vec<OneOrTwo>>,
    |sizes| Some(sizes.iter().map(|&size| OneOrTwo::of(swapped(size))).collect()),
    |read| read.into_iter().flatten().map(|size| swapped(size.both())).collect()
}

/// A number of bytes, or a text such as `1GiB`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number of bytes, or a text such as 1GiB")]
pub enum Bytes {
    Number(u64),
    Text(String),
}

/// Reads a number of bytes; as JSON also a text such as `"1GiB"`.
pub fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    match Bytes::deserialize(from)? {
        Bytes::Number(bytes) => Ok(bytes),
        Bytes::Text(text) => parse_bytes(&text).map_err(D::Error::custom),
    }
}

/// A number of bytes that stands for a value.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Size(#[serde(deserialize_with = "bytes")] pub u64);

/// Reads three numbers, or one that stands for all of them.
pub fn one_or_three<'de, D: Deserializer<'de>>(from: D) -> Result<[f32; 3], D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number, or one for each of three channels")]
    enum OneOrThree {
        One(f32),
        Three([f32; 3]),
    }
    Ok(match OneOrThree::deserialize(from)? {
        OneOrThree::One(number) => [number; 3],
        OneOrThree::Three(numbers) => numbers,
    })
}

/// Reads a range of steps, or their number.
pub fn steps<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(i64, i64)>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number of steps, or the first step and the one after the last")]
    enum Steps {
        Count(i64),
        Range(i64, i64),
    }
    Ok(Option::<Steps>::deserialize(from)?.map(|steps| match steps {
        Steps::Count(count) => (0, count),
        Steps::Range(first, end) => (first, end),
    }))
}
