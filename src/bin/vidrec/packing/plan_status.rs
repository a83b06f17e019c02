//! `vidrec status`: how far the parts of a plan are.

use std::path::PathBuf;

use vidrec::pack::{PartState, PartsPlan, PlanStatus};

use crate::outcome::{Outcome, Run};
use crate::output::{self, count, printable};
use crate::packing::pack::report::duration;
use crate::storage::RemoteStorageArgs;

/// The most parts that are named.
const SHOWN: usize = 20;

/// Say which parts of a plan are done, at work, failed or missing.
///
/// An attempt that died on this machine is known to be dead at once; of one on another machine only its silence says so,
/// and its part counts as running for two minutes. The exit status is 0 if all parts are done, and 3 otherwise.
#[derive(clap::Args)]
pub struct Args {
    /// The plan's folder, or its location in object storage.
    plan: PathBuf,
    /// Print only the parts that are to be submitted again, the failed and the missing ones, as a Slurm array: 3,7-12
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
    let status = PartsPlan::open_at(&args.plan, &args.storage.storage()?)?.status()?;
    let text = |s: &PlanStatus| match (args.missing, args.lines) {
        (true, true) => s.to_submit().map(|part| format!("{part}\n")).collect(),
        (true, false) => array(&s.to_submit().collect::<Vec<_>>()),
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
    let mut text = format!(
        "{} of {} done; {} running, {} failed, {} missing\n",
        output::grouped(s.done.into()),
        count(s.parts.into(), "part"),
        output::grouped(s.running.into()),
        output::grouped(s.failed.into()),
        output::grouped(s.missing.into()),
    );
    text += &format!("  {} of {}", output::grouped(s.videos_done), count(s.videos, "video"));
    if let Some(rate) = s.videos_per_second {
        text += &format!("; {rate:.1} videos/s for each that is running");
    }
    if let Some(left) = s.seconds_left.filter(|&left| left > 0.0) {
        text += &format!("; about {} to go", duration(left));
    }
    text.push('\n');
    let interesting = s.list.iter().filter(|part| matches!(part.state, PartState::Failed | PartState::Running));
    for part in interesting.clone().take(SHOWN) {
        let place = part.place.as_deref().map_or(String::new(), |place| format!(" ({})", printable(place)));
        let state = if part.state == PartState::Failed { "failed" } else { "running" };
        text += &format!("  part {}: {state}, {} of {} videos{place}\n", part.part, part.done, part.videos);
        if let Some(error) = &part.error {
            text += &format!("    {}\n", printable(error));
        }
    }
    let more = interesting.count().saturating_sub(SHOWN);
    if more > 0 {
        text += &format!("  and {more} more (--json lists all)\n");
    }
    text
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
