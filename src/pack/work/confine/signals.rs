//! Signals of a process that decodes.

use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use super::system::ignore;

/// Leaves signals to the run, which decides what becomes of the videos in hand; dies with the thread that started this
/// process; and lets no other process of the user look inside.
///
/// Schedulers send signals to all processes of a job, and a file that may not grow raises one.
pub(super) fn leave_to_the_run() {
    ignore(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGXFSZ]);
    // A run that has ended by now has closed the requests as well, so this process ends before there is anything to do.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
