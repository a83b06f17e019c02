//! `vidrec pack`: videos in, a data set out.

pub mod columns;
mod frames;
mod heading;
mod inputs;
mod limits;
pub mod number;
mod parts;
mod pictures;
pub mod recipe;
pub mod report;
mod safety;
mod together;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use vidrec::pack::{PackOptions, PackPlan, PackReport, Resources, estimate, pack_in_parts, pack_plan, serve};

use self::heading::RUN;
use self::number::number;
use crate::outcome::{Outcome, Run};
use crate::output;
use crate::packing::progress::{with_bar, within_bar};
use crate::remote_output::{Output, RemoteArgs};
use crate::storage::VideoStorageArgs;

/// Sample frames from videos and write them as a data set.
///
/// vidrec skips a video it cannot read and lists it in OUTPUT/failures-*.jsonl; the exit status is then 3.
///
/// vidrec writes finished clips to the disk every few seconds. After a crash, a full disk or Ctrl-C, the same command with
/// --resume continues the run, and the result is byte for byte that of a run that was not interrupted. At Ctrl-C (or
/// SIGTERM) vidrec finishes the videos in hand; a second one stops it at once. The exit status is then 130.
#[derive(clap::Args)]
pub struct Args {
    // First: it looks at all that was given.
    #[command(flatten)]
    recipe: recipe::RecipeArgs,
    /// Folders, video files, or manifests.
    ///
    /// A folder: the class is the name of the first folder level; a folder that holds JPEG or PNG files and nothing
    /// else is a clip of these frames; a metadata.csv or .jsonl in it lists what is taken. Files without the ending of a
    /// video are ignored and counted by ending. Hidden ones, whose names begin with a dot, are not looked at.
    ///
    /// A data set of LeRobot, version 3 (a folder with its meta/info.json): each episode of a camera is a clip with the
    /// attributes episode, camera and task, and every other feature is a track. See docs/lerobot.md.
    ///
    /// .csv, .tsv or .jsonl: columns path (or file_name, filename, video), label (or labels, with ";" between them),
    /// start and end in seconds (see --segment-clock), split; any other is kept as an attribute. vidrec says what each
    /// column became. A .csv of Kinetics (youtube_id, time_start).
    ///
    /// .txt: on each line a path and its label or labels, as UCF101 and mmaction2 have it. .lst: MXNet. .json:
    /// Something-Something.
    #[arg(required_unless_present = "plan")]
    input: Vec<PathBuf>,
    /// The folder to make the data set in, or a location such as s3://bucket/train.
    #[arg(short, long, required_unless_present = "plan")]
    output: Option<PathBuf>,
    #[command(flatten)]
    safety: safety::SafetyArgs,
    #[command(flatten)]
    storage: VideoStorageArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    #[command(flatten)]
    parts: parts::PartArgs,
    /// Videos to decode at a time. [default: one for each core]
    #[arg(short = 'j', long, value_name = "N", help_heading = RUN, value_parser = number::<usize>("threads"))]
    threads: Option<usize>,
    /// Threads that read the next files ahead, for disks and networks; 0 for none.
    #[arg(long, default_value_t = Resources::default().io_threads, value_name = "N", help_heading = RUN, value_parser = number::<usize>("io_threads"))]
    io_threads: usize,
    /// Memory for all videos that are decoded at a time and for JPEGs that wait to be written, such as 2GiB. A video that
    /// needs more is decoded alone. [default: 480MiB for each thread]
    #[arg(long, value_name = "BYTES", help_heading = RUN, value_parser = vidrec::parse_bytes)]
    memory: Option<u64>,
    /// Also write OUTPUT/mxnet, with links to the record files and .idx and .lst files beside them, as `vidrec export mxnet`
    /// does.
    #[arg(long, help_heading = RUN)]
    mxnet: bool,
    /// Replace a data set that is already in OUTPUT.
    #[arg(long, help_heading = RUN)]
    force: bool,
    /// Write nothing: count, list what is missing, and pack a few videos in memory to say how large it will be and how
    /// long it will take.
    #[arg(long, help_heading = RUN)]
    dry_run: bool,
    /// Print the report as JSON.
    #[arg(long, help_heading = RUN)]
    json: bool,
}

impl Args {
    fn options(&self) -> Result<PackOptions, String> {
        let mut options = self.recipe.options(self.resources(), self.safety.run(self.force));
        options.input.storage = self.storage.storage()?;
        Ok(options)
    }

    fn resources(&self) -> Resources {
        Resources { threads: self.threads, io_threads: self.io_threads, memory: self.memory, isolate: None }
    }

    /// Refuses what only works in a folder of this machine.
    fn check_remote(&self) -> Result<(), String> {
        match (self.safety.retry_failed, self.mxnet) {
            (true, _) => {
                Err("--retry-failed needs the data set on this machine: `vidrec fetch` it, retry there, then \
                `vidrec push --force`"
                    .into())
            }
            (_, true) => Err("--mxnet needs an output on this machine: `vidrec push` it afterwards".into()),
            _ => Ok(()),
        }
    }

    /// The folder of the data set, which clap requires where there is no plan.
    fn output(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new(""))
    }
}

/// `command_line` is the command that starts this once more.
pub fn run(args: &Args, command_line: Vec<OsString>) -> Run {
    if let Some(plan) = &args.parts.plan {
        let storage = args.storage.storage()?;
        let how = (&args.safety, args.resources(), storage, args.remote.scratch());
        return parts::run(&args.parts, plan, how, args.json, command_line);
    }
    let mut options = args.options()?;
    if args.safety.isolated_worker {
        serve(&options)?;
        return Ok(Outcome::Done);
    }
    options.resources.isolate = (!args.safety.no_isolate).then(|| safety::worker_command(command_line));
    if args.dry_run {
        return dry_run(args, &options);
    }
    if vidrec::is_remote(args.output()) {
        args.check_remote()?;
    }
    let plan = PackPlan::from_inputs(&args.input, &options.input)?;
    // Before the work, so that a wrong manifest does not cost a day. Where standard error is closed there is nobody to tell.
    columns::tell(&plan.manifests, &plan.notes);
    let out = args.output();
    let mut report = write(args, &plan, out, options)?;
    if args.mxnet && report.clips > 0 {
        let exported = with_bar(|progress| vidrec::interop::mxnet::export_within(out, progress))?;
        if let Some(note) = exported.left_out_note("the folder mxnet") {
            output::tell(&note);
            report.notes.push(note);
        }
    }
    report::tell(&report);
    output::print(args.json, &report, |r| report::render(r, out, args.safety.retry_failed))?;
    Ok(match (&report, report.is_clean()) {
        (r, _) if r.clips == 0 => Outcome::Nothing,
        (_, true) => Outcome::Done,
        (_, false) => Outcome::Problems,
    })
}

/// Makes the data set, wherever it is to be.
fn write(
    args: &Args,
    plan: &PackPlan,
    out: &Path,
    mut options: PackOptions,
) -> Result<PackReport, Box<dyn std::error::Error>> {
    if vidrec::is_remote(out) {
        args.safety.in_scratch(&mut options.run);
    }
    if let Some(parts) = args.parts.here(&args.remote).filter(|_| vidrec::is_remote(out)) {
        // Each part is uploaded when it is packed.
        options.run.overwrite = args.force;
        return with_bar(|progress| pack_in_parts(plan, out, parts, &options, progress));
    }
    if vidrec::is_remote(out) && !args.force && !options.run.overwrite {
        let scratch = args.remote.scratch();
        let found = with_bar(|_| vidrec::pack::find_packed(plan, out, None, scratch, &options))?;
        if let Some(report) = found {
            return Ok(report);
        }
    }
    let to = Output { path: out, storage: args.storage.storage()?, force: args.force };
    within_bar(|progress| {
        args.remote.write(to, |out, _| match args.parts.here(&args.remote) {
            Some(parts) => pack_in_parts(plan, out, parts, &options, progress),
            None => pack_plan(plan, out, &options, progress),
        })
    })
}

fn dry_run(args: &Args, options: &PackOptions) -> Run {
    // An output in object storage is made on this machine first.
    let scratch = args.remote.scratch_folder();
    let out = match vidrec::is_remote(args.output()) {
        true => &scratch,
        false => args.output(),
    };
    let e = with_bar(|progress| estimate(&args.input, out, options, progress))?;
    columns::tell(&e.manifests, &e.notes);
    report::tell_ignored(&e.passed_over);
    output::print(args.json, &e, report::render_estimate)?;
    Ok(if e.failed > 0 { Outcome::Problems } else { Outcome::Done })
}
