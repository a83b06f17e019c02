//! Headings of options in the help.

/// Of the options on how a pack is done.
pub const RUN: &str = "Run";
