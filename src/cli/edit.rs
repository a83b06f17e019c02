//! Options and reports of the subcommands that make data sets out of data sets.

use std::path::{Path, PathBuf};

use crate::Sharding;
use crate::edit::{EditOptions, EditReport};

use crate::cli::output::{self, bytes, count, printable};
use crate::cli::{Outcome, ProgressArgs, Run, StorageArgs};

/// The options of a new data set, wherever it is to be.
#[derive(clap::Args)]
pub struct NewSetArgs {
    /// The folder to write to, or a location such as s3://bucket/new.
    #[arg(short, long, display_order = 0)]
    pub output: PathBuf,
    /// The number of shards to write, with the same number of clips each; or each:N for N clips in each; or the size at which
    /// another shard begins, such as 1GiB. [default: shards end where those of the input end, but a few clips of each of many
    /// shards share one]
    #[arg(long, value_name = "N|each:N|SIZE")]
    shards: Option<Sharding>,
    /// Replace a data set that is already there.
    #[arg(long)]
    pub overwrite: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub progress: ProgressArgs,
    #[command(flatten)]
    pub storage: StorageArgs,
}

impl NewSetArgs {
    /// The options of the library. Whether it overwrites depends on where the output is.
    pub fn options(&self, overwrite: bool) -> EditOptions {
        EditOptions { shards: self.shards, overwrite }
    }

    /// Makes a data set, and prints the report.
    pub fn write(&self, write: impl FnOnce(&Path, &EditOptions) -> crate::Result<EditReport>) -> Run {
        let place = self.storage.output(&self.output, self.overwrite, self.progress)?;
        let report = place.write(|out, overwrite| write(out, &self.options(overwrite)))?;
        let report = at(report, &self.output);
        print_report(report, self.json)
    }
}

/// The report of an output that was made in a scratch folder, with the place where it is now.
fn at(report: EditReport, output: &Path) -> EditReport {
    if !crate::is_remote(output) {
        return report;
    }
    let mut report = report;
    report.output = output.display().to_string();
    report
}

/// Prints the report of one output. The status is as of [`print_reports`].
pub fn print_report(report: EditReport, json: bool) -> Run {
    output::print(json, &report, render)?;
    Ok(outcome(&[report]))
}

/// Prints the reports of several outputs. The status is 3 if a data set does not have something that was named, or if something could
/// not be cleaned up.
pub fn print_reports(reports: &[EditReport], json: bool) -> Run {
    output::print(json, &reports, |reports| reports.iter().map(render).collect())?;
    Ok(outcome(reports))
}

fn outcome(reports: &[EditReport]) -> Outcome {
    let all_found = reports.iter().all(|r| r.not_found.is_empty());
    let outcome = if all_found { Outcome::Done } else { Outcome::Problems };
    outcome.but_left(reports.iter().flat_map(|r| &r.left_behind))
}

fn render(r: &EditReport) -> String {
    const SHOWN: usize = 10;
    let (clips, frames, shards) = (count(r.clips, "clip"), count(r.frames, "frame"), count(r.shards, "shard"));
    let mut text = format!("{}: {clips}, {frames}, {} in {shards}\n", r.output, bytes(r.bytes));
    for note in &r.notes {
        text += &format!("  {}\n", printable(note));
    }
    for name in r.not_found.iter().take(SHOWN) {
        text += &format!("  not in the data set: {}\n", printable(name));
    }
    if r.not_found.len() > SHOWN {
        text += &format!("  and {} more (--json lists them)\n", r.not_found.len() - SHOWN);
    }
    text
}
