//! The outcome of a subcommand.

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
