//! All parts of a plan, several at a time.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::one_machine_options::InParts;
use super::part::PartOptions;
use super::plan::PartsPlan;
use crate::options::PackOptions;
use vidrec_format::error::{Error, Result};
use vidrec_format::progress::{Progress, ProgressFn};
use vidrec_format::{stop, threads};

/// Packs all parts, several at a time.
pub(super) fn pack_all(
    plan: &PartsPlan,
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
    let (next, stopped) = (AtomicU32::new(0), AtomicBool::new(false));
    let all = Mutex::new(AllParts {
        each: vec![Progress::default(); plan.parts() as usize],
        videos: plan.videos(),
        progress,
    });
    let work = || -> Result<()> {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= plan.parts() || stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            let packed = plan.pack(part, &part_options, &mut |progress| {
                if stopped.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
                all.lock().unwrap_or_else(PoisonError::into_inner).tell(part, progress)
            });
            if let Err(e) = packed {
                stopped.store(true, Ordering::Relaxed);
                return Err(e);
            }
        }
    };
    let carry = stop::carry();
    let job = || {
        carry();
        work()
    };
    std::thread::scope(|scope| {
        let spawn = |i| std::thread::Builder::new().name(format!("part job {i}")).spawn_scoped(scope, job);
        let started: Vec<_> = (0..jobs).map(spawn).collect();
        let ended = started.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err(Error::internal("a job panicked"))),
            Err(e) => Err(Error::start("a thread", e)),
        });
        // Prefer the error that stopped the others, because they only say that they were interrupted.
        let mut errors: Vec<Error> = ended.filter_map(Result::err).collect();
        errors.sort_by_key(|e| e.kind() == vidrec_format::error::ErrorKind::Interrupted);
        errors.into_iter().next().map_or(Ok(()), Err)
    })
}

/// The progress of all parts together.
struct AllParts<'a, 'f> {
    each: Vec<Progress>,
    videos: u64,
    progress: &'a mut ProgressFn<'f>,
}

impl AllParts<'_, '_> {
    fn tell(&mut self, part: u32, progress: &Progress) -> ControlFlow<()> {
        if let Some(of_part) = self.each.get_mut(part as usize) {
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
