//! `vidrec verify`: is it whole?

use std::path::PathBuf;

use vidrec::{VerifyOptions, VerifyReport};

use crate::output::count;
use crate::{Outcome, Run, clip_count, output};

/// Prove that a data set is whole: structure, ids, every checksum.
///
/// Reports every problem, not only the first; the exit status is then 3.
#[derive(clap::Args)]
pub struct Args {
    /// The data set: its folder, a .rec, a .vidx or a dataset.json.
    dataset: PathBuf,
    /// Decode every frame as well.
    #[arg(long)]
    deep: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Run {
    let report = vidrec::verify(&args.dataset, VerifyOptions { deep: args.deep }, &mut clip_count::of("frames"))?;
    report.notes.iter().for_each(|note| eprintln!("vidrec: {note}"));
    output::print(args.json, &report, |r| render(r, args.deep))?;
    Ok(if report.ok { Outcome::Done } else { Outcome::Problems })
}

fn render(r: &VerifyReport, deep: bool) -> String {
    let what = if deep { "structure, ids, checksums and pictures" } else { "structure, ids and checksums" };
    let size = format!("{}, {}", count(r.clips, "clip"), count(r.frames, "frame"));
    if r.ok {
        return format!("whole: {size}; {what} are right\n");
    }
    let mut text = String::new();
    for p in &r.problems {
        text += &format!("{}: {}\n", p.kind, p.message);
    }
    text + &format!("{} in {size}\n", count(r.problems.len() as u64, "problem"))
}
