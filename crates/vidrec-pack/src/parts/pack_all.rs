//! All parts of a plan, one after the other.

use super::one_machine_options::InParts;
use super::part::PartOptions;
use super::plan::PartsPlan;
use crate::options::PackOptions;
use crate::work::Copies;
use vidrec_format::error::Result;
use vidrec_format::progress::{Progress, ProgressFn};

/// Packs all parts. Videos of which `copies` has the clips are copied.
pub(super) fn pack_all(
    plan: &PartsPlan,
    copies: Option<&Copies<'_>>,
    parts: &InParts,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<()> {
    let part_options = PartOptions {
        resources: options.resources.clone(),
        commit_every: options.run.commit_every,
        storage: options.input.storage.clone(),
        scratch: parts.scratch.clone(),
        ..PartOptions::default()
    };
    let mut before = Progress { total: Some(plan.videos()), ..Progress::default() };
    for part in 0..plan.parts() {
        let mut all = before;
        plan.pack_or_copy(part, &part_options, copies, &mut |of_part| {
            all = sum(&before, of_part);
            progress(&all)
        })?;
        before = all;
    }
    Ok(())
}

/// The progress of the parts before, and of one more.
fn sum(before: &Progress, part: &Progress) -> Progress {
    Progress {
        done: before.done + part.done,
        total: before.total,
        frames: before.frames + part.frames,
        bytes: before.bytes + part.bytes,
        failed: before.failed + part.failed,
    }
}
