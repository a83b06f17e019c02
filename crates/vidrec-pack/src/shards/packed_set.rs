//! A data set that was packed before from the same inputs.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::plan::{Difference, PartsPlan, PlanJson};
use super::receipt::Receipt;
use super::report::PackReport;
use crate::plan::PackPlan;
use crate::work::Failure;
use vidrec_core::dataset::{Dataset, OpenOptions, Source, listing};
use vidrec_core::store::storage::Storage;
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME, ShardJson};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name;

/// A finished data set that was packed from the same plan.
pub(super) struct PackedSet {
    set: Dataset,
    listing: DatasetJson,
    /// The videos without clips, by their places in the plan.
    failures: BTreeMap<u64, Failure>,
}

impl PackedSet {
    /// Opens the data set at `out`, if it was packed from the plan `now`.
    ///
    /// Its settings, versions, classes and the sources of all videos must be those of the plan. This does not check whether
    /// the files of the videos are unchanged.
    pub fn open(out: &Path, plan: &PackPlan, now: &PlanJson, storage: &Storage) -> Result<Self> {
        let options: OpenOptions = storage.clone().into();
        let source = Source::of(out, &options)?;
        let set = Dataset::open_with(out, options)?;
        let path = out.join(FILE_NAME);
        let listing = listing::read(&path, &source)?;
        let DatasetJson { tool, ffmpeg, settings, classes, .. } = set.to_json();
        let then = PlanJson { tool, ffmpeg, settings, classes, ..now.clone() };
        if let Some(Difference { what, then, now }) = then.difference(now) {
            return Err(Error::usage(format!("the data set here was packed differently: {what}"))
                .file(out)
                .expected(then)
                .found(now)
                .help("use the same inputs and options, or pack everything again")
                .hint(Hint::Overwrite));
        }
        let failures: Vec<Failure> = listing::read_failures(&path, &listing, &source)?;
        let failures = failures.into_iter().map(|failure| (failure.item, failure)).collect();
        let packed = PackedSet { set, listing, failures };
        packed.check_sources(plan).map_err(|e| e.file(out))?;
        Ok(packed)
    }

    /// Whether there are failures to retry.
    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Whether the video at a place of the plan has no clips.
    pub fn has_failed(&self, place: u64) -> bool {
        self.failures.contains_key(&place)
    }

    /// Returns the report of a pack that has nothing to do. It has what the files of the data set list.
    pub fn report(self, plan: &PackPlan) -> PackReport {
        let PackedSet { set, listing, failures } = self;
        let mut report = PackReport::new(plan);
        (report.clips, report.frames, report.failed) = (listing.clips, listing.frames, failures.len() as u64);
        report.track_bytes = listing.shards.iter().map(ShardJson::track_bytes).sum();
        report.bytes = listing.bytes + set.index_bytes().sum::<u64>() + report.track_bytes;
        report.failures = failures.into_values().collect();
        report.failures_file = listing.failures.map(|listed| listed.file.to_string());
        report.videos = plan.jobs.len() as u64;
        report.resumed_at = Some(report.videos);
        report.found()
    }

    /// Returns the receipts of the parts of which all videos have clips: their shards stay.
    pub fn receipts(&self, parts: &PartsPlan) -> Result<Vec<Receipt>> {
        let shards = self.listing.shards.iter().zip(self.set.index_bytes());
        let shards: HashMap<&str, _> = shards.map(|shard| (file_name::stem(&shard.0.record_file), shard)).collect();
        let mut receipts = Vec::new();
        for part in 0..parts.parts() {
            let range = parts.range(part)?;
            let stem = file_name::shard(part as usize);
            let Some((shard, index_bytes)) = shards.get(&*stem) else { continue };
            if self.failures.range(range.clone()).next().is_some() {
                continue;
            }
            let track_bytes = shard.track_bytes();
            let report = PackReport {
                videos: range.end - range.start,
                clips: shard.clips,
                frames: shard.frames,
                bytes: shard.bytes + index_bytes + track_bytes,
                track_bytes,
                ..PackReport::default()
            };
            receipts.push(Receipt::new(&parts.digest, part, Some((*shard).clone()), report)?);
        }
        Ok(receipts)
    }

    /// Checks that each video of the plan has its clips at its position, or is a failure.
    fn check_sources(&self, plan: &PackPlan) -> Result<()> {
        let PackedSet { set, failures, .. } = self;
        let other = |what: String| {
            Error::usage("the data set here was packed from other inputs")
                .found(what)
                .help("use the same inputs, or pack everything again")
                .hint(Hint::Overwrite)
        };
        let draws = u64::from(set.meta().draws.unwrap_or(1));
        let mut clips = 0u64;
        for (place, job) in (0..).zip(&plan.jobs) {
            let is_stored = match failures.get(&place) {
                Some(failure) => failure.source == job.source,
                None => {
                    let first = clips;
                    clips = first.saturating_add(draws);
                    clips <= set.len() && set.clip(first)?.source()? == job.source
                }
            };
            if !is_stored {
                return Err(other(format!("no clip of {} at its position", job.source)));
            }
        }
        if clips != set.len() || failures.keys().any(|&place| place >= plan.jobs.len() as u64) {
            return Err(other(format!("{} clips and {} failures", set.len(), failures.len())));
        }
        Ok(())
    }
}
