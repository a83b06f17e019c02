//! `vidrec merge`: several data sets as one.

use std::path::PathBuf;

use crate::edit;

use crate::cli::edit::NewSetArgs;
use crate::cli::outcome::Run;

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
    #[command(flatten)]
    new: NewSetArgs,
}

pub fn run(args: &Args) -> Run {
    let sets = args.datasets.iter().map(|path| args.new.storage.open(path)).collect::<Result<Vec<_>, _>>()?;
    args.new.write(|out, options| edit::merge(&sets, out, options, &mut args.new.how.progress.of("clips")))
}
