//! From receipts to a data set.

use std::fs;
use std::path::{Path, PathBuf};

use super::plan::PartsPlan;
use super::receipt::Receipt;
use crate::dataset::listing::ShardFiles;
use crate::dataset::{Io, RecordsDigest, Shard, Source, listing};
use crate::disk::publication::{self, Replaced};
use crate::disk::{FolderLock, Temporary, share};
use crate::format::data_binding::hex;
use crate::format::dataset_json::{DatasetJson, FILE_NAME, ShardJson};
use crate::pack::plan::PackPlan;
use crate::pack::run::{Failure, PackReport, lines};
use crate::pack::work::PackStage;
use crate::progress::{Counter, ProgressFn};
use crate::{Error, Hint, Result, writer};

/// The most names of parts in an error.
const NAMED: usize = 10;

/// The stage at which the videos of parts that are not done fail.
const MISSING: &str = "missing";

/// How a plan is published.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PublishOptions {
    /// The folder of the data set. Default `None`: the plan's folder, where the files are already. In another folder
    /// they get further names (hard links), or are copied where that is not possible.
    pub out: Option<PathBuf>,
    /// Publish without the parts that are not done. Their videos are then in the list of failures, at the stage
    /// `missing`. Off by default: a part that is not done is an error.
    pub allow_missing: bool,
    /// Replace a data set that is already there. Off by default.
    pub overwrite: bool,
    /// Read all record files, and compare their SHA-256. Off by default: vidrec checks the length of each file, and the
    /// checksums of both its ends and of its index's small sections. `verify` proves a data set at any time.
    pub read_all: bool,
}

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
        let receipts = (0..self.parts()).map(|part| self.receipt(part)).collect::<Result<Vec<_>>>()?;
        self.check_missing(&receipts, options)?;
        let mut report = self.report(&receipts)?;
        self.check_failures(&report)?;
        let out = options.out.as_ref().unwrap_or(&self.folder.dir);
        let lock = FolderLock::take(out)?;
        publication::recover(out)?;
        let shards: Vec<ShardJson> = receipts.into_iter().flatten().flat_map(|receipt| receipt.shards).collect();
        self.check_files(&shards, options.read_all, progress)?;
        self.stage(&mut report, shards, out, lock, options.overwrite)?;
        Ok(report)
    }

    fn check_missing(&self, receipts: &[Option<Receipt>], options: &PublishOptions) -> Result<()> {
        let missing: Vec<usize> = (0..receipts.len()).filter(|&part| receipts[part].is_none()).collect();
        if missing.is_empty() || (options.allow_missing && missing.len() < receipts.len()) {
            return Ok(());
        }
        let named: Vec<String> = missing.iter().take(NAMED).map(ToString::to_string).collect();
        let more = if missing.len() > NAMED { " …" } else { "" };
        Err(Error::usage(format!("{} of {} parts are not done", missing.len(), receipts.len()))
            .file(&self.folder.dir)
            .found(format!("no receipts of {}{more}", named.join(", ")))
            .help("pack them")
            .hint(Hint::Status))
    }

    /// The report of one pack of all videos.
    fn report(&self, receipts: &[Option<Receipt>]) -> Result<PackReport> {
        let (jobs, classes) = (Vec::new(), self.json.classes.clone());
        let (passed_over, manifests) = (self.json.passed_over.clone(), self.json.manifests.clone());
        let notes = self.json.notes.clone();
        let mut report = PackReport::new(&PackPlan { jobs, classes, passed_over, manifests, notes });
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
                let e = Error::decode(format!("more than {most} videos could not be packed")).file(&self.folder.dir);
                Err(e.found(failed))
            }
            _ => Ok(()),
        }
    }

    fn check_files(&self, shards: &[ShardJson], read_all: bool, progress: &mut ProgressFn<'_>) -> Result<()> {
        let mut counter = Counter::new(Some(shards.len() as u64), progress);
        for shard in shards {
            let files = ShardFiles {
                index: self.folder.path(&shard.index_file),
                record: Some(self.folder.path(&shard.record_file)),
                listed: Some(shard.clone()),
            };
            let open = Shard::open(&files, &Source::Local(Io::default()))
                .map_err(|e| e.help("remove the receipt of its part, and pack the part again"))?;
            if read_all {
                prove_records(&open, shard, &mut || counter.tell())?;
            }
            counter.add(shard.frames, shard.bytes)?;
        }
        Ok(())
    }

    /// Whether a folder is that of the plan, by whatever path.
    fn is_here(&self, out: &Path) -> Result<bool> {
        let whole = |path: &Path| fs::canonicalize(path).map_err(|e| Error::io("find the folder", path, e));
        Ok(whole(out)? == whole(&self.folder.dir)?)
    }

    /// Stages what is not there yet, and publishes.
    fn stage(
        &self,
        report: &mut PackReport,
        shards: Vec<ShardJson>,
        out: &Path,
        lock: FolderLock,
        overwrite: bool,
    ) -> Result<()> {
        let meta = self.json.meta(self.options(&Default::default())?.frames.draws);
        let mut json = DatasetJson::new(&meta, shards);
        if json.shards.is_empty() {
            return Err(
                Error::decode("no video could be packed, so there is nothing to publish").file(&self.folder.dir)
            );
        }
        let is_here = self.is_here(out)?;
        let replaced =
            if is_here { replaced_here(out, overwrite)? } else { writer::replaceable(out, overwrite, &lock)? };
        let mut files: Vec<(Temporary, String)> = Vec::new();
        if !is_here {
            for name in json.file_names() {
                files.push((share(&self.folder.path(name), &out.join(name))?.0, name.to_owned()));
            }
        }
        if report.failed > 0 {
            let (file, listed) = writer::stage_failures(out, report.failed, &lines(&report.failures)?)?;
            report.failures_file = Some(listed.file.clone());
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
    Ok(Replaced { files: before.file_names().map(str::to_owned).collect(), removable })
}
