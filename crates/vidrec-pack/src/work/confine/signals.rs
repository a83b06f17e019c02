//! Sets up the signals of a decoding process.

use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use super::system::ignore;

/// Leaves signals to the run, which decides what happens to the videos in progress.
///
/// The process also dies with the thread that started it, and other processes of the user cannot look inside it.
///
/// Two kinds of signal need this: schedulers send signals to all processes of a job, and a write to a file that
/// may not grow raises one.
pub(super) fn leave_to_the_run() {
    ignore(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGXFSZ]);
    // A run that has ended before this call has also closed the requests, so this process ends before it gets any
    // work.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
