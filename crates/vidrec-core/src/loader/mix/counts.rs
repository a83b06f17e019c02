//! The number of samples that a run has used of each source.

/// The use of one source of a mix up to a place in the run: see [`Loader::sources`](crate::loader::Loader::sources).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SourceCount {
    /// The name of the source.
    pub name: String,
    /// The number of its samples that all ranks together have used.
    pub samples: u64,
    /// The number of samples in one round through the source.
    pub samples_per_round: u64,
}

impl SourceCount {
    /// The average number of uses of its samples: its epochs, with a fraction.
    pub fn rounds(&self) -> f64 {
        self.samples as f64 / self.samples_per_round.max(1) as f64
    }
}
