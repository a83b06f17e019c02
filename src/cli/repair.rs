//! `vidrec repair`: save the intact clips.

use std::path::PathBuf;

use crate::{DamagedClip, RepairOptions, RepairReport, repair};

use crate::cli::output::{count, grouped, printable};
use crate::cli::{Outcome, ProgressArgs, Run, output};

/// Save the intact clips of a damaged data set as a new one, and list exactly what is lost.
///
/// A clip is intact if everything that the index says of it and all its frames match their checksums. A shard whose index is
/// damaged is lost as a whole; dataset.json can be missing. A clip whose tracks are damaged is saved without them. The
/// damaged data set does not change. Without --output, vidrec only lists what can be saved. The exit status is 3 if
/// anything is lost.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of the damaged data set.
    dataset: PathBuf,
    /// Write the intact clips to this folder.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Replace an existing data set in OUTPUT.
    #[arg(long, requires = "output")]
    overwrite: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

pub fn run(args: &Args) -> Run {
    let options = RepairOptions { output: args.output.clone(), overwrite: args.overwrite };
    let report = repair(&args.dataset, &options, &mut args.progress.of("clips"))?;
    output::print(args.json, &report, render)?;
    let outcome = if report.lost_nothing() { Outcome::Done } else { Outcome::Problems };
    Ok(outcome.but_left(&report.left_behind))
}

fn render(r: &RepairReport) -> String {
    let mut text: String = r.damage.iter().map(|damage| format!("{}\n", printable(damage))).collect();
    text.extend(r.lost.iter().map(|clip| line("lost", clip)));
    text.extend(r.partly_lost.iter().map(|clip| line("lost in part", clip)));
    let (lost, partly) = (r.lost.iter().map(|lost| lost.clips).sum(), r.partly_lost.len() as u64);
    let can = if r.output.is_some() { "saved" } else { "can be saved" };
    text += &format!("{} of {} {can}, {} lost", grouped(r.saved), count(r.clips, "clip"), grouped(lost));
    text += &if partly > 0 { format!(", {} lost in part\n", grouped(partly)) } else { "\n".into() };
    match &r.output {
        Some(output) => text + &format!("wrote {}\n", output.display()),
        None => text + "nothing was written\n",
    }
}

fn line(what: &str, damaged: &DamagedClip) -> String {
    let DamagedClip { shard, clip, clips, source, what: how } = damaged;
    let clips = match clips {
        0 => String::new(),
        1 => format!(", clip {clip}"),
        _ => format!(", clips {clip} to {}", clip + clips - 1),
    };
    let source = if source.is_empty() { String::new() } else { format!(" ({})", printable(source)) };
    format!("{what}: {}{clips}{source}: {}\n", printable(shard), printable(how))
}
