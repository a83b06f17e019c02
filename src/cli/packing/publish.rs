//! `vidrec publish`: the parts of a plan become a data set.

use std::path::PathBuf;

use crate::cli::packing::pack::report;
use crate::cli::{Outcome, ProgressArgs, RemoteStorageArgs, Run, output};
use crate::pack::{PartsPlan, PublishOptions};

/// Make a data set of the parts of a plan.
///
/// vidrec checks every receipt and its files, then writes dataset.json as the last file: readers see the whole data set
/// or none. The bytes are those of `vidrec pack` on one machine.
#[derive(clap::Args)]
pub struct Args {
    /// The folder with the plan, or its location in object storage, which becomes the data set.
    plan: PathBuf,
    /// Publish without the parts that are not done, and list their videos among those that were skipped.
    #[arg(long)]
    allow_missing: bool,
    /// Read all files, and check everything that `vidrec verify` checks. Without it vidrec checks the length of each file,
    /// both its ends and the small sections of its index.
    #[arg(long)]
    read_all: bool,
    /// Replace a data set that is already there.
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    storage: RemoteStorageArgs,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

pub fn run(args: &Args) -> Run {
    let plan = PartsPlan::open_at(&args.plan, &args.storage.storage()?)?;
    let mut options = PublishOptions::default();
    (options.allow_missing, options.overwrite) = (args.allow_missing, args.overwrite);
    options.read_all = args.read_all;
    let published = plan.publish(&options, &mut args.progress.of("shards"))?;
    report::tell(&published);
    output::print(args.json, &published, |r| report::summary("published", r, &args.plan))?;
    Ok(if published.is_clean() { Outcome::Done } else { Outcome::Problems })
}
