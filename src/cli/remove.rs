//! `vidrec remove`: a data set without some of its clips, in place.

use std::path::PathBuf;

use crate::cli::clip_list::ConditionArgs;
use crate::cli::edit::print_report;
use crate::cli::{ProgressArgs, Run, local};
use crate::{Dataset, edit};

/// Remove clips from a data set, in its folder and in one step.
///
/// vidrec removes the clips that fit everything that is given. It rewrites only the shards that contain them; the files of all
/// other shards stay. The clips behind a removed one get lower numbers, so name clips by their sources to repeat a
/// command. Labels and class names stay. If the command is killed or the disk fills up, the data set is as it was.
///
/// A FILE names clips as for `vidrec subset`, and may name damaged clips. Of several draws of a video, one in it stands for all.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of the data set.
    #[arg(value_parser = local)]
    dataset: PathBuf,
    #[command(flatten)]
    conditions: ConditionArgs,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

pub fn run(args: &Args) -> Run {
    let selection = args.conditions.selection(&Dataset::open(&args.dataset)?)?;
    print_report(edit::remove(&args.dataset, &selection, &mut args.progress.of("clips"))?, args.json)
}
