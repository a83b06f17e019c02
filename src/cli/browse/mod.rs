//! `vidrec browse`: a page that shows data sets, from a server on this machine or as a file.

mod answer;
mod findings;
mod server;

use std::path::{Path, PathBuf};

use crate::report::{NamedSet, Report, ReportOptions, Site, report};

use crate::cli::outcome::Failure;
use crate::cli::output::{bytes, count, share};
use crate::cli::progress::ProgressArgs;
use crate::cli::storage::{StorageArgs, local};
use crate::cli::{Outcome, Run, output, threads};

/// Look at data sets in a browser: search, filter, play and flag clips; findings of a check; figures.
///
/// Serves a page on this machine's loopback until Ctrl-C, and prints its address. Nobody without the address can read the
/// page, and other machines cannot reach it. It shows any clip of millions at once, also of data sets in buckets, and compares the
/// checksum of each frame that it shows.
///
/// With --export, writes a page as one file instead, which opens from a disk and loads nothing, so it can be mailed: figures,
/// what a check finds, and all clips or some of each class. `vidrec subset --exclude` reads the list of clips that people
/// flag. Of a remote data set, this reads the index and the clips that are shown, and checks only these; --check reads all.
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
    /// With --export: look for findings in all clips of remote data sets too, as `vidrec check` does, and not only in those
    /// that are shown.
    #[arg(long, requires = "export", conflicts_with = "no_check")]
    check: bool,
    /// With --export: do not look for findings.
    #[arg(long, requires = "export")]
    no_check: bool,
    /// With --export: seed for the choice of the clips.
    #[arg(long, requires = "export", default_value_t = 0)]
    seed: u64,
    /// With --export: threads that decode frames. [default: one for each core]
    #[arg(long, requires = "export", value_parser = threads::parse)]
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
    let found = args.findings.as_deref().map(|path| findings::read(path, &sets)).transpose()?;
    serve(Site::new(sets, args.title.as_deref(), found.as_ref())?, args.port)?;
    Ok(Outcome::Done)
}

fn serve(site: Site, port: Option<u16>) -> Result<(), Failure> {
    let stop = crate::cli::interrupt::flag()?;
    server::serve(site, port.unwrap_or(0), &stop)
}

fn render(figures: &Report, out: &Path) -> String {
    let mut text = String::new();
    if let Some(shown) = &figures.shown {
        let (clips, size) = (share(shown.clips, shown.of_clips, "clip"), bytes(figures.page_bytes));
        text += &format!("wrote {}: {clips}, {size}\n", out.display());
    }
    let found = figures.findings.iter().flatten().filter(|(_, n)| **n > 0);
    for (kind, n) in found {
        text += &format!("  {kind}: {}\n", count(*n, "finding"));
    }
    for note in &figures.notes {
        text += &format!("  {note}\n");
    }
    text
}
