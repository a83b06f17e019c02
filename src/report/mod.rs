//! Writes pages about data sets: one HTML file with figures, clips that play under the pointer, and the findings
//! of a check.
//!
//! The page opens from a disk, loads nothing from a network, and is small enough to send by email. The same page from the
//! server of `vidrec browse` asks for any clip.

pub mod check;

mod answer;
mod clips;
mod data;
mod export;
mod facts;
mod figures;
mod options;
mod page;
mod site;
mod strip;
pub(crate) mod thumbnail;
mod tracks;

#[doc(hidden)]
pub use self::answer::Answer;
pub use self::export::report;
pub use self::figures::{Checked, Report, SetFigures, Shown};
pub use self::options::{NamedSet, ReportOptions};
#[doc(hidden)]
pub use self::site::Site;
