//! All parts of a plan, several at a time.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use super::one_machine_options::InParts;
use super::part::PartOptions;
use super::plan::PartsPlan;
use crate::options::PackOptions;
use crate::work::Copies;
use vidrec_format::error::Result;
use vidrec_format::progress::{Progress, ProgressFn};
use vidrec_format::threads;
use vidrec_format::workers::{Workers, in_order_while};

/// Packs all parts, several at a time. Videos of which `copies` has the clips are copied.
pub(super) fn pack_all(
    plan: &PartsPlan,
    copies: Option<&Copies<'_>>,
    parts: &InParts,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<()> {
    let jobs = parts.jobs.clamp(1, plan.parts());
    let mut resources = options.resources.clone();
    let cores = resources.threads.unwrap_or_else(threads::cores);
    resources.threads = Some((cores / jobs as usize).max(1));
    let part_options = PartOptions {
        resources,
        commit_every: options.run.commit_every,
        storage: options.input.storage.clone(),
        scratch: parts.scratch.clone(),
        ..PartOptions::default()
    };
    let each = vec![Progress::default(); plan.parts() as usize];
    let all = Mutex::new(AllParts { each, videos: plan.videos(), progress });
    let tell = |part, progress: &_| all.lock().unwrap_or_else(PoisonError::into_inner).tell(part, progress);
    let pack = |part, jobs: &Workers| {
        plan.pack_or_copy(part as u32, &part_options, copies, &mut |progress| match jobs.are_stopped() {
            true => ControlFlow::Break(()),
            false => tell(part, progress),
        })
    };
    in_order_while(plan.parts() as usize, jobs as usize, pack, |_| {}).map(drop)
}

/// The progress of all parts together.
struct AllParts<'a, 'f> {
    each: Vec<Progress>,
    videos: u64,
    progress: &'a mut ProgressFn<'f>,
}

impl AllParts<'_, '_> {
    fn tell(&mut self, part: usize, progress: &Progress) -> ControlFlow<()> {
        if let Some(of_part) = self.each.get_mut(part) {
            *of_part = *progress;
        }
        let mut all = Progress { total: Some(self.videos), ..Progress::default() };
        for of_part in &self.each {
            all.done += of_part.done;
            all.frames += of_part.frames;
            all.bytes += of_part.bytes;
            all.failed += of_part.failed;
        }
        (self.progress)(&all)
    }
}
