//! The error for an option that makes no sense.

use std::fmt::Display;

use vidrec_format::error::{Error, Result};

/// Returns an error that names the option, unless `holds`.
pub(super) fn require(holds: bool, option: &str, found: impl Display, expected: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::usage(format!("loader option {option}")).expected(expected).found(found)) }
}
