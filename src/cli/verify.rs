//! `vidrec verify`: check that a data set is intact.

use std::path::PathBuf;

use crate::cli::output::{count, printable};
use crate::cli::{Outcome, ProgressArgs, Run, StorageArgs, output};
use crate::{VerifyOptions, VerifyReport};

/// Check that a data set is intact: structure, ids and every checksum.
///
/// Reports all problems, not only the first. The exit status is 3 if there are any.
#[derive(clap::Args)]
pub struct Args {
    /// The data set: its folder, a .rec, a .vidx or a dataset.json, or its location, such as s3://bucket/train.
    dataset: PathBuf,
    /// Also decode every frame.
    #[arg(long)]
    deep: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    storage: StorageArgs,
}

pub fn run(args: &Args) -> Run {
    let report = crate::verify(
        &args.dataset,
        VerifyOptions { deep: args.deep, storage: args.storage.storage()? },
        &mut args.progress.of("frames"),
    )?;
    report.notes.iter().for_each(output::tell);
    output::print(args.json, &report, |r| render(r, args.deep))?;
    output::tell_next(&report.hints);
    Ok(if report.ok { Outcome::Done } else { Outcome::Problems })
}

fn render(r: &VerifyReport, deep: bool) -> String {
    let what = if deep { "structure, ids, checksums and images" } else { "structure, ids and checksums" };
    let size = format!("{}, {}", count(r.clips, "clip"), count(r.frames, "frame"));
    if r.ok {
        return format!("intact: {size}; {what} are correct\n");
    }
    let mut text = String::new();
    for p in &r.problems {
        text += &format!("{}: {}\n", p.kind, printable(&p.message));
    }
    text + &format!("{} in {size}\n", count(r.problems.len() as u64, "problem"))
}
