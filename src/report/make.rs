//! Makes a page from data sets.

use std::collections::HashSet;
use std::path::Path;

use super::choice::{self, Chosen, Labels};
use super::figures::{Checked, Report, SetFigures, Shown};
use super::findings;
use super::head::Head;
use super::json::in_script;
use super::notes;
use super::options::{Extent, NamedSet, ReportOptions};
use super::page;
use super::wall::{Wall, Workshop};
use crate::report::check::{CheckOptions, CheckReport, Finding, Wanted, check, check_seen};
use vidrec_core::dataset::{Dataset, Stats, stats_of};
use vidrec_core::progress::Counter;
use vidrec_core::progress::ProgressFn;
use vidrec_core::store::disk::regular_file::refuse_others;
use vidrec_core::threads;
use vidrec_format::error::{Error, Result};

/// Describes data sets, and writes a page about them to `out` if a path is given. Replaces an existing file.
///
/// The page is one HTML file that refers to nothing outside of it. The same data sets, names and options produce
/// the same bytes, for any number of threads. Frames that cannot be decoded are shown in gray. For a remote data
/// set, this reads the index and the clips that are shown, unless all clips are to be checked.
///
/// ```no_run
/// use vidrec::report::{NamedSet, ReportOptions, report};
///
/// let sets = [NamedSet { name: "train".into(), set: vidrec::Dataset::open("train")? }];
/// let figures = report(&sets, Some("train.html".as_ref()), &ReportOptions::default(), &mut vidrec::no_progress)?;
/// println!("{} bytes", figures.page_bytes);
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if there are no data sets, one is a selection of clips, or
/// the budget is too small for the figures alone; [`Format`](vidrec_format::error::ErrorKind::Format) if an index
/// is damaged; [`Io`](vidrec_format::error::ErrorKind::Io) if something cannot be read or written.
pub fn report(
    sets: &[NamedSet],
    out: Option<&Path>,
    options: &ReportOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<Report> {
    if sets.is_empty() {
        return Err(Error::usage("there are no data sets to report on"));
    }
    if let Some(selection) = sets.iter().find(|set| set.set.is_selection()) {
        return Err(
            Error::usage("a report is about whole data sets, not about selections of clips").file(&selection.name)
        );
    }
    out.map_or(Ok(()), refuse_others)?;
    let job = Job { sets, options, extent: options.extent(sets) };
    let found =
        (job.extent == Extent::All).then(|| check(&job.datasets(), &job.check_options(), progress)).transpose()?;
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let mut report = Report {
        title: options.title.clone().unwrap_or_else(|| names.join(", ")),
        page_bytes: 0,
        shown: None,
        sets: all_figures(sets)?,
        checked: None,
        findings: None,
        notes: Vec::new(),
    };
    match out {
        Some(out) => job.write(&mut report, found, out, progress)?,
        None => job.describe_check(&mut report, found.as_ref()),
    }
    Ok(report)
}

/// Returns the figures of data sets, with distributions in bins that all of them share.
pub(super) fn all_figures(sets: &[NamedSet]) -> Result<Vec<SetFigures>> {
    let stats = stats_of(&sets.iter().map(|set| set.set.clone()).collect::<Vec<_>>())?;
    Ok(sets.iter().zip(stats).map(|(set, stats)| figures(set, stats)).collect())
}

fn figures(set: &NamedSet, stats: Stats) -> SetFigures {
    let json = set.set.to_json();
    SetFigures {
        name: set.name.clone(),
        bytes: json.bytes,
        fingerprint: set.set.fingerprint(),
        tool: json.tool,
        ffmpeg: json.ffmpeg,
        settings: json.settings,
        draws: set.set.draws(),
        stats,
    }
}

/// The data sets and options of a call.
struct Job<'a> {
    sets: &'a [NamedSet],
    options: &'a ReportOptions,
    extent: Extent,
}

impl Job<'_> {
    fn datasets(&self) -> Vec<Dataset> {
        self.sets.iter().map(|set| set.set.clone()).collect()
    }

    fn check_options(&self) -> CheckOptions {
        CheckOptions { threads: self.options.threads, ..CheckOptions::default() }
    }

    /// Writes the page, and records in the report what it shows. `found` is the result of a check of all clips.
    fn write(
        &self,
        report: &mut Report,
        mut found: Option<CheckReport>,
        out: &Path,
        progress: &mut ProgressFn<'_>,
    ) -> Result<()> {
        let findings = found.as_ref().map_or(&[][..], |found| &found.findings);
        let labels = self.sets.iter().map(|set| set.set.labels()).collect::<Result<Vec<Labels>>>()?;
        let by_worth = choice::by_worth(&labels, findings, self.options.clips, self.options.seed);
        self.describe_check(report, found.as_ref());
        let head = in_script(&Head::of(report, found.as_ref(), findings::MOST))?;
        let room = self.room(page::empty_bytes(&report.title, &head))?;
        let for_findings = if self.extent == Extent::Shown { findings::room(room, by_worth.len()) } else { 0 };
        let mut wall = self.wall(room - for_findings, &by_worth, progress)?;
        self.describe_wall(report, &wall, findings);
        if self.extent == Extent::Shown {
            found = Some(check_seen(&self.datasets(), wall.take_seen(), &self.check_options(), progress)?);
            self.describe_check(report, found.as_ref());
        }
        let mut most = findings::MOST;
        let mut head = in_script(&Head::of(report, found.as_ref(), most))?;
        while most > 0 && page::empty_bytes(&report.title, &head) + wall.bytes() > self.options.budget {
            most /= 2;
            head = in_script(&Head::of(report, found.as_ref(), most))?;
        }
        report.page_bytes = page::write(out, &report.title, &head, &wall.clips)?;
        Ok(())
    }

    /// Returns the bytes of the page that are left for clips.
    fn room(&self, empty: u64) -> Result<u64> {
        let too_small = || {
            Error::usage("the figures alone exceed the budget of the page")
                .expected(format!("at most {} bytes", self.options.budget))
                .found(empty)
                .help("give a larger budget")
        };
        self.options.budget.checked_sub(empty).ok_or_else(too_small)
    }

    /// Makes the clips with their strips. If only the shown clips are checked, looks at them at the same time.
    fn wall(&self, room: u64, by_worth: &[Chosen], progress: &mut ProgressFn<'_>) -> Result<Wall> {
        // Clips that happen to lie next to each other are no reason to read ahead.
        let pool = threads::pool(self.options.threads)?;
        let looks_for = (self.extent == Extent::Shown).then(|| Wanted::of(&self.check_options()));
        let mut counter = Counter::new(Some(by_worth.len() as u64), progress);
        Wall::within(room, by_worth, &Workshop { sets: self.sets, pool: &pool, looks_for }, &mut counter)
    }

    /// Notes in the report which clips are shown, and how. `findings` are those that clips were chosen for.
    fn describe_wall(&self, report: &mut Report, wall: &Wall, findings: &[Finding]) {
        let clips: HashSet<(usize, u64)> =
            findings.iter().flat_map(|finding| &finding.clips).map(|clip| (clip.set, clip.clip)).collect();
        let shown = Shown {
            clips: wall.clips.len() as u64,
            of_clips: self.clips(),
            height: wall.size.height,
            frames: wall.size.frames,
            quality: wall.size.quality,
        };
        let of_findings = wall.clips.iter().filter(|clip| clips.contains(&(clip.place.set, clip.place.clip))).count();
        let longest = report.sets.iter().map(|set| u64::from(set.stats.most_frames)).max().unwrap_or(0);
        report
            .notes
            .splice(0..0, notes::of_clips(&shown, (longest, of_findings as u64, wall.enlarged()), self.options));
        report.shown = Some(shown);
    }

    /// Notes in the report what was checked, and replaces the earlier note.
    fn describe_check(&self, report: &mut Report, found: Option<&CheckReport>) {
        report.checked =
            found.map(|found| Checked { clips: found.clips, of_clips: self.clips(), frames: found.frames });
        report.findings = found.map(|found| found.counts.clone());
        report.notes.pop();
        report.notes.push(notes::of_check(report.checked.as_ref(), self.extent));
    }

    /// Returns the number of clips of all data sets.
    fn clips(&self) -> u64 {
        self.sets.iter().map(|set| set.set.len()).sum()
    }
}
