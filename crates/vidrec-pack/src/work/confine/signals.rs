//! Sets up the signals of a decoding process.

use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use super::system::ignore;

/// Signals that the run handles. Terminals and schedulers send them to all processes of a job.
pub(super) const OF_THE_RUN: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Leaves signals to the run, which decides what happens to the videos in progress.
///
/// The process also dies with the thread that started it, and other processes of the user cannot look inside it.
///
/// It was started with the signals of the run blocked, so none of them has ended it before this call. A write to a file
/// that may not grow raises another signal.
pub(super) fn leave_to_the_run() {
    ignore(&OF_THE_RUN);
    ignore(&[libc::SIGXFSZ]);
    // A run that has ended before this call has also closed the requests, so this process ends before it gets any
    // work.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
