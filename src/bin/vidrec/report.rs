//! `vidrec report`: a page about data sets.

use std::path::PathBuf;

use vidrec::report::{NamedSet, Report, ReportOptions, report};

use crate::output::{bytes, count, share};
use crate::progress::ProgressArgs;
use crate::storage::{StorageArgs, local};
use crate::{Outcome, Run, output, threads};

/// Write a page about data sets: figures, clips that play under the pointer, and what a check has found.
///
/// The page is one HTML file that opens from a disk and loads nothing, so it can be mailed. Clips can be searched, sorted
/// and flagged; `vidrec subset --exclude` reads the list of the flagged ones. Of several data sets, such as two versions
/// or train and val, the page shows one beside the other.
///
/// Of a remote data set, this reads the index and the clips that are shown, and checks only these; --check reads all.
#[derive(clap::Args)]
pub struct Args {
    /// The data sets.
    #[arg(required = true)]
    dataset: Vec<PathBuf>,
    /// The HTML file to write. A file that is there is replaced.
    #[arg(short, long, value_name = "HTML", value_parser = local, required_unless_present = "json")]
    output: Option<PathBuf>,
    /// Title of the page. [default: the data sets]
    #[arg(long)]
    title: Option<String>,
    /// The most clips to show. If there are more, those in findings come first, then in turn a random one of each class.
    #[arg(long, default_value_t = ReportOptions::default().clips, value_name = "N")]
    clips: u64,
    /// The most bytes that the page may have. Frames are shown smaller, and then fewer clips, to keep it.
    #[arg(long, default_value = "14MB", value_name = "SIZE", value_parser = vidrec::parse_bytes)]
    budget: u64,
    /// Look for findings in all clips of remote data sets too, as `vidrec check` does, and not only in those that are
    /// shown.
    #[arg(long, conflicts_with = "no_check")]
    check: bool,
    /// Do not look for findings.
    #[arg(long)]
    no_check: bool,
    /// Seed for the choice of the clips.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads that decode frames. [default: one for each core]
    #[arg(long, value_parser = threads::parse)]
    threads: Option<usize>,
    /// Print all figures as JSON.
    #[arg(long)]
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
    let figures = report(&sets, args.output.as_deref(), &args.options(), &mut args.progress.of("clips"))?;
    output::print(args.json, &figures, |figures| render(figures, args))?;
    Ok(Outcome::Done)
}

fn render(figures: &Report, args: &Args) -> String {
    let mut text = String::new();
    if let (Some(shown), Some(path)) = (&figures.shown, &args.output) {
        let (clips, size) = (share(shown.clips, shown.of_clips, "clip"), bytes(figures.page_bytes));
        text += &format!("wrote {}: {clips}, {size}\n", path.display());
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
