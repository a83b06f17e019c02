//! `vidrec cache`: look after the parts of remote data sets that are kept on disk.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::WarmReport;
use crate::cache::{CacheReport, CachedReport, RemovalReport};
use crate::cli::clips::ClipArgs;
use crate::cli::output::{bytes, count, printable};
use crate::cli::{Outcome, ProgressArgs, Run, StorageArgs, output};
use crate::edit;

/// Warm, show or clear a cache: a folder with parts of remote data sets.
///
/// Loaders and commands share it and keep it below its limit by themselves. What is removed while a process needs it is
/// fetched again.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    Warm(Warm),
    Show(Show),
    Clear(Clear),
}

/// Fill a cache with a remote data set, so that the first epoch of a training run reads from local disk.
///
/// vidrec fetches with large requests, many at a time, and compares every checksum. It does not fetch what is in the cache
/// already, so after an interruption the same command continues where it stopped. It removes other data sets if they
/// take the room, and keeps below the limit. The exit status is 3 if not all of it fits.
#[derive(clap::Args)]
struct Warm {
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

/// List the objects in a cache, and how much of each is there.
#[derive(clap::Args)]
struct Show {
    /// The cache's folder.
    dir: PathBuf,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// Remove all objects, or those from one place.
#[derive(clap::Args)]
struct Clear {
    /// The cache's folder.
    dir: PathBuf,
    /// Remove only objects whose location begins with this, such as s3://bucket/train.
    #[arg(long, value_name = "PREFIX")]
    location: Option<String>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Run {
    match &args.action {
        Action::Warm(args) => return warm(args),
        Action::Show(args) => output::print(args.json, &crate::cache::show(&args.dir)?, shown)?,
        Action::Clear(args) => {
            let report = crate::cache::clear(&args.dir, args.location.as_deref())?;
            output::print(args.json, &report, removed)?;
        }
    }
    Ok(Outcome::Done)
}

fn warm(args: &Warm) -> Run {
    if !crate::is_remote(&args.location) {
        return Err("this data set is on this machine, so it needs no cache".into());
    }
    let all = args.storage.open(&args.location)?;
    let set = match args.which.selection(|| Ok(all.clone()))? {
        None => all,
        Some(selection) => all.select(edit::subset_clips(&all, &selection)?.clips)?,
    };
    let report = set.warm(&mut args.progress.of("bytes"))?;
    output::print(args.json, &report, warmed)?;
    Ok(if report.missing_bytes == 0 { Outcome::Done } else { Outcome::Problems })
}

fn warmed(r: &WarmReport) -> String {
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

fn shown(report: &CacheReport) -> String {
    let mut text: String = report.objects.iter().map(line).collect();
    text += &format!("{}, {} here", count(report.objects.len() as u64, "object"), bytes(report.bytes));
    if let Some(limit) = report.limit {
        text += &format!(" of a limit of {}", bytes(limit));
    }
    text + "\n"
}

fn line(object: &CachedReport) -> String {
    let share = (object.bytes as f64 / object.length.max(1) as f64 * 100.0).min(100.0);
    let used = object.last_used.map_or_else(|| "at an unknown time".into(), ago);
    let (here, length) = (bytes(object.bytes), bytes(object.length));
    let (location, version) = (printable(&object.location), printable(&object.version));
    format!("{location}: {here} of {length} ({share:.0} %), last used {used}, version {version}\n")
}

/// The age of a time in seconds since 1970, in words.
fn ago(then: u64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let passed = Duration::from_secs(now.saturating_sub(then)).as_secs();
    match passed {
        0..60 => "just now".into(),
        60..3600 => format!("{} min ago", passed / 60),
        3600..86_400 => format!("{} h ago", passed / 3600),
        _ => format!("{} ago", count(passed / 86_400, "day")),
    }
}

fn removed(report: &RemovalReport) -> String {
    format!("removed {}; {} left\n", bytes(report.removed_bytes), bytes(report.bytes))
}
