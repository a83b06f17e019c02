//! A data set that was packed before from the same inputs: is it whole, and which videos gave which clips?

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::clip::{ClipFailure, PackStage, PackedClip, PackedFrame};
use super::fingerprint::RunFingerprint;
use super::inputs::{Item, Plan};
use super::outcome::{Outcome, Stored};
use super::report::{Failure, PackReport, Troubles};
use crate::dataset::listing;
use crate::format::data_binding::hex;
use crate::format::dataset_json::{self, FailuresJson};
use crate::format::names;
use crate::video::VideoFacts;
use crate::{ClipInfo, Dataset, Error, Result, edit};

/// A finished data set, beside the plan that it was packed from.
pub(super) struct Existing {
    set: Dataset,
    failures: BTreeMap<u64, Failure>,
    /// Name of their list.
    failures_file: Option<String>,
    /// Clips of each video: its draws.
    draws: u64,
}

impl Existing {
    /// Opens the data set in `out`; `None` if there is none.
    ///
    /// Settings, versions, classes and the names of all videos must be those of the plan. That the files still hold the
    /// same is not known.
    pub fn open(out: &Path, plan: &Plan, now: &RunFingerprint) -> Result<Option<Self>> {
        if !out.join(dataset_json::FILE_NAME).exists() {
            return Ok(None);
        }
        let set = Dataset::open(out)?;
        let json = set.to_json();
        let then = RunFingerprint {
            tool: json.tool,
            ffmpeg: json.ffmpeg,
            settings: json.settings,
            classes: json.classes,
            ..now.clone()
        };
        if let Some((what, old, new)) = then.difference(now) {
            return Err(Error::usage(format!("the data set here was packed in another way: {what}"))
                .file(out)
                .expected(old)
                .found(new)
                .help("take the same inputs and options, or pack all anew (--force)"));
        }
        let listing = listing::read(&out.join(dataset_json::FILE_NAME))?;
        let failures = read_failures(out, listing.failures.as_ref())?;
        let draws = u64::from(set.meta().and_then(|meta| meta.draws).unwrap_or(1));
        let failures_file = listing.failures.map(|listed| listed.file);
        let existing = Existing { set, failures, failures_file, draws };
        existing.check(out, plan)?;
        Ok(Some(existing))
    }

    /// Whether there is something to retry.
    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    fn check(&self, out: &Path, plan: &Plan) -> Result<()> {
        let other = |what: String| {
            Error::usage("the data set here was packed from other inputs")
                .file(out)
                .found(what)
                .help("take the same inputs, or pack all anew (--force)")
        };
        let mut clips = 0;
        for (item, source) in self.sources(plan) {
            let stored = match source {
                Ok(range) => {
                    clips = range.end;
                    clips <= self.set.len() && self.set.clip(range.start)?.source()? == item.source
                }
                Err(failure) => failure.source == item.source,
            };
            if !stored {
                return Err(other(format!("no clip for {} where it should be", item.source)));
            }
        }
        let last = self.failures.keys().last().copied();
        if clips != self.set.len() || last.is_some_and(|last| last >= plan.items.len() as u64) {
            return Err(other(format!("{} clips and {} failures", self.set.len(), self.failures.len())));
        }
        Ok(())
    }

    /// For each video of the plan its clips, or why it has none.
    pub fn sources<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> impl Iterator<Item = (&'a Item, std::result::Result<Range<u64>, &'a Failure>)> {
        let mut next = 0u64;
        plan.items.iter().enumerate().map(move |(i, item)| match self.failures.get(&(i as u64)) {
            Some(failure) => (item, Err(failure)),
            None => {
                let first = next;
                next = first.saturating_add(self.draws);
                (item, Ok(first..next))
            }
        })
    }

    /// What the run that packed it would have reported, but for the time.
    pub fn report(&self, plan: &Plan) -> Result<PackReport> {
        let mut report = PackReport::new(plan);
        for (item, source) in self.sources(plan) {
            let outcome = match source {
                Ok(clips) => self.outcome(clips)?,
                Err(failure) => Outcome::Failed(failure.clone()),
            };
            report.push(item, &outcome);
        }
        report.bytes = self.set.to_json().bytes;
        report.bytes += self.set.index_bytes();
        report.failures_file.clone_from(&self.failures_file);
        report.resumed_at = Some(report.videos());
        Ok(report)
    }

    fn outcome(&self, clips: Range<u64>) -> Result<Outcome> {
        let (mut stored, mut found, mut repeated) = (Vec::new(), VideoFacts::default(), 0);
        for clip in clips {
            let clip = self.set.clip(clip)?;
            let info = edit::as_it_is(&clip)?;
            found = facts(&info);
            let video = info.attributes.get("video");
            repeated += video.and_then(|v| v.get("repeated_frames")).and_then(Value::as_u64).unwrap_or(0);
            stored.push(Stored { info, frames: clip.frame_count() });
        }
        Ok(Outcome::Packed { clips: stored, troubles: Box::new(Troubles::new(&found, repeated)) })
    }

    /// The clips of the video whose first one is `first`, as they were packed; frames are proven by their checksums.
    pub fn copy(&self, first: u64) -> std::result::Result<Vec<PackedClip>, ClipFailure> {
        let clips = first..first.saturating_add(self.draws);
        let copied: Result<Vec<PackedClip>> = clips.map(|clip| self.copy_clip(clip)).collect();
        copied.map_err(|e| ClipFailure::of(PackStage::Copy, &e))
    }

    fn copy_clip(&self, clip: u64) -> Result<PackedClip> {
        let clip = self.set.clip(clip)?;
        let info = edit::as_it_is(&clip)?;
        let (mut jpegs, mut frames) = (Vec::new(), Vec::<PackedFrame>::new());
        for frame in clip.frames() {
            let frame = frame?;
            let source_index = frame.source_index().unwrap_or(u32::MAX);
            let known = frames.iter().find(|f| f.source_index == source_index && source_index != u32::MAX);
            let jpeg = known.map_or(jpegs.len(), |f| f.jpeg);
            if jpeg == jpegs.len() {
                jpegs.push(frame.jpeg().to_vec());
            }
            // After the copy, which it proves, too: what a mapped file has lost stays lost.
            frame.check()?;
            frames.push(PackedFrame { jpeg, pts: frame.pts(), source_index });
        }
        Ok(PackedClip { facts: facts(&info), info, jpegs: Arc::new(jpegs), frames })
    }
}

fn facts(info: &ClipInfo) -> VideoFacts {
    let video = info.attributes.get("video").cloned().unwrap_or_default();
    // Attributes may have been changed by others; then nothing is known.
    serde_json::from_value(video).unwrap_or_default()
}

/// The list of failures, as it is listed; data sets of earlier versions have one that is not.
fn read_failures(out: &Path, listed: Option<&FailuresJson>) -> Result<BTreeMap<u64, Failure>> {
    let path = out.join(listed.map_or(names::FAILURES, |listed| &listed.file));
    let text = match fs::read_to_string(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && listed.is_none() => return Ok(BTreeMap::new()),
        text => text.map_err(|e| Error::io("read", &path, e))?,
    };
    if listed.is_some_and(|listed| listed.sha256 != hex(&Sha256::digest(&text))) {
        return Err(Error::format("failures-digest", "the list of failures is not the one that dataset.json lists")
            .file(path)
            .help("pack all of it again (--force)"));
    }
    let mut failures = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let failure: Failure = serde_json::from_str(line)
            .map_err(|e| Error::usage(format!("line {} is not that of a failure", i + 1)).file(&path).found(e))?;
        failures.insert(failure.item, failure);
    }
    Ok(failures)
}
