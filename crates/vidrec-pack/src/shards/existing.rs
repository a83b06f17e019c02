//! A data set that was packed before from the same inputs, with the clips of each video and the failures.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::plan::PartsPlan;
use super::plan_json::{Difference, PlanJson};
use super::receipt::Receipt;
use super::report::PackReport;
use super::video_report::{of_failed, of_packed};
use crate::plan::{Job, PackPlan};
use crate::work::Failure;
use vidrec_core::dataset::writer::ClipInfo;
use vidrec_core::dataset::{Dataset, OpenOptions, Source};
use vidrec_core::store::storage::Storage;
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME, FailuresJson, ShardJson};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name;

/// A finished data set that was packed from the same plan.
pub(super) struct Existing {
    set: Dataset,
    listing: DatasetJson,
    failures: BTreeMap<u64, Failure>,
    /// The number of clips of each video, which is its number of draws.
    draws: u64,
}

impl Existing {
    /// Opens the data set of a pack at `out`, whose plan is `now`.
    ///
    /// Its settings, versions, classes and the sources of all videos must be those of the plan. This does not check whether
    /// the files of the videos are unchanged.
    pub fn open(out: &Path, plan: &PackPlan, now: &PlanJson, storage: &Storage) -> Result<Self> {
        let options: OpenOptions = storage.clone().into();
        let source = Source::of(out, &options)?;
        let set = Dataset::open_with(out, options)?;
        let path = out.join(FILE_NAME);
        let listing = DatasetJson::prove(&source.read(&path)?).map_err(|e| e.file(path))?;
        let DatasetJson { tool, ffmpeg, settings, classes, .. } = set.to_json();
        let then = PlanJson { tool, ffmpeg, settings, classes, retries: now.retries, ..now.clone() };
        if let Some(Difference { what, then, now }) = then.difference(now) {
            return Err(Error::usage(format!("the data set here was packed differently: {what}"))
                .file(out)
                .expected(then)
                .found(now)
                .help("use the same inputs and options, or pack everything again")
                .hint(Hint::Overwrite));
        }
        let failures = read_failures(out, &source, listing.failures.as_ref())?;
        let draws = u64::from(set.meta().and_then(|meta| meta.draws).unwrap_or(1));
        let existing = Existing { set, listing, failures, draws };
        existing.check(out, plan)?;
        Ok(existing)
    }

    /// Whether there are failures to retry.
    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Whether a video of the plan has no clips.
    pub fn has_failed(&self, place: u64) -> bool {
        self.failures.contains_key(&place)
    }

    fn check(&self, out: &Path, plan: &PackPlan) -> Result<()> {
        let other = |what: String| {
            Error::usage("the data set here was packed from other inputs")
                .file(out)
                .found(what)
                .help("use the same inputs, or pack everything again")
                .hint(Hint::Overwrite)
        };
        let mut clips = 0;
        for (job, source) in self.sources(plan) {
            let stored = match source {
                Ok(range) => {
                    clips = range.end;
                    clips <= self.set.len() && self.set.clip(range.start)?.source()? == job.source
                }
                Err(failure) => failure.source == job.source,
            };
            if !stored {
                return Err(other(format!("no clip of {} at its position", job.source)));
            }
        }
        let last = self.failures.keys().last().copied();
        if clips != self.set.len() || last.is_some_and(|last| last >= plan.jobs.len() as u64) {
            return Err(other(format!("{} clips and {} failures", self.set.len(), self.failures.len())));
        }
        Ok(())
    }

    /// Returns the clips of each video of the plan, or why it has none.
    fn sources<'a>(
        &'a self,
        plan: &'a PackPlan,
    ) -> impl Iterator<Item = (&'a Job, std::result::Result<Range<u64>, &'a Failure>)> {
        let mut next = 0u64;
        plan.jobs.iter().enumerate().map(move |(i, job)| match self.failures.get(&(i as u64)) {
            Some(failure) => (job, Err(failure)),
            None => {
                let first = next;
                next = first.saturating_add(self.draws);
                (job, Ok(first..next))
            }
        })
    }

    /// Returns the report of the run that packed the data set, except for its time.
    pub fn report(&self, plan: &PackPlan) -> Result<PackReport> {
        let mut report = PackReport::new(plan);
        for (job, source) in self.sources(plan) {
            report.add(&self.video_report(job, source)?);
        }
        report.track_bytes = self.listing.shards.iter().map(ShardJson::track_bytes).sum();
        report.bytes = self.listing.bytes + self.set.index_bytes().sum::<u64>() + report.track_bytes;
        report.failures_file = self.listing.failures.as_ref().map(|listed| listed.file.to_string());
        report.resumed_at = Some(report.videos());
        Ok(report.found())
    }

    /// Returns the receipts of the parts of which all videos have clips.
    pub fn receipts(&self, plan: &PackPlan, parts: &PartsPlan) -> Result<Vec<Receipt>> {
        let shards = self.listing.shards.iter().zip(self.set.index_bytes());
        let shards: HashMap<&str, (&ShardJson, u64)> =
            shards.map(|shard| (file_name::stem(&shard.0.record_file), shard)).collect();
        let (mut receipts, mut sources) = (Vec::new(), self.sources(plan));
        for part in 0..parts.parts() {
            let mut report = PackReport::default();
            for (job, source) in sources.by_ref().take(parts.part(part)?.videos as usize) {
                report.add(&self.video_report(job, source)?);
            }
            let Some((shard, index_bytes)) =
                shards.get(&*file_name::shard(part as usize)).filter(|_| report.failed == 0)
            else {
                continue;
            };
            report.track_bytes = shard.track_bytes();
            report.bytes = shard.bytes + index_bytes + report.track_bytes;
            receipts.push(Receipt::new(&parts.digest, part, Some((*shard).clone()), report)?);
        }
        Ok(receipts)
    }

    fn video_report(&self, job: &Job, source: std::result::Result<Range<u64>, &Failure>) -> Result<PackReport> {
        let clips = match source {
            Ok(clips) => clips,
            Err(failure) => return Ok(of_failed(failure.clone())),
        };
        let stored = clips.map(|clip| self.set.clip(clip).and_then(|clip| Ok((clip.info()?, clip.frame_count()))));
        let stored = stored.collect::<Result<Vec<_>>>()?;
        // Other programs may have changed the attributes. In that case nothing is known.
        let facts = stored.last().and_then(|(info, _)| info.attributes.get("video").ok().flatten()).unwrap_or_default();
        let repeated = |info: &ClipInfo| info.attributes.0.get("video")?.get("repeated_frames")?.as_u64();
        let repeated = stored.iter().filter_map(|(info, _)| repeated(info)).sum();
        let clips: Vec<_> = stored.iter().map(|(info, frames)| (info, u64::from(*frames))).collect();
        Ok(of_packed(job, &clips, &facts, repeated))
    }
}

/// Reads the list of failures that the data set names.
fn read_failures(out: &Path, source: &Source, listed: Option<&FailuresJson>) -> Result<BTreeMap<u64, Failure>> {
    let Some(listed) = listed else { return Ok(BTreeMap::new()) };
    let path = out.join(&listed.file);
    let text = String::from_utf8(source.read(&path)?)
        .map_err(|e| Error::usage("the list of failures is not UTF-8 text").file(&path).found(e))?;
    if listed.sha256 != hex(&Sha256::digest(&text)) {
        return Err(Error::format("failures-digest", "the list of failures is not the one that dataset.json lists")
            .file(path)
            .help("pack everything again")
            .hint(Hint::Overwrite));
    }
    let mut failures = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let failure: Failure = serde_json::from_str(line)
            .map_err(|e| Error::usage(format!("line {} does not describe a failure", i + 1)).file(&path).found(e))?;
        failures.insert(failure.item, failure);
    }
    Ok(failures)
}
