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

/// The result of a subcommand: an outcome, or an error for the user.
pub type Run = Result<Outcome, Box<dyn std::error::Error>>;
