//! From receipts to a data set.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::place::Place;
use super::plan::PartsPlan;
use super::publish_options::PublishOptions;
use super::receipt::Receipt;
use crate::plan::PackPlan;
use crate::run::{Failure, PackReport, lines};
use crate::work::PackStage;
use vidrec_dataset::listing::ShardFiles;
use vidrec_dataset::{Shard, Source, listing};
use vidrec_dataset::{verify, writer};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME, ShardJson};
use vidrec_format::error::{Error, ErrorKind, Hint, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::progress::{Counter, ProgressFn};
use vidrec_format::workers::in_order;
use vidrec_store::disk::publication;
use vidrec_store::disk::publication::{LeftBehind, Replaced};
use vidrec_store::disk::{FolderLock, Temporary, share};
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
        let mut report = self.report(&receipts)?;
        self.check_failures(&report)?;
        let shards: Vec<ShardJson> = receipts.into_iter().flatten().flat_map(|receipt| receipt.shards).collect();
        let mut json = self.listing(shards)?;
        let failures = lines(&report.failures)?;
        json.failures = (report.failed > 0).then(|| writer::describe_failures(report.failed, &failures));
        report.failures_file = json.failures.as_ref().map(|listed| listed.file.to_string());
        match &self.place {
            Place::Folder(_) => report.left_behind = self.publish_in_folder(&json, &failures, options, progress)?,
            Place::Bucket(bucket) => {
                report.notes.extend(super::publish_remote::publish(
                    self,
                    bucket,
                    (&json, failures),
                    options,
                    progress,
                )?);
            }
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

    fn publish_in_folder(
        &self,
        json: &DatasetJson,
        failures: &str,
        options: &PublishOptions,
        progress: &mut ProgressFn<'_>,
    ) -> Result<LeftBehind> {
        let out = options.out.as_deref().unwrap_or(self.place.location());
        if is_remote(out) {
            let e = Error::usage("a plan in a folder can be published only to a folder").file(out);
            return Err(e.help("publish it to a folder, then copy the data set with `vidrec push`"));
        }
        let lock = FolderLock::take(out)?;
        publication::recover(out)?;
        self.check_files(&json.shards, options.read_all, progress)?;
        self.stage(json, failures, out, lock, options.overwrite)
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
                None => report.add_failures(self.left_out(part)?),
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

    /// Checks the files of all shards, several at a time.
    pub(super) fn check_files(
        &self,
        shards: &[ShardJson],
        read_all: bool,
        progress: &mut ProgressFn<'_>,
    ) -> Result<()> {
        let source = self.place.source()?;
        let counter = Mutex::new(Counter::new(Some(shards.len() as u64), progress));
        let counter = || counter.lock().unwrap_or_else(PoisonError::into_inner);
        in_order(shards.len(), self.place.at_once(), |i| {
            let open = self.open_shard(&shards[i], &source)?;
            if read_all {
                prove(&open, &mut |_| told(counter().tell()))?;
            }
            counter().add(shards[i].frames, shards[i].bytes)
        })?;
        Ok(())
    }

    /// Opens a shard and compares it with its receipt.
    fn open_shard(&self, shard: &ShardJson, source: &Source) -> Result<Shard> {
        let files = ShardFiles {
            index: self.place.shard_path(&shard.index_file),
            record: Some(self.place.shard_path(&shard.record_file)),
            tracks: shard.track_file.as_ref().map(|tracks| self.place.shard_path(&tracks.file)),
            listed: Some(shard.clone()),
        };
        source
            .twice(|| Shard::open(&files, source))
            .map_err(|e| e.help("remove the receipt of its part, and pack the part again"))
    }

    /// Whether a folder is that of the plan, whatever path leads to it.
    fn is_here(&self, out: &Path) -> Result<bool> {
        let whole = |path: &Path| fs::canonicalize(path).map_err(|e| Error::io("find the folder", path, e));
        Ok(whole(out)? == whole(self.place.location())?)
    }

    /// Stages the files that are missing in `out`, and publishes. Returns what could not be cleaned up.
    fn stage(
        &self,
        json: &DatasetJson,
        failures: &str,
        out: &Path,
        lock: FolderLock,
        overwrite: bool,
    ) -> Result<LeftBehind> {
        let is_here = self.is_here(out)?;
        let replaced =
            if is_here { replaced_here(out, overwrite)? } else { writer::replaceable(out, overwrite, &lock)? };
        let mut files: Vec<(Temporary, FileName)> = Vec::new();
        if !is_here {
            for name in json.shards.iter().flat_map(ShardJson::file_names) {
                files.push((share(&self.place.shard_path(name), &out.join(name))?.0, name.clone()));
            }
        }
        if let Some(listed) = &json.failures {
            files.push((writer::stage_failures(out, listed.count, failures)?.0, listed.file.clone()));
        }
        publication::publish(vec![writer::stage(out, lock, files, json, replaced)?])
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
