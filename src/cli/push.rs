//! `vidrec push`: a local data set, in object storage.

use std::path::PathBuf;

use crate::cli::output::{bytes, count};
use crate::cli::{Outcome, ProgressArgs, RemoteStorageArgs, Run, output};
use crate::{PushOptions, PushReport};

/// Copy a data set from a local folder to object storage.
///
/// vidrec uploads the files that dataset.json lists, byte for byte, with many requests at a time, and compares their digests
/// as it reads them. dataset.json comes last, so the data set appears in one step when it is complete. After an interruption,
/// the same command continues where it stopped: files that are there already are not uploaded again.
///
/// If two push to the same location at a time, one of them wins, and the other one fails. With --overwrite, a data set that is
/// there is replaced in one step, and then the files that only it had are removed.
#[derive(clap::Args)]
pub struct Args {
    /// The data set: its folder.
    dataset: PathBuf,
    /// Where to copy it to, such as s3://bucket/train.
    location: PathBuf,
    /// Replace another data set that is already there.
    #[arg(long)]
    overwrite: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    storage: RemoteStorageArgs,
}

pub fn run(args: &Args) -> Run {
    let storage = args.storage.storage()?;
    let options = PushOptions { storage, overwrite: args.overwrite, scratch: None };
    let report = crate::push(&args.dataset, &args.location, &options, &mut args.progress.of("bytes"))?;
    output::print(args.json, &report, render)?;
    Ok(Outcome::Done.but_left(&report.notes))
}

fn render(r: &PushReport) -> String {
    let (clips, frames, shards) = (count(r.clips, "clip"), count(r.frames, "frame"), count(r.shards, "shard"));
    let what = format!("{}: {clips}, {frames}, {} in {shards}", r.output, bytes(r.bytes));
    let removed = if r.removed > 0 { format!(", {} removed", count(r.removed, "old file")) } else { String::new() };
    if r.found {
        return format!("{what}, all of it already there{removed}\n");
    }
    let kept = if r.kept_bytes > 0 { format!(", {} of it already there", bytes(r.kept_bytes)) } else { String::new() };
    format!("{what}{kept}{removed}\n  uploaded with {}\n", count(r.remote.requests, "request"))
}
