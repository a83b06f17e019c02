//! From clips to shards and a report. Finished work is on disk, so an interrupted run can be resumed.
//!
//! ```text
//! run.rs         writes clips and the journal, in order
//! journal.rs     finished work, on disk; outcome.rs: the result of a video
//! resume.rs      how a run begins; fingerprint.rs: whether it is the same run
//! existing.rs    a data set that was packed before from the same inputs
//! ```

mod existing;
mod fingerprint;
pub(super) mod journal;
mod options;
mod outcome;
mod report;
mod resume;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod run;

pub(super) use existing::Existing;
pub(super) use fingerprint::RunFingerprint;
pub use options::{IfExists, RunOptions};
pub use outcome::Failure;
pub use report::{PackReport, Warning};
pub(super) use resume::{Beginning, find, start};
pub(super) use run::{PackRun, lines};
