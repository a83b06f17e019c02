//! `vidrec cache`: look after the parts of remote data sets that are kept on disk.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::cache::{CacheReport, CachedReport, RemovalReport};
use crate::cli::output::{bytes, count, printable};
use crate::cli::{Outcome, Run, output};

/// Show, trim or clear a cache: a folder with parts of remote data sets.
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
    Show(Show),
    Trim(Trim),
    Clear(Clear),
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

/// Remove blocks of objects, those that were used longest ago first, until the others fit.
#[derive(clap::Args)]
struct Trim {
    /// The cache's folder.
    dir: PathBuf,
    /// The most bytes to keep, such as 500GB or 20GiB; 0 keeps nothing.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    bytes: u64,
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

fn size(text: &str) -> Result<u64, crate::Error> {
    if text == "0" { Ok(0) } else { crate::parse_bytes(text) }
}

pub fn run(args: &Args) -> Run {
    let (report, json) = match &args.action {
        Action::Show(show) => {
            output::print(show.json, &crate::cache::show(&show.dir)?, shown)?;
            return Ok(Outcome::Done);
        }
        Action::Trim(trim) => (crate::cache::trim(&trim.dir, trim.bytes)?, trim.json),
        Action::Clear(clear) => (crate::cache::clear(&clear.dir, clear.location.as_deref())?, clear.json),
    };
    output::print(json, &report, removed)?;
    Ok(Outcome::Done)
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
