//! From receipts to a data set.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::in_order::in_order;
use super::place::Place;
use super::plan::PartsPlan;
use super::publish_options::PublishOptions;
use super::receipt::Receipt;
use crate::dataset::listing::ShardFiles;
use crate::dataset::{RecordsDigest, Shard, Source, listing};
use crate::disk::publication::{self, Replaced};
use crate::disk::{FolderLock, Temporary, share};
use crate::format::data_binding::hex;
use crate::format::dataset_json::{DatasetJson, FILE_NAME, ShardJson};
use crate::format::file_name::FileName;
use crate::pack::plan::PackPlan;
use crate::pack::run::{Failure, PackReport, lines};
use crate::pack::work::PackStage;
use crate::progress::{Counter, ProgressFn};
use crate::{Error, Hint, Result, is_remote, writer};

/// The most names of parts in an error.
const NAMED: usize = 10;

/// The stage at which the videos of parts that are not done fail.
const MISSING: &str = "missing";

impl PartsPlan {
    /// Makes a data set of the parts: checks each receipt and its files, then writes `dataset.json` as the last file.
    /// Readers see the whole data set or none.
    ///
    /// The data set has the same bytes wherever, in whatever order and with however many attempts its parts were packed.
    /// An item of `progress` is a part.
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::ErrorKind::Usage): parts are not done, more videos failed than the plan allows, there is another
    /// data set, or a receipt is of another plan. [`Format`](crate::ErrorKind::Format): a file is not what its receipt
    /// says. [`Io`](crate::ErrorKind::Io). Nothing is published then.
    pub fn publish(&self, options: &PublishOptions, progress: &mut ProgressFn<'_>) -> Result<PackReport> {
        let receipts = self.receipts()?;
        self.check_missing(&receipts, options)?;
        let mut report = self.report(&receipts)?;
        self.check_failures(&report)?;
        let shards: Vec<ShardJson> = receipts.into_iter().flatten().flat_map(|receipt| receipt.shards).collect();
        let json = self.listing(shards)?;
        match &self.place {
            Place::Folder(_) => self.publish_in_folder((json, &mut report), options, progress)?,
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => {
                super::publish_remote::publish(self, bucket, (json, &mut report), options, progress)?;
            }
        }
        Ok(report)
    }

    /// The data set of these shards.
    fn listing(&self, shards: Vec<ShardJson>) -> Result<DatasetJson> {
        if shards.is_empty() {
            let e = Error::decode("no video could be packed, so there is nothing to publish");
            return Err(e.file(self.place.location()));
        }
        let sum = |of: fn(&ShardJson) -> u64| shards.iter().map(of).try_fold(0u64, u64::checked_add);
        if sum(|s| s.clips).and(sum(|s| s.frames)).and(sum(|s| s.bytes)).is_none() {
            return Err(Error::limit("the receipts say more than a data set can have").file(self.place.location()));
        }
        Ok(DatasetJson::new(&self.json.meta(self.options(&Default::default())?.frames.draws), shards))
    }

    fn publish_in_folder(
        &self,
        (json, report): (DatasetJson, &mut PackReport),
        options: &PublishOptions,
        progress: &mut ProgressFn<'_>,
    ) -> Result<()> {
        let out = options.out.as_deref().unwrap_or(self.place.location());
        if is_remote(out) {
            let e = Error::usage("a plan in a folder is published in a folder").file(out);
            return Err(e.help("publish it there, then copy the data set with `vidrec push`"));
        }
        let lock = FolderLock::take(out)?;
        publication::recover(out)?;
        self.check_files(&json.shards, options.read_all, progress)?;
        self.stage(report, json, out, lock, options.overwrite)
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

    /// The report of one pack of all videos.
    fn report(&self, receipts: &[Option<Receipt>]) -> Result<PackReport> {
        let (jobs, classes) = (Vec::new(), self.json.classes.clone());
        let (passed_over, manifests) = (self.json.passed_over.clone(), self.json.manifests.clone());
        let notes = self.json.notes.clone();
        let mut report =
            PackReport::new(&PackPlan { jobs, classes, passed_over, manifests, notes, tracks: Vec::new() });
        for (part, receipt) in (0..).zip(receipts) {
            match receipt {
                Some(receipt) => report.add(&receipt.report),
                None => report.add_failures(self.left_out(part)?),
            }
        }
        Ok(report)
    }

    /// The videos of a part that is not done, as failures.
    fn left_out(&self, part: u32) -> Result<Vec<Failure>> {
        let failure = |(item, source)| Failure {
            item,
            source,
            stage: MISSING.into(),
            error: format!("part {part} of the plan was not packed"),
        };
        Ok((self.part(part)?.first..).zip(self.sources(part)?).map(failure).collect())
    }

    /// Refuses more failures than the plan allows. Those skipped as asked, and with parts that may be missing, do not
    /// count.
    fn check_failures(&self, report: &PackReport) -> Result<()> {
        let as_asked = [PackStage::Short.to_string(), MISSING.to_owned()];
        let failed = report.failures.iter().filter(|failure| !as_asked.contains(&failure.stage)).count() as u64;
        match self.json.options.max_failures() {
            Some(most) if failed > most => {
                let e =
                    Error::decode(format!("more than {most} videos could not be packed")).file(self.place.location());
                Err(e.found(failed))
            }
            _ => Ok(()),
        }
    }

    /// Checks the files of all shards, some at a time.
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
                prove_records(&open, &shards[i], &mut || counter().tell())?;
            }
            counter().add(shards[i].frames, shards[i].bytes)
        })?;
        Ok(())
    }

    /// Opens a shard, which compares it with its receipt.
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

    /// Whether a folder is that of the plan, by whatever path.
    fn is_here(&self, out: &Path) -> Result<bool> {
        let whole = |path: &Path| fs::canonicalize(path).map_err(|e| Error::io("find the folder", path, e));
        Ok(whole(out)? == whole(self.place.location())?)
    }

    /// Stages what is not there yet, and publishes.
    fn stage(
        &self,
        report: &mut PackReport,
        mut json: DatasetJson,
        out: &Path,
        lock: FolderLock,
        overwrite: bool,
    ) -> Result<()> {
        let is_here = self.is_here(out)?;
        let replaced =
            if is_here { replaced_here(out, overwrite)? } else { writer::replaceable(out, overwrite, &lock)? };
        let mut files: Vec<(Temporary, FileName)> = Vec::new();
        if !is_here {
            for name in json.file_names() {
                files.push((share(&self.place.shard_path(name), &out.join(name))?.0, name.clone()));
            }
        }
        if report.failed > 0 {
            let (file, listed) = writer::stage_failures(out, report.failed, &lines(&report.failures)?)?;
            report.failures_file = Some(listed.file.to_string());
            files.push((file, listed.file.clone()));
            json.failures = Some(listed);
        }
        publication::publish(vec![writer::stage(out, lock, files, &json, replaced)?])
    }
}

/// Compares the SHA-256 of a record file. An error from `go_on` stops the reading.
fn prove_records(open: &Shard, listed: &ShardJson, go_on: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    let found = hex(&RecordsDigest::default().finish(&open.records, go_on).map_err(|e| e.file(&open.record_path))?);
    if found == listed.sha256 {
        return Ok(());
    }
    Err(Error::format("data-digest", "the record file's SHA-256 is not that of the receipt")
        .file(&open.record_path)
        .expected(&listed.sha256)
        .found(found)
        .help("remove the receipt of its part, and pack the part again"))
}

/// What publishing in the plan's folder replaces: the list of an earlier publication, and no shard.
fn replaced_here(dir: &Path, overwrite: bool) -> Result<Replaced> {
    let path = dir.join(FILE_NAME);
    if !path.exists() {
        return Ok(Replaced::default());
    }
    if !overwrite {
        return Err(Error::usage("the plan was published already").file(path).hint(Hint::Overwrite));
    }
    let before = listing::read(&path)?;
    let removable = before.failures.iter().map(|failures| failures.file.clone()).collect();
    Ok(Replaced { files: before.file_names().cloned().collect(), removable })
}
