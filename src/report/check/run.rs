//! Looks at all clips of all data sets, and compares them with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;

use super::finding::{Finding, FindingKind};
use super::judge::Found;
use super::looking::{Eyes, Seen, Wanted};
use super::measures::Print;
use super::naming::found_clip;
use super::options::CheckOptions;
use super::pairs::Compared;
use super::report::{CheckReport, CheckedSet};
use super::{clocks, failures, pairs};
use vidrec_core::dataset::Dataset;
use vidrec_core::dataset::Tables;
use vidrec_core::progress::{Counter, ProgressFn};
use vidrec_core::threads;
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

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
    refuse(sets, options)?;
    let mut counter = Counter::new(Some(sets.iter().map(Dataset::len).sum()), progress);
    let mut all = Collected::new(sets, options);
    if all.wanted.frames || all.wanted.faults || all.wanted.clocks {
        let pool = threads::pool(options.threads)?;
        (0..sets.len()).try_for_each(|set| all.look_at(set, &pool, &mut counter))?;
    }
    all.into_report(&mut || counter.tell())
}

/// Checks clips that the caller has looked at. Takes the data set, the clip and the result of looking at it, in
/// that order.
pub(crate) fn check_seen(
    sets: &[Dataset],
    seen: Vec<(usize, u64, Seen)>,
    options: &CheckOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<CheckReport> {
    refuse(sets, options)?;
    let (mut some, mut counter) = (Collected::new(sets, options), Counter::new(Some(seen.len() as u64), progress));
    for (set, clip, seen) in seen {
        counter.add(seen.frames, 0)?;
        some.take(set, clip, seen)?;
    }
    some.into_report(&mut || counter.tell())
}

fn refuse(sets: &[Dataset], options: &CheckOptions) -> Result<()> {
    if sets.is_empty() {
        return Err(Error::usage("there is no data set to check"));
    }
    if options.distance > CheckOptions::MAX_DISTANCE {
        let e = Error::usage("the maximum distance of near-duplicates is out of range");
        return Err(e.expected(format!("0 to {} bits", CheckOptions::MAX_DISTANCE)).found(options.distance));
    }
    Ok(())
}

/// The findings so far.
struct Collected<'a> {
    sets: &'a [Dataset],
    options: &'a CheckOptions,
    wanted: Wanted,
    findings: Vec<Finding>,
    /// The clips of `prints`.
    compared: Vec<Compared>,
    prints: Vec<Print>,
    /// The clips of each episode of each data set.
    episodes: BTreeMap<(usize, String), Vec<u64>>,
    clips: u64,
    frames: u64,
}

impl<'a> Collected<'a> {
    fn new(sets: &'a [Dataset], options: &'a CheckOptions) -> Self {
        let (findings, compared, prints, episodes) = Default::default();
        let wanted = Wanted::of(options);
        Collected { sets, options, wanted, findings, compared, prints, episodes, clips: 0, frames: 0 }
    }

    /// Looks at all clips of a data set.
    fn look_at(&mut self, set: usize, pool: &rayon::ThreadPool, counter: &mut Counter<'_, '_>) -> Result<()> {
        let (dataset, wanted) = (&self.sets[set], self.wanted);
        dataset.prefetch_all(Tables { clips: true, frames: wanted.frames, strings: true })?;
        let mut next = 0;
        while next < dataset.len() {
            let end = together(dataset, next);
            let look = |eyes: &mut Result<Eyes>, clip: u64| match eyes {
                Ok(eyes) => eyes.look(dataset, clip, wanted),
                // This tries again, to get the error.
                Err(_) => Eyes::new().and_then(|mut eyes| eyes.look(dataset, clip, wanted)),
            };
            let look_at_all = || (next..end).into_par_iter().map_init(Eyes::new, look).collect();
            let seen: Vec<Result<Seen>> = pool.install(look_at_all);
            for (clip, seen) in (next..end).zip(seen) {
                let seen = seen?;
                counter.add(seen.frames, 0)?;
                self.take(set, clip, seen)?;
            }
            next = end;
        }
        Ok(())
    }

    fn take(&mut self, set: usize, clip: u64, seen: Seen) -> Result<()> {
        self.clips += 1;
        self.frames += seen.frames;
        for Found { kind, frames, value, text } in seen.found {
            if self.options.wants(kind) {
                let clips = vec![found_clip(self.sets, set, clip)];
                self.findings.push(Finding { kind, clips, videos: Vec::new(), frames, value, text });
            }
        }
        if let Some(episode) = seen.episode {
            self.episodes.entry((set, episode)).or_default().push(clip);
        }
        if let Some(print) = seen.print {
            allocation::reserve(&mut self.prints, 1, "the hashes of all clips")?;
            self.prints.push(print);
            self.compared.push(Compared { set, clip });
        }
        Ok(())
    }

    /// Compares the clips with each other, and returns the report. `go_on` may stop the comparison.
    fn into_report(mut self, go_on: &mut impl FnMut() -> Result<()>) -> Result<CheckReport> {
        if self.wanted.prints {
            self.findings.extend(pairs::findings(self.sets, &self.compared, &self.prints, self.options, go_on)?);
        }
        if self.options.wants(FindingKind::Clock) {
            self.findings.extend(clocks::findings(self.sets, &self.episodes)?);
        }
        let mut failed_videos = vec![0; self.sets.len()];
        if self.options.wants(FindingKind::Failed) {
            let (found, counts) = failures::findings(self.sets)?;
            self.findings.extend(found);
            failed_videos = counts;
        }
        Ok(self.told(&failed_videos))
    }

    fn told(mut self, failed_videos: &[u64]) -> CheckReport {
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
