//! Fields of options: the error about a value that makes no sense, and fields that several variants have.

use std::fmt::Display;

use vidrec_format::error::{Error, Result};

/// Returns an error that names the option, unless `holds`.
pub(super) fn require(holds: bool, option: &str, found: impl Display, expected: &str) -> Result<()> {
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
