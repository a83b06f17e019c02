//! `vidrec pack`: videos in, a data set out.

mod parts;
pub mod recipe;
pub mod report;
mod run_args;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cli::{Outcome, RemoteStorageArgs, Run, local, output};
use crate::pack::{PackOptions, PackPlan, Recipe, estimate, pack_plan, serve};

/// Sample frames from videos and write them as a data set.
///
/// vidrec skips a video it cannot read and lists it in OUTPUT/failures-*.jsonl; the exit status is then 3.
///
/// vidrec packs one shard after another. After a crash, a full disk or Ctrl-C, the same command with --if-exists resume
/// keeps the shards that are complete and packs the others, and the result is byte for byte that of a run that was not
/// interrupted. At Ctrl-C (or SIGTERM) vidrec waits for the videos in hand; a second one stops it at once. The exit status is
/// then 130.
#[derive(clap::Args)]
#[command(
    override_usage = "vidrec pack [OPTIONS] <INPUT>... -o <OUTPUT>\n       vidrec pack [OPTIONS] <PLAN> --part <I>"
)]
pub struct Args {
    /// Folders, video files, or manifests.
    ///
    /// A location that ends with a slash, such as s3://bucket/videos/: the videos below it, as in a folder. In object
    /// storage, folders of frames and lists are not looked for.
    ///
    /// A folder: the class is the name of the first folder level; a folder that holds JPEG or PNG files and nothing
    /// else is a clip of these frames; a metadata.csv or .jsonl in it lists what is taken. Files without the ending of a
    /// video are ignored and counted by ending. Hidden ones, whose names begin with a dot, are not looked at.
    ///
    /// .csv, .tsv or .jsonl: columns path (or file_name, filename, video), label (or labels, with ";" between them),
    /// start and end in seconds (see --segments), split; any other is kept as an attribute. vidrec says what each
    /// column became. A .csv of Kinetics (youtube_id, time_start).
    ///
    /// .txt: on each line a path and its label or labels, as UCF101 and mmaction2 have it. .json:
    /// Something-Something.
    ///
    /// .toml: a recipe, which has inputs and options; options that are given replace its own.
    ///
    /// With --part: the plan, a folder or a location in object storage.
    #[arg(required_unless_present_any = ["isolated_worker"])]
    input: Vec<PathBuf>,
    /// The folder to make the data set in, or a location such as s3://bucket/train.
    #[arg(short, long, required_unless_present_any = ["part", "isolated_worker", "write_recipe"])]
    output: Option<PathBuf>,
    /// Write nothing, and say how large it would be and how long it would take.
    ///
    /// Counts videos, lists what is missing, and packs a few videos in memory.
    #[arg(long)]
    dry_run: bool,
    /// Write inputs and options into a file that `vidrec pack` takes as its input, and pack nothing without -o.
    #[arg(long, value_name = "FILE", hide_short_help = true, value_parser = local)]
    write_recipe: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long, hide_short_help = true)]
    json: bool,
    #[command(flatten)]
    recipe: recipe::RecipeArgs,
    #[command(flatten)]
    run: run_args::RunArgs,
    #[command(flatten)]
    parts: parts::PartArgs,
    #[command(flatten)]
    storage: RemoteStorageArgs,
}

impl Args {
    /// Inputs and options, for this machine.
    fn recipe(&self) -> Result<Recipe, Box<dyn std::error::Error>> {
        let mut recipe = self.recipe.recipe(&self.input)?;
        (recipe.options.resources, recipe.options.run) = (self.run.resources(), self.run.run());
        recipe.options.input.storage = self.storage.storage()?;
        Ok(recipe)
    }

    /// The folder of the data set, which clap requires where there is no plan.
    fn output(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new(""))
    }
}

/// `start` is the command that starts this program once more.
pub fn run(args: &Args, start: Vec<OsString>) -> Run {
    if let Some(options) = &args.run.isolated_worker {
        serve(&PackOptions::from_json(options)?)?;
        return Ok(Outcome::Done);
    }
    if args.parts.part.is_some() {
        let [plan] = &*args.input else { return Err("--part takes one INPUT, a plan".into()) };
        return parts::run(&args.parts, plan, (&args.run, args.storage.storage()?), args.json, start);
    }
    let mut recipe = args.recipe()?;
    if let Some(file) = &args.write_recipe {
        let text = recipe.to_toml()?;
        crate::write_whole(file, |out| out.write_all(text.as_bytes()))?;
        output::tell(format_args!("wrote the recipe {}", file.display()));
        if args.output.is_none() {
            return Ok(Outcome::Done);
        }
    }
    if !args.run.no_isolate {
        recipe.options.resources.isolate = Some(run_args::worker_command(start, &recipe.options)?);
    }
    if args.dry_run {
        return dry_run(args, &recipe);
    }
    let plan = PackPlan::from_inputs(&recipe.inputs, &recipe.options.input)?;
    // This comes before the work, so that a wrong manifest does not cost a day. A closed standard error is no failure.
    report::tell_inputs(&plan.manifests, &plan.notes);
    let out = args.output();
    if crate::is_remote(out) {
        // A server may take its time: from here, a signal ends this in an orderly way.
        crate::cli::outcome::stop_at_signal()?;
    }
    let report = pack_plan(&plan, out, &recipe.options, &mut args.run.progress.of("videos"))?;
    report::tell(&report);
    output::print(args.json, &report, |r| report::render(r, out))?;
    Ok(match (&report, report.is_clean()) {
        (r, _) if r.clips == 0 => Outcome::Nothing,
        (_, true) => Outcome::Done,
        (_, false) => Outcome::Problems,
    })
}

fn dry_run(args: &Args, recipe: &Recipe) -> Run {
    // An output in object storage is made on this machine first.
    let scratch = crate::PushOptions::default().scratch_folder();
    let out = match crate::is_remote(args.output()) {
        true => &scratch,
        false => args.output(),
    };
    let e = estimate(&recipe.inputs, out, &recipe.options, &mut args.run.progress.of("videos"))?;
    report::tell_inputs(&e.manifests, &e.notes);
    report::tell_ignored(&e.passed_over);
    output::print(args.json, &e, report::render_estimate)?;
    Ok(if e.failed > 0 { Outcome::Problems } else { Outcome::Done })
}
