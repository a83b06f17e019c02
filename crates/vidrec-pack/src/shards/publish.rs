//! From receipts to a data set.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::place::Place;
use super::plan::PartsPlan;
use super::publish_options::PublishOptions;
use super::receipt::Receipt;
use super::report::{PackReport, lines};
use super::video_report::{Failure, of_failed};
use crate::plan::PackPlan;
use crate::work::PackStage;
use vidrec_dataset::listing::ShardFiles;
use vidrec_dataset::{Shard, Source, listing};
use vidrec_dataset::{verify, writer};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME, ShardJson};
use vidrec_format::error::{Error, ErrorKind, Hint, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::progress::{Counter, ProgressFn, no_progress};
use vidrec_format::workers::in_order;
use vidrec_store::disk::publication;
use vidrec_store::disk::publication::{LeftBehind, Replaced};
use vidrec_store::disk::{FolderLock, Temporary, share, write_file};
use vidrec_store::location::is_remote;

/// The most parts that an error names.
const NAMED: usize = 10;

/// The stage at which the videos of parts that are not done fail.
const MISSING: &str = "missing";

impl PartsPlan {
    /// Makes a data set of the parts.
    ///
    /// It checks each receipt and its files, and then writes `dataset.json` as the last file. So readers see the
    /// whole data set or none.
    ///
    /// The data set has the same bytes wherever, in whatever order and with however many attempts its parts were
    /// packed. Each item of `progress` is a part.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): parts are not done, more videos failed than the plan
    /// allows, another data set exists, or a receipt is of another plan.
    /// [`Format`](vidrec_format::error::ErrorKind::Format): a file does not match its receipt.
    /// [`Io`](vidrec_format::error::ErrorKind::Io): a file cannot be read or written. In all these cases, nothing
    /// is published.
    pub fn publish(&self, options: &PublishOptions, progress: &mut ProgressFn<'_>) -> Result<PackReport> {
        let receipts = self.receipts()?;
        self.check_missing(&receipts, options)?;
        self.check_failures(&self.report(&receipts)?)?;
        self.publish_receipts(receipts, options, Files::Stay, progress)
    }

    /// Makes a data set of all parts of a pack on one machine, which holds the lock of the output.
    pub(super) fn publish_all(&self, options: &PublishOptions, lock: Option<FolderLock>) -> Result<PackReport> {
        let receipts = self.receipts()?;
        self.check_missing(&receipts, options)?;
        let out = options.out.as_deref().unwrap_or(self.place.location());
        let report = self.report(&receipts)?;
        match lock {
            _ if report.clips == 0 => without_clips(out, report),
            Some(lock) => self.publish_receipts(receipts, options, Files::Move(lock), &mut no_progress),
            None => self.publish_receipts(receipts, options, Files::Stay, &mut no_progress),
        }
    }

    fn publish_receipts(
        &self,
        receipts: Vec<Option<Receipt>>,
        options: &PublishOptions,
        files: Files,
        progress: &mut ProgressFn<'_>,
    ) -> Result<PackReport> {
        let mut report = self.report(&receipts)?;
        let mut json = self.listing(receipts.into_iter().flatten().filter_map(|receipt| receipt.shard).collect())?;
        let failures = lines(&report.failures)?;
        json.failures = (report.failed > 0).then(|| writer::describe_failures(report.failed, &failures));
        report.failures_file = json.failures.as_ref().map(|listed| listed.file.to_string());
        let new = NewSet { plan: self, json: &json, failures: &failures, options };
        match &self.place {
            Place::Folder(_) => report.left_behind = new.publish(files, progress)?,
            Place::Bucket(bucket) => report.notes.extend(super::publish_remote::publish(&new, bucket, progress)?),
        }
        Ok(report)
    }

    /// Returns the description of a data set with these shards.
    fn listing(&self, shards: Vec<ShardJson>) -> Result<DatasetJson> {
        if shards.is_empty() {
            let e = Error::decode("no video could be packed, so there is nothing to publish");
            return Err(e.file(self.place.location()));
        }
        let sum = |of: fn(&ShardJson) -> u64| shards.iter().map(of).try_fold(0u64, u64::checked_add);
        if sum(|s| s.clips).and(sum(|s| s.frames)).and(sum(|s| s.bytes)).is_none() {
            return Err(Error::limit("the receipts list more than a data set can hold").file(self.place.location()));
        }
        Ok(DatasetJson::new(&self.json.meta(self.json.options()?.frames.draws), shards))
    }

    fn check_missing(&self, receipts: &[Option<Receipt>], options: &PublishOptions) -> Result<()> {
        let missing: Vec<usize> = (0..receipts.len()).filter(|&part| receipts[part].is_none()).collect();
        if missing.is_empty() || (options.allow_missing && missing.len() < receipts.len()) {
            return Ok(());
        }
        let named: Vec<String> = missing.iter().take(NAMED).map(ToString::to_string).collect();
        let more = if missing.len() > NAMED { " …" } else { "" };
        Err(Error::usage(format!("{} of {} parts are not done", missing.len(), receipts.len()))
            .file(self.place.location())
            .found(format!("no receipts of {}{more}", named.join(", ")))
            .help("pack them")
            .hint(Hint::Status))
    }

    /// Returns the report that one pack of all videos would return.
    fn report(&self, receipts: &[Option<Receipt>]) -> Result<PackReport> {
        let mut report = PackReport::new(&PackPlan {
            classes: self.json.classes.clone(),
            passed_over: self.json.passed_over.clone(),
            manifests: self.json.manifests.clone(),
            notes: self.json.notes.clone(),
            ..PackPlan::default()
        });
        for (part, receipt) in (0..).zip(receipts) {
            match receipt {
                Some(receipt) => report.add(&receipt.report),
                None => self.left_out(part)?.into_iter().for_each(|failure| report.add(&of_failed(failure))),
            }
        }
        Ok(report)
    }

    /// Returns the videos of a part that is not done, as failures.
    fn left_out(&self, part: u32) -> Result<Vec<Failure>> {
        let failure = |(item, source)| Failure {
            item,
            source,
            stage: MISSING.into(),
            error: format!("part {part} of the plan was not packed"),
        };
        Ok((self.part(part)?.first..).zip(self.sources(part)?).map(failure).collect())
    }

    /// Refuses more failures than the plan allows. Videos skipped as asked, and those of parts that may be
    /// missing, do not count.
    fn check_failures(&self, report: &PackReport) -> Result<()> {
        let as_asked = [PackStage::Short.to_string(), MISSING.to_owned()];
        let failed = report.failures.iter().filter(|failure| !as_asked.contains(&failure.stage)).count() as u64;
        let most = self.json.options()?.limits.max_failures.map(|most| most.count(self.json.videos));
        match most {
            Some(most) if failed > most => {
                let e =
                    Error::decode(format!("more than {most} videos could not be packed")).file(self.place.location());
                Err(e.found(failed))
            }
            _ => Ok(()),
        }
    }
}

/// Writes the list of failures of a pack in which no video could be packed. Nothing is uploaded of it.
fn without_clips(out: &Path, mut report: PackReport) -> Result<PackReport> {
    if is_remote(out) {
        return Ok(report);
    }
    let failures = lines(&report.failures)?;
    let name = writer::describe_failures(report.failed, &failures).file;
    let free = Replaced::default().check(out, std::iter::once(&name));
    free.map_err(|e| e.without_hints(&[Hint::Overwrite]))?;
    write_file(&out.join(&name), failures.as_bytes())?;
    report.failures_file = Some(name.into());
    Ok(report)
}

/// What becomes of the files of the plan.
enum Files {
    /// They stay. In another folder, they get additional names.
    Stay,
    /// They move to the output, whose lock this is.
    Move(FolderLock),
}

/// A data set of the shards of a plan.
pub(super) struct NewSet<'a> {
    pub plan: &'a PartsPlan,
    pub json: &'a DatasetJson,
    pub failures: &'a str,
    pub options: &'a PublishOptions,
}

impl NewSet<'_> {
    fn out(&self) -> &Path {
        self.options.out.as_deref().unwrap_or(self.plan.place.location())
    }

    fn publish(&self, files: Files, progress: &mut ProgressFn<'_>) -> Result<LeftBehind> {
        let out = self.out();
        if is_remote(out) {
            let e = Error::usage("a plan in a folder can be published only to a folder").file(out);
            return Err(e.help("publish it to a folder, then copy the data set with `vidrec push`"));
        }
        let (lock, staged, replaced) = match files {
            Files::Move(lock) => {
                self.check_files(progress)?;
                (lock, self.moved(), writer::replaceable(out, true)?)
            }
            Files::Stay => {
                let lock = FolderLock::take(out)?;
                publication::recover(out)?;
                self.check_files(progress)?;
                let is_here = self.is_here()?;
                let overwrite = self.options.overwrite;
                let replaced =
                    if is_here { replaced_here(out, overwrite)? } else { writer::replaceable(out, overwrite)? };
                (lock, if is_here { Vec::new() } else { self.shared()? }, replaced)
            }
        };
        let mut staged = staged;
        if let Some(listed) = &self.json.failures {
            staged.push((writer::stage_failures(out, listed.count, self.failures)?.0, listed.file.clone()));
        }
        writer::stage(out, lock, staged, self.json, replaced)?.publish()
    }

    /// Returns the files of all shards, which stay where they are until they get their names in the output.
    fn moved(&self) -> Vec<(Temporary, FileName)> {
        let names = self.json.shards.iter().flat_map(ShardJson::file_names);
        names.map(|name| (Temporary::kept(self.path(name)), name.clone())).collect()
    }

    /// Returns second names of the files of all shards, or copies.
    fn shared(&self) -> Result<Vec<(Temporary, FileName)>> {
        let names = self.json.shards.iter().flat_map(ShardJson::file_names);
        names.map(|name| Ok((share(&self.path(name), &self.out().join(name))?.0, name.clone()))).collect()
    }

    /// Returns the path of a file of a shard: in the place of the plan, or in the output if it is there already.
    fn path(&self, name: &FileName) -> PathBuf {
        let (path, there) = (self.plan.place.shard_path(name), self.out().join(name));
        let is_moved = matches!(self.plan.place, Place::Folder(_)) && !path.exists() && there.exists();
        if is_moved { there } else { path }
    }

    /// Checks the files of all shards, several at a time.
    pub fn check_files(&self, progress: &mut ProgressFn<'_>) -> Result<()> {
        let (shards, place) = (&self.json.shards, &self.plan.place);
        let source = place.source()?;
        let counter = Mutex::new(Counter::new(Some(shards.len() as u64), progress));
        let counter = || counter.lock().unwrap_or_else(PoisonError::into_inner);
        in_order(shards.len(), place.at_once(), |i| {
            let open = self.open_shard(&shards[i], &source)?;
            if self.options.read_all {
                prove(&open, &mut |_| told(counter().tell()))?;
            }
            counter().add(shards[i].frames, shards[i].bytes)
        })?;
        Ok(())
    }

    /// Opens a shard and compares it with its receipt.
    fn open_shard(&self, shard: &ShardJson, source: &Source) -> Result<Shard> {
        let files = ShardFiles {
            index: self.path(&shard.index_file),
            record: Some(self.path(&shard.record_file)),
            tracks: shard.track_file.as_ref().map(|tracks| self.path(&tracks.file)),
            listed: Some(shard.clone()),
        };
        source
            .twice(|| Shard::open(&files, source))
            .map_err(|e| e.help("remove the receipt of its part, and pack the part again"))
    }

    /// Whether the output is the folder of the plan, whatever path leads to it.
    fn is_here(&self) -> Result<bool> {
        let whole = |path: &Path| fs::canonicalize(path).map_err(|e| Error::io("find the folder", path, e));
        Ok(whole(self.out())? == whole(self.plan.place.location())?)
    }
}

/// Reads and verifies all files of a shard. `progress` may stop that.
fn prove(open: &Shard, progress: &mut ProgressFn<'_>) -> Result<()> {
    verify::prove(open, progress).map_err(|e| match e.kind() {
        ErrorKind::Format => {
            e.without_hints(&[Hint::Repair]).help("remove the receipt of its part, and pack the part again")
        }
        _ => e,
    })
}

/// Turns the result of a progress report into the answer of a progress function.
fn told(told: Result<()>) -> ControlFlow<()> {
    if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// Returns what publishing in the plan's folder replaces: an earlier list of failures, but no shards.
fn replaced_here(dir: &Path, overwrite: bool) -> Result<Replaced> {
    let path = dir.join(FILE_NAME);
    if !path.exists() {
        return Ok(Replaced::default());
    }
    if !overwrite {
        return Err(Error::usage("the plan has already been published").file(path).hint(Hint::Overwrite));
    }
    let before = listing::read(&path)?;
    let removable = before.failures.iter().map(|failures| failures.file.clone()).collect();
    Ok(Replaced { files: before.file_names().cloned().collect(), removable })
}
