//! `vidrec repair`: save what is intact.

use std::path::PathBuf;

use vidrec::{LostClip, PartlyLost, RepairOptions, RepairReport, repair};

use crate::output::{count, grouped};
use crate::{Outcome, Run, clip_count, output};

/// Save what is intact of a damaged data set, and say exactly what is lost.
///
/// Without --output, a lost or damaged index or dataset.json is made anew in place, from the record files and what is left
/// of the old ones, which are kept as *.broken; record files are never changed. Where record files are damaged, --output
/// takes all clips that are whole to a new data set. What checksums do not prove is marked in the clip's attributes
/// under "repair". The exit status is 3 if anything was lost.
#[derive(clap::Args)]
pub struct Args {
    /// The data set: its folder, a dataset.json, a .rec or a .vidx.
    dataset: PathBuf,
    /// Write what is intact to this folder, as a new data set.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Only say what can be saved.
    #[arg(long)]
    dry_run: bool,
    /// Leave out clips that no checksum proves: those of a lost index whose record file is damaged as well.
    #[arg(long)]
    proven_only: bool,
    /// Replace a data set that is already in OUTPUT.
    #[arg(long, requires = "output")]
    force: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Run {
    let options = RepairOptions {
        output: args.output.clone(),
        dry_run: args.dry_run,
        proven_only: args.proven_only,
        overwrite: args.force,
    };
    let report = repair(&args.dataset, &options, &mut clip_count::of("clips"))?;
    output::print(args.json, &report, |r| render(r, args.dry_run))?;
    Ok(match &report {
        r if r.needs_output || !r.lost_nothing() || (r.clips > 0 && r.salvaged == 0) => Outcome::Problems,
        _ => Outcome::Done,
    })
}

/// Lines of each list that are shown; `--json` has all.
const SHOWN: usize = 20;

fn render(r: &RepairReport, dry_run: bool) -> String {
    if r.whole && r.written.is_empty() {
        return format!("nothing to repair: all of {} are intact\n", count(r.clips, "clip"));
    }
    let mut text: String = r.damage.iter().map(|damage| format!("{damage}\n")).collect();
    text += &list(&r.lost, lost);
    text += &list(&r.partly_lost, partly_lost);
    let can = if dry_run || r.needs_output { "can be saved" } else { "saved" };
    let lost: u64 = r.lost.iter().map(|l| l.clips).sum();
    text += &format!("{} of {} {can}, {} lost", grouped(r.salvaged), count(r.clips, "clip"), grouped(lost));
    let unproven = r.partly_lost.iter().filter(|p| p.repair.get("unproven").is_some()).count() as u64;
    if !r.partly_lost.is_empty() {
        text += &format!(
            "; {} without all that was known of them, {} not proven by a checksum",
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
            "nothing was changed: the record files are damaged; --output DIR writes what is intact to a new data set\n";
    }
    if !r.needs_import.is_empty() {
        let changed = if r.written.is_empty() { "nothing was changed: " } else { "" };
        text += &format!("{changed}`vidrec import mxnet` makes the index of {} anew\n", r.needs_import.join(", "));
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
    let source = l.source.as_ref().map(|s| format!(" ({s})")).unwrap_or_default();
    let clips = match l.clips {
        1 => format!("clip {}", l.clip),
        n => format!("clips {} to {}", l.clip, l.clip + n - 1),
    };
    let frames: Vec<String> = l.frames.iter().map(u32::to_string).collect();
    let frames = if frames.is_empty() { String::new() } else { format!(": frames {}", frames.join(", ")) };
    format!("lost: {}, {clips}{source}: {}{frames}\n", l.shard, l.reason)
}

fn partly_lost(p: &PartlyLost) -> String {
    let source = p.source.as_ref().map(|s| format!(" ({s})")).unwrap_or_default();
    format!("saved in part: {}, clip {}{source}: {}\n", p.shard, p.clip, p.repair)
}
