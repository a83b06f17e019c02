//! The options of `vidrec pack` that divide the work into parts, and packing one part of a plan.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use vidrec::Storage;
use vidrec::pack::{InParts, PartOptions, PartsPlan, Resources, serve};

use super::number::number;
use super::report;
use super::safety::{SafetyArgs, worker_command};
use crate::outcome::{Outcome, Run};
use crate::output;
use crate::packing::progress::with_bar;
use crate::remote_output::RemoteArgs;

/// Where schedulers say which task of an array a process is: Slurm, Kubernetes (indexed jobs), AWS Batch.
const VARIABLES: [&str; 3] = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX"];

#[derive(clap::Args)]
#[command(next_help_heading = "Parts")]
pub struct PartArgs {
    /// Pack a part of this plan, made by `vidrec plan`. The plan has the inputs and all options that determine the bytes. The
    /// exit status is 0 when the part is done, even if videos were skipped: `vidrec publish` lists them, and ends with 3. A
    /// part of a plan in object storage is packed in a folder in that of `--scratch`, then uploaded.
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<PathBuf>,
    /// With --plan: the part, from 0. [default: SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or AWS_BATCH_JOB_ARRAY_INDEX]
    #[arg(long, value_name = "I", requires = "plan")]
    part: Option<u32>,
    /// Pack in N parts of about the same cost, each with shards of its own: byte for byte what machines of a cluster give
    /// that pack the parts of a plan.
    #[arg(long, value_name = "N", conflicts_with = "plan", value_parser = number::<u32>("parts"))]
    pub parts: Option<u32>,
    /// With --parts: how many parts to pack at a time. They share the threads.
    #[arg(long, value_name = "J", requires = "parts", default_value_t = 1, value_parser = number::<u32>("jobs"))]
    pub jobs: u32,
    /// The options of the plan, for a process that decodes.
    #[arg(long, hide = true)]
    worker_options: Option<String>,
}

impl PartArgs {
    /// How the parts are packed on this machine, if they are.
    pub fn here(&self, remote: &RemoteArgs) -> Option<InParts> {
        let mut parts = InParts::from((self.parts?, self.jobs));
        (parts.scratch, parts.only_publisher) = (remote.scratch().map(Path::to_owned), remote.only_publisher());
        Some(parts)
    }

    fn part(&self) -> Result<u32, String> {
        let from_variable = |name| Some((name, std::env::var(name).ok()?));
        match (self.part, VARIABLES.into_iter().find_map(from_variable)) {
            (Some(part), _) => Ok(part),
            (None, Some((name, value))) => {
                value.trim().parse().map_err(|_| format!("{name} is not the number of a part: {value:?}"))
            }
            (None, None) => {
                Err(format!("the number of the part is missing: give --part, or set {}", VARIABLES.join(", ")))
            }
        }
    }
}

/// Packs a part of a plan. Videos that were skipped are no failure of the part, which schedulers would try again:
/// publishing lists them.
/// How safely, with which resources, from which storage and in which folder, and whether the report is JSON.
/// `command_line` is the command that starts this once more.
pub fn run(
    args: &PartArgs,
    plan: &Path,
    (safety, resources, storage, scratch): (&SafetyArgs, Resources, Storage, Option<&Path>),
    json: bool,
    command_line: Vec<OsString>,
) -> Run {
    if let (true, Some(text)) = (safety.isolated_worker, &args.worker_options) {
        serve(&PartsPlan::options_from(text, &resources)?)?;
        return Ok(Outcome::Done);
    }
    let plan = PartsPlan::open_at(plan, &storage)?;
    let part = args.part()?;
    let mut options = PartOptions::default();
    let mut worker = worker_command(command_line);
    // It may not be able to read the plan: secrets are in no command line.
    worker.extend(["--worker-options".into(), plan.options_text().into()]);
    options.scratch = scratch.map(Path::to_owned);
    options.resources = Resources { isolate: (!safety.no_isolate).then(|| worker.clone()), ..resources };
    options.worker = Some(worker);
    options.storage = storage;
    options.commit_every = safety.commit_every();
    let packed = with_bar(|progress| plan.pack(part, &options, progress))?;
    report::tell(&packed);
    output::print(json, &packed, |r| report::render_part(r, part, plan.parts()))?;
    Ok(Outcome::Done)
}
