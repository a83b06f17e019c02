//! `vidrec status`: how far the parts of a plan are.

use std::path::PathBuf;

use crate::cli::output::count;
use crate::cli::{Outcome, RemoteStorageArgs, Run, output};
use crate::pack::{PlanStatus, plan_status};

/// Say which parts of a plan are done and which are missing.
///
/// A part is done when it has a receipt; attempts may be at work on a missing one. The exit status is 0 if all parts are
/// done, and 3 otherwise.
#[derive(clap::Args)]
pub struct Args {
    /// The folder with the plan, or its location in object storage.
    plan: PathBuf,
    /// Print only the missing parts, as a Slurm array: 3,7-12
    #[arg(long)]
    missing: bool,
    /// With --missing: print one part a line.
    #[arg(long, requires = "missing")]
    lines: bool,
    /// Print the status as JSON.
    #[arg(long, conflicts_with = "missing")]
    json: bool,
    #[command(flatten)]
    storage: RemoteStorageArgs,
}

pub fn run(args: &Args) -> Run {
    let status = plan_status(&args.plan, &args.storage.storage()?)?;
    let text = |s: &PlanStatus| match (args.missing, args.lines) {
        (true, true) => s.missing.iter().map(|part| format!("{part}\n")).collect(),
        (true, false) => array(&s.missing),
        _ => render(s),
    };
    output::print(args.json, &status, text)?;
    Ok(if status.done == status.parts { Outcome::Done } else { Outcome::Problems })
}

/// Parts as a Slurm array takes them. Nothing at all if there are none.
fn array(parts: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &part in parts {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == part => *last = part,
            _ => ranges.push((part, part)),
        }
    }
    let text = |(first, last)| if first == last { format!("{first}") } else { format!("{first}-{last}") };
    let text = ranges.into_iter().map(text).collect::<Vec<_>>().join(",");
    if text.is_empty() { text } else { text + "\n" }
}

fn render(s: &PlanStatus) -> String {
    let (done, videos) = (output::grouped(s.done.into()), output::grouped(s.videos_done));
    let mut text =
        format!("{done} of {} done\n  {videos} of {}", count(s.parts.into(), "part"), count(s.videos, "video"));
    if let Some(rate) = s.videos_per_second {
        text += &format!("; {rate:.1} videos/s for each attempt");
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_ranges_of_an_array() {
        assert_eq!(array(&[]), "");
        assert_eq!(array(&[3]), "3\n");
        assert_eq!(array(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8\n");
    }
}
