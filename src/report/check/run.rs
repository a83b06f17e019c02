//! Checks all clips of all data sets, and compares them with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;

use super::clip::{CheckedClip, ClipChecker, stops};
use super::duplicates::{self, ComparedClip, found_clip};
use super::finding::{CheckOptions, CheckReport, CheckedSet, FailedVideo, Finding, FindingKind};
use super::rounded_times;
use crate::{Dataset, Error, ProgressFn, Result};
use vidrec_core::progress::Counter;
use vidrec_core::threads;
use vidrec_format::{SectionId, allocation};

/// The number of frames that are decoded between two calls of the progress callback. Longer clips are not divided.
const FRAMES_AT_A_TIME: u64 = 2048;

/// Looks for clips that a person should look at, in one or several data sets.
///
/// Each frame is decoded at an eighth of its size, and its checksum is verified. Four frames of each clip are also
/// decoded larger. Comparing clips with each other takes about 500 bytes of memory for each clip: 500 MB for a
/// million. Clips of different data sets that show nearly the same are leaks, so pass the data sets for training
/// and for testing together. Damage is a finding, not an error. An item of `progress` is a clip.
///
/// The report is the same for any number of threads. The guide `docs/check.md` describes what is reported, and the
/// limits.
///
/// ```no_run
/// use vidrec::Dataset;
/// use vidrec::check::{CheckOptions, check};
///
/// let sets = [Dataset::open("train")?, Dataset::open("val")?];
/// let report = check(&sets, &CheckOptions::default(), &mut vidrec::no_progress)?;
/// for finding in &report.findings {
///     println!("{}: {}", finding.kind, finding.text);
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is no data set, or the distance is too large.
/// [`Io`](vidrec_format::error::ErrorKind::Io): a server cannot be reached.
/// [`Resources`](vidrec_format::error::ErrorKind::Resources): too little memory, threads or file descriptors.
/// [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted): `progress` stopped the call.
pub fn check(sets: &[Dataset], options: &CheckOptions, progress: &mut ProgressFn<'_>) -> Result<CheckReport> {
    if sets.is_empty() {
        return Err(Error::usage("there is no data set to check"));
    }
    if options.distance > CheckOptions::MAX_DISTANCE {
        let e = Error::usage("the maximum distance of near-duplicates is out of range");
        return Err(e.expected(format!("0 to {} bits", CheckOptions::MAX_DISTANCE)).found(options.distance));
    }
    let mut counter = Counter::new(Some(sets.iter().map(Dataset::len).sum()), progress);
    let mut run = CheckRun { sets, options, findings: Vec::new(), compared: Vec::new(), clips: 0, frames: 0 };
    if options.kinds.iter().any(|kind| *kind != FindingKind::Failed) {
        let pool = threads::pool(options.threads)?;
        (0..sets.len()).try_for_each(|set| run.check_clips(set, &pool, &mut counter))?;
    }
    if options.wants(FindingKind::RoundedTimes) {
        for set in 0..sets.len() {
            run.findings.extend(rounded_times::finding(sets, set)?);
        }
    }
    run.findings.extend(duplicates::findings(sets, &run.compared, options, &mut || counter.tell())?);
    let mut failed_videos = vec![0; sets.len()];
    if options.wants(FindingKind::Failed) {
        let (found, counts) = failures(sets)?;
        run.findings.extend(found);
        failed_videos = counts;
    }
    Ok(run.report(&failed_videos))
}

/// The findings so far.
struct CheckRun<'a> {
    sets: &'a [Dataset],
    options: &'a CheckOptions,
    findings: Vec<Finding>,
    /// The clips with hashes.
    compared: Vec<ComparedClip>,
    clips: u64,
    frames: u64,
}

impl CheckRun<'_> {
    /// Checks each clip of a data set by itself.
    fn check_clips(&mut self, set: usize, pool: &rayon::ThreadPool, counter: &mut Counter<'_, '_>) -> Result<()> {
        let (dataset, kinds) = (&self.sets[set], &self.options.kinds);
        let frames = kinds.iter().any(|kind| kind.needs_frames());
        let tables = [SectionId::CLIPS, SectionId::STRINGS, SectionId::FRAMES];
        dataset.prefetch_all(if frames { &tables } else { &tables[..2] })?;
        let mut next = 0;
        while next < dataset.len() {
            let end = together(dataset, next);
            let check = |checker: &mut Result<ClipChecker>, clip: u64| match checker {
                Ok(checker) => checker.check(dataset, clip),
                // This tries again, to get the error.
                Err(_) => ClipChecker::new(kinds).and_then(|mut checker| checker.check(dataset, clip)),
            };
            let check_all = || (next..end).into_par_iter().map_init(|| ClipChecker::new(kinds), check).collect();
            let checked: Vec<Result<CheckedClip>> = pool.install(check_all);
            for (clip, checked) in (next..end).zip(checked) {
                let checked = checked?;
                counter.add(checked.frames, 0)?;
                self.take(set, clip, checked)?;
            }
            next = end;
        }
        Ok(())
    }

    fn take(&mut self, set: usize, clip: u64, checked: CheckedClip) -> Result<()> {
        self.clips += 1;
        self.frames += checked.frames;
        for finding in checked.findings.into_iter().filter(|finding| self.options.wants(finding.kind)) {
            self.findings.push(Finding { clips: vec![found_clip(self.sets, set, clip)], ..finding });
        }
        if let Some(hash) = checked.hash {
            allocation::reserve(&mut self.compared, 1, "the hashes of all clips")?;
            self.compared.push(ComparedClip { set, clip, hash });
        }
        Ok(())
    }

    fn report(mut self, failed_videos: &[u64]) -> CheckReport {
        // The sort is stable. Findings of one kind stay in the order in which they were found, which is that of
        // the clips.
        self.findings.sort_by_key(|finding| finding.kind);
        let mut counts: BTreeMap<FindingKind, u64> = self.options.kinds.iter().map(|&kind| (kind, 0)).collect();
        let mut found_clips = vec![BTreeSet::new(); self.sets.len()];
        for finding in &self.findings {
            *counts.entry(finding.kind).or_default() += 1;
            for clip in &finding.clips {
                found_clips[clip.set].insert(clip.clip);
            }
        }
        let checked = |(i, set): (usize, &Dataset)| CheckedSet {
            location: location(set),
            clips: set.len(),
            frames: set.frame_count(),
            found_clips: found_clips[i].len() as u64,
            failed_videos: failed_videos[i],
        };
        CheckReport {
            sets: self.sets.iter().enumerate().map(checked).collect(),
            clips: self.clips,
            frames: self.frames,
            counts,
            findings: self.findings,
        }
    }
}

/// Returns one finding for each message, those with the most videos first, and one for each list that cannot be
/// read. Also returns the number of failed videos of each data set.
fn failures(sets: &[Dataset]) -> Result<(Vec<Finding>, Vec<u64>)> {
    let mut by_message: BTreeMap<(String, String), Vec<FailedVideo>> = BTreeMap::new();
    let mut found = Vec::new();
    let mut counts = vec![0; sets.len()];
    for (set, dataset) in sets.iter().enumerate() {
        match dataset.failures() {
            Ok(failures) => {
                counts[set] = failures.len() as u64;
                for failure in failures {
                    let video = FailedVideo { set, source: failure.source };
                    by_message.entry((failure.stage, failure.error)).or_default().push(video);
                }
            }
            Err(e) if stops(&e) => return Err(e),
            Err(e) => {
                let text = format!("the list of failures is damaged: {e:#}");
                found.push(Finding::new(FindingKind::Corrupt, None, text));
            }
        }
    }
    let mut grouped: Vec<_> = by_message.into_iter().collect();
    grouped.sort_by_key(|(_, videos)| std::cmp::Reverse(videos.len()));
    found.extend(grouped.into_iter().map(|((stage, message), videos)| {
        let number = match videos.len() {
            1 => "a video was not packed".to_owned(),
            n => format!("{n} videos were not packed"),
        };
        let value = Some(videos.len() as f64);
        Finding { videos, ..Finding::new(FindingKind::Failed, value, format!("{number}: {stage}: {message}")) }
    }));
    Ok((found, counts))
}

/// Returns the end of the clips that are looked at together with clip `first`.
fn together(set: &Dataset, first: u64) -> u64 {
    let mut frames = 0;
    let is_room = |clip: &u64| {
        frames += set.clip(*clip).map_or(1, |clip| u64::from(clip.frame_count()));
        frames <= FRAMES_AT_A_TIME
    };
    (first..set.len()).take_while(is_room).last().unwrap_or(first) + 1
}

fn location(set: &Dataset) -> String {
    let first = set.record_files().next().unwrap_or(Path::new(""));
    first.parent().unwrap_or(first).display().to_string()
}
