//! From data sets to a page.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use super::class_balance::ClassBalance;
use super::compare::{self, Comparison};
use super::distribution::{self, Distribution};
use super::figures::{Report, SetFigures, Shown};
use super::findings::Group;
use super::json::in_script;
use super::options::{NamedSet, ReportOptions};
use super::survey::Survey;
use super::wall::Wall;
use super::{choice, notes, page};
use crate::check::{CheckOptions, CheckReport, check};
use crate::progress::Counter;
use crate::{Dataset, Error, JsonObject, ProgressFn, Result, stats, threads};

/// Describes data sets, and writes a page about them to `out`, if that is given. A file that is there is replaced.
///
/// The page is one HTML file without any reference to something outside. The same data sets, names and options give the
/// same bytes, for any number of threads. Frames that cannot be decoded are shown in gray.
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
/// [`Usage`](crate::ErrorKind::Usage) if there are no data sets, one is a selection of clips, or the budget is too small for the figures alone;
/// [`Format`](crate::ErrorKind::Format) if an index is damaged; [`Io`](crate::ErrorKind::Io) if something cannot be read or
/// written.
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
    let checked = checked(sets, options, progress)?;
    let mut surveys = sets.iter().map(|set| Survey::of(&set.set, sets.len() > 1)).collect::<Result<Vec<_>>>()?;
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let mut report = Report {
        title: options.title.clone().unwrap_or_else(|| names.join(", ")),
        page_bytes: 0,
        shown: None,
        sets: sets.iter().map(figures).collect::<Result<_>>()?,
        distributions: distribution::all(&surveys),
        comparisons: compare::all(sets, &mut surveys)?,
        findings: checked.as_ref().map(|checked| checked.counts.clone()),
        notes: vec![notes::of_check(checked.as_ref(), options)],
    };
    if let Some(out) = out {
        write(&mut report, checked.as_ref(), &surveys, sets, out, options, progress)?;
    }
    Ok(report)
}

fn checked(sets: &[NamedSet], options: &ReportOptions, progress: &mut ProgressFn<'_>) -> Result<Option<CheckReport>> {
    if !options.check.unwrap_or(!sets.iter().any(|set| set.set.is_remote())) {
        return Ok(None);
    }
    let sets: Vec<Dataset> = sets.iter().map(|set| set.set.clone()).collect();
    let options = CheckOptions { threads: options.threads, ..CheckOptions::default() };
    check(&sets, &options, progress).map(Some)
}

fn figures(set: &NamedSet) -> Result<SetFigures> {
    let json = set.set.to_json();
    Ok(SetFigures {
        name: set.name.clone(),
        bytes: json.bytes,
        fingerprint: set.set.fingerprint(),
        tool: json.tool,
        ffmpeg: json.ffmpeg,
        settings: json.settings,
        draws: set.set.draws(),
        stats: stats(&set.set)?,
    })
}

/// Everything on the page but its clips.
#[derive(Serialize)]
struct Head<'a> {
    title: &'a str,
    /// Says which page this is, where flags are kept.
    key: String,
    sets: Vec<PageSet<'a>>,
    classes: ClassBalance<'a>,
    distributions: &'a [Distribution],
    comparisons: &'a [Comparison],
    findings: Option<Vec<Group<'a>>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct PageSet<'a> {
    name: &'a str,
    clips: u64,
    frames: u64,
    shards: u64,
    seconds: f64,
    bytes: u64,
    epoch_bytes: u64,
    epoch_rgb_bytes: u64,
    classes: usize,
    digest: &'a str,
    tool: &'a str,
    ffmpeg: Option<&'a str>,
    draws: u32,
    short_clips: u64,
    repeated_frames: u64,
    repaired_clips: u64,
    video_notes: &'a std::collections::BTreeMap<String, (u64, u64)>,
    settings: &'a JsonObject,
}

impl<'a> PageSet<'a> {
    fn of(set: &'a SetFigures) -> Self {
        let stats = &set.stats;
        PageSet {
            name: &set.name,
            clips: stats.clips,
            frames: stats.frames,
            shards: stats.shards,
            seconds: stats.seconds_per_clip.sum,
            bytes: set.bytes,
            epoch_bytes: stats.epoch_bytes,
            epoch_rgb_bytes: stats.epoch_rgb_bytes,
            classes: stats.classes.iter().filter(|class| class.label.is_some() && class.clips > 0).count(),
            digest: &set.fingerprint.digest,
            tool: &set.tool,
            ffmpeg: set.ffmpeg.as_deref(),
            draws: set.draws,
            short_clips: stats.short_clips,
            repeated_frames: stats.repeated_frames,
            repaired_clips: stats.repaired_clips,
            video_notes: &stats.video_notes,
            settings: &set.settings,
        }
    }
}

impl<'a> Head<'a> {
    fn of(report: &'a Report, checked: Option<&'a CheckReport>) -> Self {
        let digests: Vec<&str> = report.sets.iter().map(|set| set.fingerprint.digest.as_str()).collect();
        Head {
            title: &report.title,
            key: digests.join("+"),
            sets: report.sets.iter().map(PageSet::of).collect(),
            classes: ClassBalance::of(&report.sets),
            distributions: &report.distributions,
            comparisons: &report.comparisons,
            findings: checked.map(Group::all),
            notes: &report.notes,
        }
    }
}

fn write(
    report: &mut Report,
    checked: Option<&CheckReport>,
    surveys: &[Survey],
    sets: &[NamedSet],
    out: &Path,
    options: &ReportOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<()> {
    let head = in_script(&Head::of(report, checked))?;
    let empty = page::empty_bytes(&report.title, &head);
    let Some(room) = options.budget.checked_sub(empty) else {
        return Err(Error::usage("the figures alone are larger than the page may be")
            .expected(format!("at most {} bytes", options.budget))
            .found(empty)
            .help("give a larger budget"));
    };
    let findings = checked.map_or(&[][..], |checked| &checked.findings);
    let by_worth = choice::by_worth(surveys, findings, options.clips, options.seed);
    let pool = threads::pool(options.threads)?;
    let mut counter = Counter::new(Some(by_worth.len() as u64), progress);
    let wall = Wall::within(room, &by_worth, sets, &pool, &mut counter)?;
    let found: HashSet<(usize, u64)> =
        findings.iter().flat_map(|finding| &finding.clips).map(|clip| (clip.set, clip.clip)).collect();
    let shown = Shown {
        clips: wall.clips.len() as u64,
        of_clips: surveys.iter().map(|survey| survey.labels.len() as u64).sum(),
        height: wall.size.height,
        frames: wall.size.frames,
        quality: wall.size.quality,
    };
    let found = wall.clips.iter().filter(|clip| found.contains(&(clip.place.set, clip.place.clip))).count() as u64;
    let longest = report.sets.iter().map(|set| set.stats.frames_per_clip.max as u64).max().unwrap_or(0);
    report.notes.splice(0..0, notes::of_clips(&shown, longest, found, options));
    report.shown = Some(shown);
    let head = in_script(&Head::of(report, checked))?;
    report.page_bytes = page::write(out, &report.title, &head, &wall.clips)?;
    Ok(())
}
