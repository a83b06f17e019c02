//! Writes pages about data sets: one HTML file with figures, clips that play under the pointer, and the findings
//! of a check.
//!
//! The page opens from a disk, loads nothing from a network, and is small enough to send by email. The same page from the
//! server of `vidrec browse` asks for any clip.

pub mod check;

mod answer;
mod choice;
mod class_balance;
mod facts;
mod figures;
mod findings;
mod head;
mod json;
mod make;
mod notes;
mod options;
mod page;
mod shrink;
mod site;
mod strip;
mod template;
mod tracks;
mod wall;

#[doc(hidden)]
pub use self::answer::Answer;
pub use self::figures::{Checked, Report, SetFigures, Shown};
pub use self::make::report;
pub use self::options::{NamedSet, ReportOptions};
#[doc(hidden)]
pub use self::site::Site;
