//! `vidrec reshard`: the same clips in other shards.

use std::path::PathBuf;

use vidrec::edit;

use crate::edit::{OutputArgs, tell};
use crate::outcome::Run;
use crate::remote_output::RemoteArgs;
use crate::storage::StorageArgs;
use crate::watch;

/// Write a data set with another number or size of shards.
///
/// The order of the clips stays. JPEGs are copied byte for byte, and their checksums compared.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// The folder to make the new data set in, or a location such as s3://bucket/new.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    how: OutputArgs,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub fn run(args: &Args) -> Run {
    if args.how.options(false).shards.is_none() {
        return Err("give --shards N or --shard-size SIZE".into());
    }
    let set = args.storage.open(&args.dataset)?;
    let report = args.how.write(&args.output, &args.storage, &args.remote, |out, options| {
        edit::reshard(&set, out, options, &mut watch::of("clips"))
    })?;
    tell(&report, args.how.json)
}
