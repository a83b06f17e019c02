//! `vidrec retile`: the same clips in smaller JPEGs.

use std::path::PathBuf;

use vidrec::edit::{self, Retiling};

use crate::edit::NewSetArgs;
use crate::outcome::Run;
use crate::threads;

/// Write a data set with smaller JPEGs.
///
/// The pixels stay the same, bit for bit: the frames of a clip get Huffman tables that they share and that are the best for
/// all of them. Frames without tiles get those, so that crops can be decoded alone, which loads faster. A clip that would
/// not be smaller stays as it is. vidrec decodes every frame before and after, and compares the two.
///
/// With --quality, coefficients are chosen again, as `vidrec pack` does, and pixels change.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Change pixels: the quality of `vidrec pack`, 1 to 100. It cannot bring back what is lost already.
    #[arg(long, value_name = "QUALITY", value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: Option<u8>,
    /// Threads. [default: one for each core]
    #[arg(long, value_parser = threads::parse)]
    threads: Option<usize>,
    #[command(flatten)]
    new: NewSetArgs,
}

pub fn run(args: &Args) -> Run {
    let set = args.new.storage.open(&args.dataset)?;
    let retiling = Retiling { quality: args.quality, threads: args.threads };
    args.new.write(|out, options| edit::retile(&set, retiling, out, options, &mut args.new.how.progress.of("clips")))
}
