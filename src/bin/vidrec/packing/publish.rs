//! `vidrec publish`: the parts of a plan become a data set.

use std::path::PathBuf;

use vidrec::pack::{PartsPlan, PublishOptions};

use crate::outcome::{Outcome, Run};
use crate::output;
use crate::packing::pack::report;
use crate::progress::ProgressArgs;
use crate::storage::RemoteStorageArgs;

/// Make a data set of the parts of a plan.
///
/// vidrec checks every receipt and its files, then writes dataset.json as the last file: readers see the whole data set
/// or none. The bytes are those of `vidrec pack` on one machine.
#[derive(clap::Args)]
pub struct Args {
    /// The plan's folder, or its location in object storage.
    plan: PathBuf,
    /// The folder of the data set. Its files are hard links to those in the plan's folder, or copies where that is not
    /// possible. Of a plan in object storage: a location in the same bucket; its server copies the files. [default: the plan's
    /// folder, where nothing is copied]
    #[arg(short, long)]
    output: Option<PathBuf>,
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
    options.out.clone_from(&args.output);
    (options.allow_missing, options.overwrite) = (args.allow_missing, args.overwrite);
    (options.read_all, options.only_publisher) = (args.read_all, args.storage.only_publisher());
    let published = plan.publish(&options, &mut args.progress.of("shards"))?;
    report::tell(&published);
    let out = args.output.as_ref().unwrap_or(&args.plan);
    output::print(args.json, &published, |r| report::render_published(r, out))?;
    Ok(if published.is_clean() { Outcome::Done } else { Outcome::Problems })
}
