//! The options of `vidrec pack` that pack one part of a plan.

use std::ffi::OsString;
use std::path::Path;
use std::str::FromStr;

use crate::Storage;
use crate::cli::{Outcome, Run, output};
use crate::pack::arguments::number_of;
use crate::pack::{PartOptions, PartsPlan, Resources};

use super::report;
use super::run_args::{RunArgs, worker_command};

/// The variables in which schedulers give the number of a task in an array: Slurm, Kubernetes (indexed jobs), AWS Batch.
const VARIABLES: [&str; 3] = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX"];

/// The options that a plan fixes.
const FIXED: [&str; 9] = [
    "output",
    "dry_run",
    "write_recipe",
    "FrameOptions",
    "FrameFlags",
    "PictureOptions",
    "InputOptions",
    "LimitOptions",
    "if_exists",
];

#[derive(clap::Args)]
#[command(next_help_heading = "Parts")]
pub struct PartArgs {
    /// Pack this part, from 0, of the plan that is INPUT, made by `vidrec plan`. "auto" takes the number from
    /// SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or AWS_BATCH_JOB_ARRAY_INDEX. The plan has the inputs and all options that
    /// determine the bytes. The exit status is 0 when the part is done, even if videos were skipped: `vidrec publish` lists
    /// them, and ends with 3. A part of a plan in object storage is packed in a folder in $TMPDIR, then uploaded.
    #[arg(long, value_name = "I|auto", hide_short_help = true, conflicts_with_all = FIXED)]
    pub part: Option<Part>,
    /// With --part I: pack every Nth part from part I on, one after the other, so that N tasks pack the whole plan,
    /// however many parts it has. A part that fails does not keep the task from packing the rest. [default: part I alone]
    #[arg(long, value_name = "N", requires = "part", hide_short_help = true, value_parser = number_of::<u32>("tasks"))]
    pub tasks: Option<u32>,
}

/// Which part of a plan.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    Number(u32),
    /// The one that the scheduler says.
    Auto,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Part::Auto),
            _ => text.parse().map(Part::Number).map_err(|_| "expected the number of a part, or auto".into()),
        }
    }
}

impl Part {
    fn number(self) -> Result<u32, String> {
        let from_variable = |name| Some((name, std::env::var(name).ok()?));
        match (self, VARIABLES.into_iter().find_map(from_variable)) {
            (Part::Number(part), _) => Ok(part),
            (Part::Auto, Some((name, value))) => {
                value.trim().parse().map_err(|_| format!("{name} is not the number of a part: {value:?}"))
            }
            (Part::Auto, None) => Err(format!("--part auto finds no number of a part: set {}", VARIABLES.join(", "))),
        }
    }
}

/// Packs a part of a plan, or the parts of one of several tasks. Videos that were skipped are no failure of the part, which
/// schedulers would try again: publishing lists them. `start` is the command that starts this program once more.
pub fn run(args: &PartArgs, plan: &Path, (how, storage): (&RunArgs, Storage), json: bool, start: Vec<OsString>) -> Run {
    let plan = PartsPlan::open_at(plan, &storage)?;
    let first = args.part.map_or(Ok(0), Part::number)?;
    let mut options = PartOptions::default();
    let resources = how.resources();
    // It may not be able to read the plan: secrets are in no command line.
    let worker = worker_command(start, &plan.options(&resources)?)?;
    options.resources = Resources { isolate: (!how.no_isolate).then_some(worker), ..resources };
    options.storage = storage;
    let pack = |part| -> Run {
        let packed = plan.pack(part, &options, &mut how.progress.of("videos"))?;
        report::tell(&packed);
        output::print(json, &packed, |r| report::render_part(r, part, plan.parts()))?;
        Ok(Outcome::Done)
    };
    let Some(tasks) = args.tasks else { return pack(first) };
    if first >= tasks {
        return Err(format!(
            "--tasks {tasks}: --part is a number from 0 to {}, found {first}",
            tasks.saturating_sub(1)
        )
        .into());
    }
    let (mut parts, mut failed) = (0u32, 0u32);
    for part in (first..plan.parts()).step_by(tasks as usize) {
        parts += 1;
        match pack(part) {
            Err(e) if !output::is_interruption(&*e) && !output::is_broken_pipe(&*e) => {
                failed += 1;
                output::print_error(&*e);
            }
            done => drop(done?),
        }
    }
    if failed > 0 { Err(format!("{failed} of {parts} parts of this task failed").into()) } else { Ok(Outcome::Done) }
}
