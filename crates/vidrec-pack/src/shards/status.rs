//! The progress of a plan.

use serde::Serialize;

use super::plan::PartsPlan;
use vidrec_format::error::Result;

/// The progress of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlanStatus {
    /// The number of parts.
    pub parts: u32,
    /// The number of parts that are done: their receipts exist.
    pub done: u32,
    /// The parts that are not done, in order. Attempts may be working on them.
    pub missing: Vec<u32>,
    /// The number of videos.
    pub videos: u64,
    /// The number of videos of the parts that are done.
    pub videos_done: u64,
    /// The number of videos that one attempt packs in a second, measured over the parts that are done. `None`
    /// before the first.
    pub videos_per_second: Option<f64>,
}

impl PartsPlan {
    /// Checks how far the parts have come. It changes nothing.
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io): the folder cannot be read.
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): a receipt is of another plan.
    pub fn status(&self) -> Result<PlanStatus> {
        let receipts = self.receipts()?;
        let missing: Vec<u32> =
            (0..).zip(&receipts).filter(|(_, receipt)| receipt.is_none()).map(|(part, _)| part).collect();
        let done: Vec<u32> = (0..self.parts()).filter(|part| !missing.contains(part)).collect();
        let videos_done = done.iter().map(|&part| Ok(self.part(part)?.videos)).sum::<Result<u64>>()?;
        let seconds: f64 = receipts.iter().flatten().map(|receipt| receipt.report.seconds).sum();
        Ok(PlanStatus {
            parts: self.parts(),
            done: done.len() as u32,
            missing,
            videos: self.videos(),
            videos_done,
            videos_per_second: (seconds > 0.0).then(|| videos_done as f64 / seconds),
        })
    }
}
