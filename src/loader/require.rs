//! How an option that makes no sense is refused.

use std::fmt::Display;

use crate::{Error, Result};

/// An error that names the option, unless `holds`.
pub(super) fn require(holds: bool, option: &str, found: impl Display, expected: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::usage(format!("loader option {option}")).expected(expected).found(found)) }
}
