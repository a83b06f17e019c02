//! How a subcommand ends.

/// How a subcommand ended that did what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Done,
    /// There were problems, or inputs were skipped.
    Problems,
    /// There is a report, but what was asked for could not be made.
    #[cfg(feature = "pack")]
    Nothing,
    /// Interrupted before the end; it can be resumed.
    #[cfg(feature = "pack")]
    Interrupted,
}

/// What a subcommand gives: an outcome, or an error for the person who called it.
pub type Run = Result<Outcome, Box<dyn std::error::Error>>;
