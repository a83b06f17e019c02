//! A page about data sets as one file.

use std::path::Path;

use super::check::{CheckOptions, CheckReport, check};
use super::clips::{self, Labels, PageClip};
use super::data::{MOST_FINDINGS, page_data};
use super::figures::{Checked, NamedSet, PageExtent, Report, all_figures};
use super::page::{self, Page, in_script};
use crate::{Dataset, Error, ProgressFn, Result, shown_bytes, write_whole};
use vidrec_core::progress::Counter;
use vidrec_core::store::disk::regular_file::refuse_others;
use vidrec_core::threads;

/// Options of [`report`].
///
/// ```
/// use vidrec::report::ReportOptions;
///
/// let options = ReportOptions { clips: 200, ..ReportOptions::default() };
/// assert_eq!(options.budget, 14_000_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportOptions {
    /// The title of the page. Default: the names of the data sets.
    pub title: Option<String>,
    /// The most clips to show, of all data sets together. Default 1000. If there are more, they are drawn by
    /// class.
    pub clips: u64,
    /// The most bytes that the page may have. Default 14 MB, which mail servers take. To stay within the limit, strips get
    /// smaller first, and then fewer.
    pub budget: u64,
    /// Whether to look for findings in all clips, which decodes every frame. `None`, the default: in all clips if
    /// all data sets are local; otherwise in none.
    pub check: Option<bool>,
    /// The seed for the choice of the clips. Default 0.
    pub seed: u64,
    /// The number of threads that decode frames; `None`, the default, for one per core. The page is the same for
    /// any number.
    pub threads: Option<usize>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions { title: None, clips: 1000, budget: 14_000_000, check: None, seed: 0, threads: None }
    }
}

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
    let datasets: Vec<Dataset> = sets.iter().map(|set| set.set.clone()).collect();
    let is_checked = options.check.unwrap_or(!datasets.iter().any(Dataset::is_remote));
    let check_options = CheckOptions { threads: options.threads, ..CheckOptions::default() };
    let found = is_checked.then(|| check(&datasets, &check_options, progress)).transpose()?;
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let mut report = Report {
        title: options.title.clone().unwrap_or_else(|| names.join(", ")),
        page_bytes: 0,
        shown: None,
        sets: all_figures(sets)?,
        checked: found.as_ref().map(|found| Checked {
            clips: found.clips,
            of_clips: found.clips,
            frames: found.frames,
        }),
        findings: found.as_ref().map(|found| found.counts.clone()),
        notes: vec![check_note(found.as_ref())],
    };
    if let Some(out) = out {
        write(&mut report, sets, found.as_ref(), options, out, progress)?;
    }
    Ok(report)
}

/// Writes the page, and records in the report what it shows.
fn write(
    report: &mut Report,
    sets: &[NamedSet],
    found: Option<&CheckReport>,
    options: &ReportOptions,
    out: &Path,
    progress: &mut ProgressFn<'_>,
) -> Result<()> {
    let labels = sets.iter().map(|set| set.set.labels()).collect::<Result<Vec<Labels>>>()?;
    let all: u64 = sets.iter().map(|set| set.set.len()).sum();
    let findings = found.map_or(&[][..], |found| &found.findings);
    let by_worth = clips::by_worth(&labels, findings, options.clips, options.seed);
    let mut most = MOST_FINDINGS;
    let mut data = in_script(&page_data(report, found, most))?;
    // Findings take half of the page at most.
    while most > 0 && page::empty_bytes(&report.title, &data) > options.budget / 2 {
        most /= 2;
        data = in_script(&page_data(report, found, most))?;
    }
    let empty = page::empty_bytes(&report.title, &data);
    let room = options.budget.checked_sub(empty).ok_or_else(|| {
        Error::usage("the figures alone exceed the budget of the page")
            .expected(format!("at most {} bytes", options.budget))
            .found(empty)
            .help("give a larger budget")
    })?;
    let pool = threads::pool(options.threads)?;
    let mut counter = Counter::new(Some(by_worth.len() as u64), progress);
    let (clips, size) = clips::within(room, &by_worth, sets, &pool, &mut counter)?;
    let longest = report.sets.iter().map(|set| set.stats.most_frames).max().unwrap_or(0);
    let shown = PageExtent {
        clips: clips.len() as u64,
        of_clips: all,
        height: size.height,
        frames: size.frames,
        quality: size.quality,
    };
    report.notes.splice(0..0, clip_notes(&shown, longest, options));
    report.shown = Some(shown);
    let data = in_script(&page_data(report, found, most))?;
    let (list, strips) = elements(&clips);
    let text = Page { title: &report.title, data: &data, more: &list, strips: &strips }.exported();
    report.page_bytes = text.len() as u64;
    write_whole(out, |file| file.write_all(text.as_bytes()))
}

/// Returns the element with the descriptions of the clips, and one for the strip of each, which the browser does not read before
/// the strip is shown.
fn elements(clips: &[PageClip]) -> (String, String) {
    let facts: Vec<&str> = clips.iter().map(|clip| clip.facts.as_str()).collect();
    let list = format!("<script type=\"application/json\" id=\"clip-list\">[{}]</script>\n", facts.join(",\n"));
    let mut strips = String::new();
    for (i, clip) in clips.iter().enumerate().filter(|(_, clip)| !clip.strip.is_empty()) {
        strips += &format!("<script type=\"text/plain\" id=\"strip-{i}\">{}</script>\n", clip.strip);
    }
    (list, strips)
}

/// Returns sentences that say which clips are shown, and how. `longest` is the most frames of a clip.
fn clip_notes(shown: &PageExtent, longest: u32, options: &ReportOptions) -> Vec<String> {
    let PageExtent { clips, of_clips, height, frames, .. } = *shown;
    let mut notes = Vec::new();
    if clips == of_clips {
        notes.push(format!("All {clips} clips are shown."));
    } else {
        notes.push(format!(
            "A sample: {clips} of {of_clips} clips are shown: some of those in findings, then in turn a random one of each \
             class (seed {}).",
            options.seed
        ));
    }
    if longest > frames {
        notes.push(format!("Of clips with more than {frames} frames, {frames} are shown, evenly spread."));
    }
    if clips < of_clips.min(options.clips) {
        let budget = shown_bytes(options.budget);
        notes.push(format!("More clips did not fit into {budget} (--budget), with frames of {height} pixels."));
    }
    notes
}

/// Returns a sentence that says which clips were checked.
fn check_note(found: Option<&CheckReport>) -> String {
    match found {
        Some(found) => format!("Checked: {} clips, {} frames decoded.", found.clips, found.frames),
        None => "Not checked: `vidrec check` finds clips that a person should look at.".into(),
    }
}
