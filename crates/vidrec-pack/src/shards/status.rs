//! The progress of a plan.

use std::path::Path;

use serde::Serialize;

use super::plan::PartsPlan;
use vidrec_core::dataset::{OpenOptions, Source};
use vidrec_core::store::storage::Storage;
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME};
use vidrec_format::error::{Hint, Result};

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

/// Checks how far the plan at a location has come. It changes nothing. Of a plan that has become a data set, all parts are
/// done.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io): the location cannot be read.
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is no plan, or a receipt is of another one.
pub fn plan_status(location: impl AsRef<Path>, storage: &Storage) -> Result<PlanStatus> {
    let location = location.as_ref();
    let none = match PartsPlan::open_at(location, storage) {
        Err(e) if e.hints().contains(&Hint::Plan) => e,
        plan => return plan?.status(),
    };
    let options: OpenOptions = storage.clone().into();
    let listing = Source::of(location, &options).and_then(|source| source.read(&location.join(FILE_NAME)));
    let published = listing.and_then(|bytes| DatasetJson::prove(&bytes)).map_err(|_| none)?;
    let failed = published.failures.map_or(0, |failures| failures.count);
    let videos = (published.clips / u64::from(published.draws.unwrap_or(1).max(1))).saturating_add(failed);
    let parts = published.shards.len() as u32;
    Ok(PlanStatus { parts, done: parts, missing: Vec::new(), videos, videos_done: videos, videos_per_second: None })
}

impl PartsPlan {
    fn status(&self) -> Result<PlanStatus> {
        let receipts = self.receipts()?;
        let missing: Vec<u32> =
            (0..).zip(&receipts).filter(|(_, receipt)| receipt.is_none()).map(|(part, _)| part).collect();
        let seconds: f64 = receipts.iter().flatten().map(|receipt| receipt.report.seconds).sum();
        let videos_done: u64 = receipts.iter().flatten().map(|receipt| receipt.report.videos()).sum();
        Ok(PlanStatus {
            parts: self.parts(),
            done: self.parts() - missing.len() as u32,
            missing,
            videos: self.videos(),
            videos_done,
            videos_per_second: (seconds > 0.0).then(|| videos_done as f64 / seconds),
        })
    }
}
