//! The outcome of a subcommand, signals, and the exit status that follows from both.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::output;

/// The outcome of a subcommand that returned no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded.
    Done,
    /// There were problems, or inputs were skipped.
    Problems,
    /// There is a report, but no output.
    Nothing,
}

impl Outcome {
    /// The outcome of work whose output is there, and that could not clean up what is named here, which is said on standard
    /// error.
    pub fn but_left<'a>(self, left_behind: impl IntoIterator<Item = &'a String>) -> Self {
        let mut outcome = self;
        for left in left_behind {
            eprintln!("vidrec: {left}");
            outcome = Outcome::Problems;
        }
        outcome
    }
}

/// An error for the user.
pub type Failure = Box<dyn std::error::Error>;

/// The result of a subcommand.
pub type Run = Result<Outcome, Failure>;

/// The exit status of the program, after saying on standard error what went wrong.
pub fn exit_status(run: Run) -> u8 {
    match run {
        // The output may contain zeros instead of data that was lost.
        Ok(Outcome::Done) if crate::lost_pages() > 0 => {
            output::tell("a file was truncated while it was read, or its disk is failing; do not use the output");
            1
        }
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Problems) => 3,
        Ok(Outcome::Nothing) => 1,
        // The reader of the output has closed it.
        Err(e) if output::is_broken_pipe(e.as_ref()) => 0,
        Err(e) => {
            output::print_error(e.as_ref());
            // A signal may also have ended another program, such as one that gets credentials, which is no fault.
            let is_stopped = STOP.load(Ordering::Relaxed) || output::is_interruption(e.as_ref());
            if is_stopped { INTERRUPTED } else { 1 }
        }
    }
}

/// The exit status after Ctrl-C or SIGTERM.
const INTERRUPTED: u8 = 130;

/// The flag of the program: true once it is to end.
pub static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Lets the first signal from now on set [`STOP`], for a clean end. The second one ends the program.
pub fn stop_at_signal() -> io::Result<&'static AtomicBool> {
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the first signal finds the flag false and sets it, and only the next one ends the program.
        flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&STOP))?;
        flag::register(signal, Arc::clone(&STOP))?;
    }
    Ok(&STOP)
}
