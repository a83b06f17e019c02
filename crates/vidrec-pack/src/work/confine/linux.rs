//! Signals, open files and access to files of a worker process on Linux.

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, Scope};
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

/// Signals that the run handles. Terminals and schedulers send them to all processes of a job.
const OF_THE_RUN: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Leaves signals to the run, which decides what happens to the videos in progress.
///
/// The process also dies with the thread that started it, and other processes of the user cannot look inside it.
///
/// It was started with the signals of the run blocked, so none of them has ended it before this call. A write to a file
/// that may not grow raises another signal.
pub(super) fn leave_signals_to_the_run() {
    ignore(&OF_THE_RUN);
    ignore(&[libc::SIGXFSZ]);
    // A run that has ended before this call has also closed the requests, so this process ends before it gets any
    // work.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Lets no signal that is meant for the run reach the processes that this thread starts, from their first moment on.
pub(crate) fn block_signals() {
    block(&OF_THE_RUN);
}

/// Takes access to files, the network and other processes from this thread and the threads that it starts.
///
/// It takes as much as the kernel can. Files that are already open, or that another process hands over, stay
/// usable.
pub(super) fn refuse_files() -> Result<(), RulesetError> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let rules = rules.handle_access(AccessFs::from_all(ABI::V5))?.handle_access(AccessNet::from_all(ABI::V5))?;
    rules.scope(Scope::from_all(ABI::V6))?.create()?.restrict_self()?;
    Ok(())
}

/// Ignores these signals.
fn ignore(signals: &[i32]) {
    for &signal in signals {
        // SAFETY: SIG_IGN runs no code in this process, and a number that is no signal is refused.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Blocks these signals in this thread, and in the processes that it starts.
fn block(signals: &[i32]) {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: the first call initializes the set. The others read it, refuse a number that is no signal, and keep no
    // pointer.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Closes all files except standard input, output and error.
///
/// A process inherits files that were not meant for it if some library of its parent failed to mark them.
pub(super) fn close_other_files() {
    let (first, last, flags) = (3u32, u32::MAX, 0u32);
    // SAFETY: closing a descriptor touches no memory. The code that confines a process has opened nothing in it
    // yet. Any other code that holds a descriptor gets errors from now on.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
}
