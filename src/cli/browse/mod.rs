//! `vidrec browse`: a page that shows data sets, from a server on this machine or as a file.

mod server;

use std::fs;
use std::path::{Path, PathBuf};

use crate::check::CheckReport;
use crate::cli::arguments::parse_threads;
use crate::cli::outcome::stop_at_signal;
use crate::cli::output::{bytes, count, share};
use crate::cli::{Failure, Outcome, ProgressArgs, Run, StorageArgs, local, output};
use crate::report::{NamedSet, Report, ReportOptions, Site, report};

/// Look at data sets in a browser: search, filter, play and flag clips; findings of a check; figures.
///
/// Serves a page on this machine's loopback until Ctrl-C, and prints its address. Nobody without the address can read the
/// page, and other machines cannot reach it. It shows any clip of millions at once, also of data sets in buckets, and compares the
/// checksum of each frame that it shows.
///
/// With --export, writes a page as one file instead, which opens from a disk and loads nothing, so it can be mailed: figures,
/// what a check finds, and all clips or some of each class. `vidrec subset --exclude` reads the list of clips that people
/// flag. Of a remote data set, this reads the index and the clips that are shown; --check reads all.
#[derive(clap::Args)]
pub struct Args {
    /// The data sets.
    #[arg(required = true)]
    dataset: Vec<PathBuf>,
    /// The port to serve at. A fixed one keeps flags from one run to the next. [default: a free one]
    #[arg(long, conflicts_with = "export")]
    port: Option<u16>,
    /// Show what a check has found: the report that `vidrec check --json` printed about the same data sets.
    #[arg(long, value_name = "FILE", conflicts_with = "export")]
    findings: Option<PathBuf>,
    /// Title of the page. [default: the data sets]
    #[arg(long)]
    title: Option<String>,
    /// Write the page as this HTML file, instead of serving it. A file that is there is replaced.
    #[arg(long, value_name = "HTML", value_parser = local)]
    export: Option<PathBuf>,
    /// With --export: the most clips to show. If there are more, those in findings come first, then in turn a random one of
    /// each class.
    #[arg(long, requires = "export", default_value_t = ReportOptions::default().clips, value_name = "N")]
    clips: u64,
    /// With --export: the most bytes that the page may have. Frames are shown smaller, and then fewer clips, to keep it.
    #[arg(long, requires = "export", default_value = "14MB", value_name = "SIZE", value_parser = crate::parse_bytes)]
    budget: u64,
    /// With --export: look for findings in remote data sets too, as `vidrec check` does.
    #[arg(long, requires = "export", conflicts_with = "no_check")]
    check: bool,
    /// With --export: do not look for findings.
    #[arg(long, requires = "export")]
    no_check: bool,
    /// With --export: seed for the choice of the clips.
    #[arg(long, requires = "export", default_value_t = 0)]
    seed: u64,
    /// With --export: threads that decode frames. [default: one for each core]
    #[arg(long, requires = "export", value_parser = parse_threads)]
    threads: Option<usize>,
    /// With --export: print all figures as JSON.
    #[arg(long, requires = "export")]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Args {
    fn options(&self) -> ReportOptions {
        let check = if self.no_check { Some(false) } else { self.check.then_some(true) };
        let (title, threads) = (self.title.clone(), self.threads);
        ReportOptions { title, clips: self.clips, budget: self.budget, check, seed: self.seed, threads }
    }
}

pub fn run(args: &Args) -> Run {
    let open = |path: &PathBuf| args.storage.open(path).map(|set| NamedSet { name: path.display().to_string(), set });
    let sets = args.dataset.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    if let Some(out) = &args.export {
        let figures = report(&sets, Some(out), &args.options(), &mut args.progress.of("clips"))?;
        output::print(args.json, &figures, |figures| render(figures, out))?;
        return Ok(Outcome::Done);
    }
    let found = args.findings.as_deref().map(|path| findings(path, &sets)).transpose()?;
    let site = Site::new(sets, args.title.as_deref(), found.as_ref())?;
    server::serve(site, args.port.unwrap_or(0), stop_at_signal()?)?;
    Ok(Outcome::Done)
}

/// Reads the report of a check of these data sets.
fn findings(path: &Path, sets: &[NamedSet]) -> Result<CheckReport, Failure> {
    let failure = |what: String| format!("{}: {what}; write one with `vidrec check --json`", path.display());
    let text = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let report: CheckReport =
        serde_json::from_slice(&text).map_err(|e| failure(format!("this is not the report of a check: {e}")))?;
    let (checked, given) = (report.sets.len(), sets.len());
    if checked != given {
        return Err(failure(format!("it is about {checked} data sets, and {given} are to be shown")).into());
    }
    let size = |clips, frames| format!("{clips} clips and {frames} frames");
    for (at, (checked, NamedSet { set, .. })) in (1..).zip(report.sets.iter().zip(sets)) {
        let (found, here) = (size(checked.clips, checked.frames), size(set.len(), set.frame_count()));
        if found != here {
            return Err(failure(format!("data set {at} had {found} when it was checked, and has {here}")).into());
        }
    }
    let has = |set: usize, clip: Option<u64>| {
        sets.get(set).is_some_and(|named| clip.is_none_or(|clip| clip < named.set.len()))
    };
    let is_known = report.findings.iter().all(|finding| {
        finding.clips.iter().all(|clip| has(clip.set, Some(clip.clip)))
            && finding.videos.iter().all(|video| has(video.set, None))
    });
    if is_known { Ok(report) } else { Err(failure("a finding is about a clip that is not there".into()).into()) }
}

fn render(figures: &Report, out: &Path) -> String {
    let mut text = String::new();
    if let Some(shown) = &figures.shown {
        let (clips, size) = (share(shown.clips, shown.of_clips, "clip"), bytes(figures.page_bytes));
        text += &format!("wrote {}: {clips}, {size}\n", out.display());
    }
    for (kind, n) in figures.findings.iter().flatten().filter(|(_, n)| **n > 0) {
        text += &format!("  {kind}: {}\n", count(*n, "finding"));
    }
    figures.notes.iter().for_each(|note| text += &format!("  {note}\n"));
    text
}
