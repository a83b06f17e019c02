//! `vidrec plan`: videos in, a plan of parts out.

use std::path::PathBuf;

use crate::cli::output::{bytes, count};
use crate::cli::packing::pack::recipe::RecipeArgs;
use crate::cli::packing::pack::report;
use crate::cli::{Outcome, RemoteStorageArgs, Run, output};
use crate::pack::{PackPlan, WrittenPlan, write_plan};

/// Divide a pack into parts that any number of machines can pack.
///
/// The plan fixes everything that determines the bytes: order, labels, classes, options, size and time of each video,
/// the versions of vidrec and FFmpeg, and where parts begin. Each part becomes a shard, and --shards says how many there are.
/// Then run `vidrec pack PLAN --part I` for each part, in any order, as often as it takes, on any machine that sees the videos
/// and the plan under the same paths.
///
/// `vidrec status PLAN` says how far it is. `vidrec publish PLAN` makes the data set.
#[derive(clap::Args)]
pub struct Args {
    /// Folders, video files, or manifests, as `vidrec pack` takes them.
    #[arg(required = true)]
    input: Vec<PathBuf>,
    /// The folder to make the data set in, or a location in object storage. Until it is published, plan and parts are in its
    /// folder .vidrec.pack.
    #[arg(short, long, value_name = "PLAN")]
    output: PathBuf,
    #[command(flatten)]
    recipe: RecipeArgs,
    #[command(flatten)]
    storage: RemoteStorageArgs,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Run {
    let mut recipe = args.recipe.recipe(&args.input)?;
    recipe.options.input.storage = args.storage.storage()?;
    let plan = PackPlan::for_parts(&recipe.inputs, &recipe.options.input)?;
    // A closed standard error is no failure of the plan.
    report::tell_inputs(&plan.manifests, &plan.notes);
    report::tell_ignored(&plan.passed_over);
    let written = write_plan(&plan, &args.output, &recipe.options)?;
    output::print(args.json, &written, |w| render(w, args))?;
    Ok(Outcome::Done)
}

fn render(w: &WrittenPlan, args: &Args) -> String {
    let out = args.output.display();
    let (fewest, most) = w.part_videos;
    let mut text = format!(
        "planned {}{} ({}) in {} of {} to {}\n",
        count(w.videos, "video"),
        if w.files < w.videos { format!(" in {}", count(w.files, "file")) } else { String::new() },
        bytes(w.bytes),
        count(w.parts.into(), "part"),
        output::grouped(fewest),
        count(most, "video"),
    );
    if w.missing > 0 {
        text +=
            &format!("  {} could not be examined, and will be skipped if still missing\n", count(w.missing, "video"));
    }
    text += &format!("next: vidrec pack {out} --part 0  … to {}, then vidrec publish {out}\n", w.parts - 1);
    text
}
