//! `vidrec reshard`: the same clips in other shards.

use std::path::PathBuf;

use vidrec::edit;

use crate::edit::{OutputArgs, tell};
use crate::outcome::Run;
use crate::storage::StorageArgs;
use crate::watch;

/// Write a data set with another number or size of shards.
///
/// The order of the clips stays. JPEGs are copied byte for byte, and their checksums compared.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// The folder to make the new data set in.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    how: OutputArgs,
    #[command(flatten)]
    storage: StorageArgs,
}

pub fn run(args: &Args) -> Run {
    let options = args.how.options();
    if options.shards.is_none() {
        return Err("say how: --shards N or --shard-size SIZE".into());
    }
    let report = edit::reshard(&args.storage.open(&args.dataset)?, &args.output, &options, &mut watch::of("clips"))?;
    tell(&report, args.how.json)
}
