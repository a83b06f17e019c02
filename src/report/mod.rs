//! Writes pages about data sets: one HTML file with figures, clips that play under the pointer, and the findings
//! of a check.
//!
//! The page opens from a disk, loads nothing from a network, and is small enough to send by email. The same page from the
//! server of `vidrec browse` asks for any clip.

pub mod check;

mod clips;
mod data;
mod export;
mod facts;
mod figures;
mod page;
mod site;
mod strip;
mod tracks;

pub use self::export::{ReportOptions, report};
pub use self::figures::{Checked, NamedSet, PageExtent, Report, SetFigures};
#[doc(hidden)]
pub use self::site::Site;
pub(crate) use self::strip::thumbnail;
#[doc(hidden)]
pub use self::tracks::Answer;
