//! `vidrec reshard`: the same clips in other shards.

use std::path::PathBuf;

use crate::edit;

use crate::cli::edit::NewSetArgs;
use crate::cli::outcome::Run;

/// Write a data set with another number or size of shards.
///
/// The order of the clips stays. JPEGs are copied byte for byte, and their checksums compared.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    #[command(flatten)]
    new: NewSetArgs,
}

pub fn run(args: &Args) -> Run {
    if args.new.how.options(false).shards.is_none() {
        return Err("give --shards, a number or a size".into());
    }
    let set = args.new.storage.open(&args.dataset)?;
    args.new.write(|out, options| edit::reshard(&set, out, options, &mut args.new.how.progress.of("clips")))
}
