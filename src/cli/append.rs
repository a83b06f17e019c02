//! `vidrec append`: more shards for a data set.

use std::path::PathBuf;

use crate::edit;

use crate::cli::edit::OutputArgs;
use crate::cli::outcome::Run;
use crate::cli::storage::StorageArgs;

/// Add the clips of data sets to another one, in place, as more shards.
///
/// Its own shards do not change. The new ones become part of it in one step for each added data set, when vidrec replaces
/// dataset.json. Clips that an earlier append of the same data set has added are not added once more, so a command that was
/// interrupted can be repeated. Classes go by name, and the data set must have them already; `vidrec merge` joins lists of classes. JPEGs
/// are copied byte for byte, and their checksums compared.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of the data set that grows.
    dataset: PathBuf,
    /// The data sets to add.
    #[arg(required = true, num_args = 1..)]
    more: Vec<PathBuf>,
    #[command(flatten)]
    how: OutputArgs,
    #[command(flatten)]
    storage: StorageArgs,
}

pub fn run(args: &Args) -> Run {
    if args.how.overwrite {
        return Err("--overwrite has no effect here: append never replaces anything".into());
    }
    let mut reports = Vec::new();
    for more in &args.more {
        let (more, progress) = (args.storage.open(more)?, &mut args.how.progress.of("clips"));
        reports.push(edit::append(&args.dataset, &more, &args.how.options(false), progress)?);
    }
    crate::cli::edit::tell_all(&reports, args.how.json)
}
