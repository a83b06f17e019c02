//! The outcome of a subcommand.

/// The outcome of a subcommand that returned no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded.
    Done,
    /// There were problems, or inputs were skipped.
    Problems,
    /// There is a report, but no output.
    #[cfg(feature = "pack")]
    Nothing,
}

/// An error for the user.
pub type Failure = Box<dyn std::error::Error>;

/// The result of a subcommand.
pub type Run = Result<Outcome, Failure>;
