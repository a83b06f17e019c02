//! All parts of a pack on this machine.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::part::PartOptions;
use super::plan::PartsPlan;
use super::publish::PublishOptions;
use super::write::write_plan;
use crate::disk::{FolderLock, publication, whole_folder};
use crate::format::names::{PARTS, PLAN};
use crate::pack::options::PackOptions;
use crate::pack::plan::PackPlan;
use crate::pack::run::{Existing, Interrupted, PackReport, RunFingerprint};
use crate::progress::{Progress, ProgressFn};
use crate::{Error, Hint, Result, threads, writer};

/// Packs the videos of a plan in `parts`, `jobs` of them at a time, into the data set directory `out`.
///
/// The bytes are those of [`write_plan`], of its parts packed by any number of machines, and of
/// [`publish`](PartsPlan::publish). The threads of `options.resources` are divided among the jobs.
///
/// # Errors
///
/// As [`pack_plan`](crate::pack::pack_plan) and [`write_plan`]. What was done can be resumed.
pub fn pack_in_parts(
    plan: &PackPlan,
    out: impl AsRef<Path>,
    (parts, jobs): (u32, u32),
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let (began, out) = (Instant::now(), out.as_ref());
    let dir = out.join(PARTS);
    // Nobody else packs or publishes here meanwhile.
    let lock = FolderLock::take(out)?;
    publication::recover(out)?;
    begin(&dir, options)?;
    let resumes = dir.join(PLAN).exists();
    let divided = divide(plan, &dir, parts, options).map_err(|e| if resumes { e.hint(Hint::Restart) } else { e })?;
    let found = finished(plan, out, &divided, options);
    let found = match found {
        Ok(None) => writer::replaceable(out, options.run.overwrite, &lock).map(|_| None),
        found => found,
    };
    if matches!(found, Ok(Some(_))) || (found.is_err() && !resumes) {
        whole_folder::remove(&dir, &[])?;
    }
    if let Some(report) = found? {
        return Ok(report);
    }
    pack_all(&divided, jobs.clamp(1, divided.parts()), options, progress)?;
    drop(lock);
    let publish =
        PublishOptions { out: Some(out.to_owned()), overwrite: options.run.overwrite, ..PublishOptions::default() };
    let mut report = divided.publish(&publish, &mut crate::no_progress)?;
    whole_folder::remove(&dir, &[])?;
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// The plan in `dir`, which is made if none is there.
fn divide(plan: &PackPlan, dir: &Path, parts: u32, options: &PackOptions) -> Result<PartsPlan> {
    write_plan(plan, dir, parts, options)?;
    PartsPlan::open(dir)
}

/// The report of the same pack, if a call that resumes finds it finished.
fn finished(plan: &PackPlan, out: &Path, divided: &PartsPlan, options: &PackOptions) -> Result<Option<PackReport>> {
    let meta = divided.json.meta(options.frames.draws);
    let fingerprint = RunFingerprint::new(plan, &meta, None, options.run.overwrite)?;
    let existing = Existing::find(out, plan, &options.run, &fingerprint, None)?;
    existing.map(|existing| existing.report(plan)).transpose()
}

/// Does what the options say with an interrupted run.
fn begin(dir: &Path, options: &PackOptions) -> Result<()> {
    if options.run.retry_failed {
        return Err(Error::usage("what failed in a pack in parts is not packed again apart from the rest"));
    }
    match options.run.interrupted {
        _ if !dir.exists() => Ok(()),
        Interrupted::Resume => Ok(()),
        Interrupted::Restart => whole_folder::remove(dir, &[]),
        Interrupted::Refuse => {
            let e = Error::usage("an interrupted pack in parts is here").file(dir);
            Err(e.hint(Hint::Resume).hint(Hint::Restart))
        }
    }
}

/// Packs all parts, some at a time.
fn pack_all(plan: &PartsPlan, jobs: u32, options: &PackOptions, progress: &mut ProgressFn<'_>) -> Result<()> {
    let mut resources = options.resources.clone();
    let cores = resources.threads.unwrap_or_else(threads::cores);
    resources.threads = Some((cores / jobs as usize).max(1));
    let part_options = PartOptions {
        resources,
        commit_every: options.run.commit_every,
        storage: options.input.storage.clone(),
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
    std::thread::scope(|scope| {
        let spawn = |i| std::thread::Builder::new().name(format!("part job {i}")).spawn_scoped(scope, work);
        let started: Vec<_> = (0..jobs).map(spawn).collect();
        let ended = started.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err(Error::internal("a job panicked"))),
            Err(e) => Err(Error::start("a thread", e)),
        });
        // The first error is the one that stopped the others; they say that they were interrupted.
        let mut errors: Vec<Error> = ended.filter_map(Result::err).collect();
        errors.sort_by_key(|e| e.kind() == crate::ErrorKind::Interrupted);
        errors.into_iter().next().map_or(Ok(()), Err)
    })
}

/// How far all parts are together.
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
