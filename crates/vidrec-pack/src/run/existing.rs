//! A data set that was packed before from the same inputs, with the clips of each video and the failures.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::fingerprint::{Difference, RunFingerprint};
use super::journal::JournalSummary;
use super::options::IfExists;
use super::outcome::{Failure, Outcome, Stored, Troubles};
use super::report::PackReport;
use crate::plan::{Job, PackPlan};
use crate::video::VideoFacts;
use crate::work::{Copies, video_facts};
use vidrec_dataset::Source;
use vidrec_dataset::{Dataset, OpenOptions, edit};
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json;
use vidrec_format::dataset_json::{DatasetJson, FailuresJson, ShardJson};
use vidrec_format::error::ErrorKind;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_store::location::is_of_network;
use vidrec_store::storage::Storage;

/// A finished data set that was packed from the same plan.
pub(crate) struct Existing {
    set: Dataset,
    failures: BTreeMap<u64, Failure>,
    /// The name of the list of failures.
    failures_file: Option<String>,
    /// The number of clips of each video, which is its number of draws.
    draws: u64,
}

impl Existing {
    /// Finds the finished data set that a run continues from, because it is complete or its failures are to be
    /// retried.
    ///
    /// # Errors
    ///
    /// There is no data set in which to retry the failures, or the data set was packed in another way.
    pub fn find(
        out: &Path,
        plan: &PackPlan,
        if_exists: IfExists,
        fingerprint: &RunFingerprint,
        interrupted: Option<&JournalSummary>,
    ) -> Result<Option<Self>> {
        // A run that is half published can only be resumed.
        if interrupted.is_some_and(|run| run.complete.is_some()) {
            return Ok(None);
        }
        let none = || {
            Error::usage("there is no data set here to retry the failed videos of")
                .file(out)
                .help("pack it first, with the same inputs and options")
        };
        match if_exists {
            IfExists::RetryFailed => Self::open(out, plan, fingerprint)?.ok_or_else(none).map(Some),
            IfExists::Resume if interrupted.is_none() => Self::open(out, plan, fingerprint),
            _ => Ok(None),
        }
    }

    /// Opens the data set in `out`. Returns `None` if there is none.
    ///
    /// Its settings, versions, classes and the sources of all videos must be those of the plan. This does not
    /// check whether the files of the videos are unchanged.
    fn open(out: &Path, plan: &PackPlan, now: &RunFingerprint) -> Result<Option<Self>> {
        if !out.join(dataset_json::FILE_NAME).exists() {
            return Ok(None);
        }
        Self::open_in(out, plan, now, &OpenOptions::default()).map(Some)
    }

    /// Finds the finished data set of the same run at a location. Returns `None` if there is none, or a different
    /// one.
    pub fn find_at(out: &Path, plan: &PackPlan, now: &RunFingerprint, storage: &Storage) -> Result<Option<Self>> {
        match Self::open_in(out, plan, now, &storage.clone().into()) {
            Err(e) if is_of_network(&e) || e.kind() == ErrorKind::Interrupted => Err(e),
            found => Ok(found.ok()),
        }
    }

    fn open_in(out: &Path, plan: &PackPlan, now: &RunFingerprint, options: &OpenOptions) -> Result<Self> {
        let source = Source::of(out, options)?;
        let set = Dataset::open_with(out, options.clone())?;
        let json = set.to_json();
        let then = RunFingerprint {
            tool: json.tool,
            ffmpeg: json.ffmpeg,
            settings: json.settings,
            classes: json.classes,
            ..now.clone()
        };
        if let Some(Difference { what, then, now }) = then.difference(now) {
            return Err(Error::usage(format!("the data set here was packed differently: {what}"))
                .file(out)
                .expected(then)
                .found(now)
                .help("use the same inputs and options, or pack everything again")
                .hint(Hint::Overwrite));
        }
        let path = out.join(dataset_json::FILE_NAME);
        let listing = DatasetJson::prove(&source.read(&path)?).map_err(|e| e.file(path))?;
        let failures = read_failures(out, &source, listing.failures.as_ref())?;
        let draws = u64::from(set.meta().and_then(|meta| meta.draws).unwrap_or(1));
        let failures_file = listing.failures.map(|listed| listed.file.into());
        let existing = Existing { set, failures, failures_file, draws };
        existing.check(out, plan)?;
        Ok(existing)
    }

    /// Whether there are failures to retry.
    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty()
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

    /// Returns the clips that exist, by the places of their videos.
    pub fn copies(&self, plan: &PackPlan) -> Copies<'_> {
        let first = self.sources(plan).map(|(_, clips)| clips.ok().map(|clips| clips.start)).collect();
        Copies { set: &self.set, draws: self.draws, first }
    }

    /// Returns the report of the run that packed the data set, except for its time.
    pub fn report(&self, plan: &PackPlan) -> Result<PackReport> {
        let mut report = PackReport::new(plan);
        for (job, source) in self.sources(plan) {
            let outcome = match source {
                Ok(clips) => self.outcome(clips)?,
                Err(failure) => Outcome::Failed(failure.clone()),
            };
            report.push(job, &outcome);
        }
        let json = self.set.to_json();
        report.track_bytes = json.shards.iter().map(ShardJson::track_bytes).sum();
        report.bytes = json.bytes + self.set.index_bytes() + report.track_bytes;
        report.failures_file.clone_from(&self.failures_file);
        report.resumed_at = Some(report.videos());
        report.was_there = true;
        Ok(report)
    }

    fn outcome(&self, clips: Range<u64>) -> Result<Outcome> {
        let (mut stored, mut found, mut repeated) = (Vec::new(), VideoFacts::default(), 0);
        for clip in clips {
            let clip = self.set.clip(clip)?;
            let info = edit::as_it_is(&clip)?;
            found = video_facts(&info);
            let video = info.attributes.0.get("video");
            repeated += video.and_then(|v| v.get("repeated_frames")).and_then(Value::as_u64).unwrap_or(0);
            stored.push(Stored { info, frames: clip.frame_count() });
        }
        Ok(Outcome::Packed { clips: stored, troubles: Box::new(Troubles::new(&found, repeated)) })
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
