//! `vidrec warm`: fill a cache with a remote data set.

use std::path::PathBuf;

use crate::WarmReport;
use crate::cli::arguments::ClipArgs;
use crate::cli::output::{bytes, count};
use crate::cli::{Outcome, ProgressArgs, Run, StorageArgs, output};
use crate::edit;

/// Fill a cache with a remote data set, so that the first epoch of a training run reads from local disk.
///
/// vidrec fetches with large requests, many at a time, and compares every checksum. It does not fetch what is in the cache
/// already, so after an interruption the same command continues where it stopped. It removes other data sets if they
/// take the room, and keeps below the limit. The exit status is 3 if not all of it fits.
#[derive(clap::Args)]
pub struct Args {
    /// The location of the data set, such as s3://bucket/train. --cache says in which folder to keep it.
    location: PathBuf,
    #[command(flatten)]
    which: ClipArgs,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    storage: StorageArgs,
}

pub fn run(args: &Args) -> Run {
    if !crate::is_remote(&args.location) {
        return Err("this data set is on this machine, so it needs no cache".into());
    }
    let all = args.storage.open(&args.location)?;
    let set = match args.which.selection(|| Ok(all.clone()))? {
        None => all,
        Some(selection) => all.select(edit::subset_clips(&all, &selection)?.clips)?,
    };
    let report = set.warm(&mut args.progress.of("bytes"))?;
    output::print(args.json, &report, render)?;
    Ok(if report.missing_bytes == 0 { Outcome::Done } else { Outcome::Problems })
}

fn render(r: &WarmReport) -> String {
    let kept = if r.kept_bytes > 0 { format!(", {} of it already here", bytes(r.kept_bytes)) } else { String::new() };
    let (fetched, requests) = (bytes(r.remote.fetched_bytes), count(r.remote.requests, "request"));
    let mut text =
        format!("{}, {}{kept}\n  fetched {fetched} with {requests}\n", count(r.clips, "clip"), bytes(r.bytes));
    if r.missing_bytes > 0 {
        let limit = r.cache_bytes.map_or(String::new(), |limit| format!(" of {}", bytes(limit)));
        let (missing, clips) = (bytes(r.missing_bytes), count(r.missing_clips, "clip"));
        text += &format!(
            "  {missing} did not fit into the cache{limit}: {clips} will come from the server in each epoch\n"
        );
    }
    text
}
