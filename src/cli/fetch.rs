//! `vidrec fetch`: a local copy of a remote data set.

use std::path::PathBuf;

use crate::cli::output::{bytes, count};
use crate::cli::{Outcome, ProgressArgs, Run, StorageArgs, output};
use crate::{FetchOptions, FetchReport};

/// Copy a data set from object storage or a web server to a local folder.
///
/// vidrec fetches the files that dataset.json lists, byte for byte, with many requests at a time, and compares their digests.
/// The copy appears when it is complete. After an interruption, the same command continues where it stopped; vidrec proves
/// what is there like everything else. With --overwrite, it brings an earlier copy up to date, and fetches only what is new.
///
/// `vidrec subset` fetches some of the clips.
#[derive(clap::Args)]
pub struct Args {
    /// The location of the data set, such as s3://bucket/train.
    location: PathBuf,
    /// The folder to make the copy in.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace another data set that is already there.
    #[arg(long)]
    overwrite: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    storage: StorageArgs,
}

pub fn run(args: &Args) -> Run {
    let mut options = FetchOptions::default();
    options.storage = args.storage.storage()?;
    options.overwrite = args.overwrite;
    let mut progress = args.progress.of("bytes");
    let report = crate::fetch(&args.location, &args.output, &options, &mut progress)?;
    drop(progress);
    output::print(args.json, &report, render)?;
    Ok(Outcome::Done.but_left(&report.left_behind))
}

fn render(r: &FetchReport) -> String {
    let (clips, frames, shards) = (count(r.clips, "clip"), count(r.frames, "frame"), count(r.shards, "shard"));
    let kept = if r.kept_bytes > 0 { format!(", {} of it already here", bytes(r.kept_bytes)) } else { String::new() };
    format!(
        "{}: {clips}, {frames}, {} in {shards}{kept}\n  fetched {} with {}\n",
        r.output,
        bytes(r.bytes),
        bytes(r.remote.fetched_bytes),
        count(r.remote.requests, "request"),
    )
}
