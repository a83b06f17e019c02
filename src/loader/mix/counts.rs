//! How much a run has used of each source.

/// How much a run has used of a source of a mix, up to some place: see [`Loader::sources`](crate::Loader::sources).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SourceCount {
    /// The name of the source.
    pub name: String,
    /// Samples of it that all ranks together have used.
    pub samples: u64,
    /// Samples in a round through all of it.
    pub samples_per_round: u64,
}

impl SourceCount {
    /// How often its samples have been used, on average: its epochs, with a fraction.
    pub fn rounds(&self) -> f64 {
        self.samples as f64 / self.samples_per_round.max(1) as f64
    }
}
