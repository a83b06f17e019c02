//! `vidrec merge`: several data sets as one.

use std::path::PathBuf;

use crate::cli::Run;
use crate::cli::edit::{NewSetArgs, print_report};
use crate::edit;

/// Write several data sets as one: the clips of the first, then those of the second, and so on.
///
/// vidrec joins classes by name: those of the first data set keep their labels, new names get the next ones. It cannot
/// merge data sets with class names and data sets whose labels are plain integers. Where settings differ, the new data
/// set lists them. JPEGs are copied byte for byte, and their checksums compared.
#[derive(clap::Args)]
pub struct Args {
    /// The data sets: their folders, .rec, .vidx or dataset.json files.
    #[arg(required = true, num_args = 1..)]
    datasets: Vec<PathBuf>,
    /// Add the clips to the data set in the folder OUTPUT, in one step, as more shards. Its own shards do not change, and its
    /// classes keep their labels. Where an interrupted command has added the clips, the same command does not add them again.
    #[arg(long, conflicts_with = "overwrite")]
    append: bool,
    #[command(flatten)]
    new: NewSetArgs,
}

pub fn run(args: &Args) -> Run {
    let sets = args.datasets.iter().map(|path| args.new.storage.open(path)).collect::<Result<Vec<_>, _>>()?;
    let progress = &mut args.new.progress.of("clips");
    if args.append {
        return print_report(edit::append(&args.new.output, &sets, &args.new.options(false), progress)?, args.new.json);
    }
    args.new.write(|out, options| edit::merge(&sets, out, options, progress))
}
