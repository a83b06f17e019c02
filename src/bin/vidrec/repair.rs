//! `vidrec repair`: save the intact clips.

use std::path::PathBuf;

use vidrec::{LostClip, PartlyLost, RepairOptions, RepairReport, repair};

use crate::output::{count, grouped, printable};
use crate::progress::ProgressArgs;
use crate::{Outcome, Run, output};

/// Save the intact clips of a damaged data set, and list exactly what is lost.
///
/// Without --output, vidrec rebuilds a lost or damaged index or dataset.json in place, from the record files and what
/// survives of the old ones, which it keeps as *.broken. It never changes record files. If record files are damaged,
/// --output writes all intact clips to a new data set. The attribute "repair" of a clip says what no checksum proves.
/// The exit status is 3 if anything was lost.
#[derive(clap::Args)]
pub struct Args {
    /// The data set: its folder, a dataset.json, a .rec or a .vidx.
    dataset: PathBuf,
    /// Write the intact clips to this folder, as a new data set.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Only list what can be saved.
    #[arg(long)]
    dry_run: bool,
    /// Save only clips that a checksum proves intact, so none from a lost index if the record file is damaged too.
    #[arg(long)]
    proven_only: bool,
    /// Replace an existing data set in OUTPUT.
    #[arg(long, requires = "output")]
    overwrite: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

pub fn run(args: &Args) -> Run {
    let options = RepairOptions {
        output: args.output.clone(),
        dry_run: args.dry_run,
        proven_only: args.proven_only,
        overwrite: args.overwrite,
    };
    let report = repair(&args.dataset, &options, &mut args.progress.of("clips"))?;
    output::print(args.json, &report, |r| render(r, args.dry_run))?;
    let outcome = match &report {
        r if r.needs_output || !r.lost_nothing() || (r.clips > 0 && r.salvaged == 0) => Outcome::Problems,
        _ => Outcome::Done,
    };
    Ok(outcome.but_left(&report.left_behind))
}

/// The number of lines of each list that are shown. `--json` has all.
const SHOWN: usize = 20;

fn render(r: &RepairReport, dry_run: bool) -> String {
    if r.whole && r.written.is_empty() {
        return format!("nothing to repair: {} intact\n", count(r.clips, "clip"));
    }
    let mut text: String = r.damage.iter().map(|damage| format!("{}\n", printable(damage))).collect();
    text += &list(&r.lost, lost);
    text += &list(&r.partly_lost, partly_lost);
    let can = if dry_run || r.needs_output { "can be saved" } else { "saved" };
    let lost: u64 = r.lost.iter().map(|l| l.clips).sum();
    text += &format!("{} of {} {can}, {} lost", grouped(r.salvaged), count(r.clips, "clip"), grouped(lost));
    let unproven = r.partly_lost.iter().filter(|p| p.repair.contains("unproven")).count() as u64;
    if !r.partly_lost.is_empty() {
        text += &format!(
            "; {} without some of their metadata, {} not proven by a checksum",
            grouped(r.partly_lost.len() as u64),
            grouped(unproven)
        );
    }
    text += "\n";
    for written in &r.written {
        text += &format!("wrote {written}\n");
    }
    if r.needs_output && r.needs_import.is_empty() {
        text +=
            "nothing was changed: record files are damaged; --output DIR writes the intact clips to a new data set\n";
    }
    if !r.needs_import.is_empty() {
        let changed = if r.written.is_empty() { "nothing was changed: " } else { "" };
        let files = printable(&r.needs_import.join(", "));
        text += &format!("{changed}`vidrec import mxnet --in-place --overwrite` rebuilds the index of {files}\n");
    }
    text
}

fn list<T>(items: &[T], line: impl Fn(&T) -> String) -> String {
    let mut text: String = items.iter().take(SHOWN).map(line).collect();
    if items.len() > SHOWN {
        text += &format!("and {} more (--json lists them)\n", grouped((items.len() - SHOWN) as u64));
    }
    text
}

fn lost(l: &LostClip) -> String {
    let source = l.source.as_ref().map(|s| format!(" ({})", printable(s))).unwrap_or_default();
    let clips = match l.clips {
        1 => format!("clip {}", l.clip),
        n => format!("clips {} to {}", l.clip, l.clip + n - 1),
    };
    let frames: Vec<String> = l.frames.iter().map(u32::to_string).collect();
    let frames = if frames.is_empty() { String::new() } else { format!(": frames {}", frames.join(", ")) };
    format!("lost: {}, {clips}{source}: {}{frames}\n", printable(&l.shard), printable(&l.reason))
}

fn partly_lost(p: &PartlyLost) -> String {
    let source = p.source.as_ref().map(|s| format!(" ({})", printable(s))).unwrap_or_default();
    format!("partly saved: {}, clip {}{source}: {}\n", printable(&p.shard), p.clip, printable(&p.repair.to_string()))
}
