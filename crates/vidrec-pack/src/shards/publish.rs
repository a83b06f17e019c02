//! From receipts to a data set, and the removal of a plan whose parts became one, or never will.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use parking_lot::Mutex;

use super::place::{PLAN, Place};
use super::plan::PartsPlan;
use super::receipt::{self, Receipt};
use super::report::of_failed;
use super::report::{PackReport, lines};
use crate::plan::PackPlan;
use crate::video::Stage;
use crate::work::Failure;
use vidrec_core::dataset::listing::ShardFiles;
use vidrec_core::dataset::{Shard, Source, verify, writer};
use vidrec_core::progress::{Counter, Progress, ProgressFn, no_progress};
use vidrec_core::store::disk::publication::{LeftBehind, Replaced, Staged};
use vidrec_core::store::disk::regular_file::{Links, read_if_there};
use vidrec_core::store::disk::{FolderLock, Temporary, write_file};
use vidrec_core::store::location::is_remote;
use vidrec_core::store::remote::Bucket;
use vidrec_core::threads::in_order;
use vidrec_core::transfer::upload::{self, PushOptions, PushReport};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME, ShardJson};
use vidrec_format::error::{Error, ErrorKind, Hint, Result};
use vidrec_format::file_name::{FileKind, FileName};
use vidrec_format::limits;

/// The most parts that an error names.
const NAMED: usize = 10;

/// The stage at which the videos of parts that are not done fail.
const MISSING: &str = "missing";

impl PartsPlan {
    /// Makes a data set of the parts, and removes the plan.
    ///
    /// It checks each receipt and its files, and then writes `dataset.json` as the last file. So readers see the
    /// whole data set or none. The plan stays if parts are missing.
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
        let lock = self.place.bucket.is_none().then(|| FolderLock::take(&self.place.out)).transpose()?;
        let receipts = self.receipts()?;
        if let Some(report) = self.finish_removal(&receipts)? {
            return Ok(report);
        }
        self.check_missing(&receipts, options)?;
        self.check_failures(&self.report(&receipts)?)?;
        self.publish_receipts(receipts, options, lock, progress)
    }

    /// Goes on to remove a plan in object storage whose data set is published, if another call began to. Returns what is
    /// known of the data set.
    fn finish_removal(&self, receipts: &[Option<Receipt>]) -> Result<Option<PackReport>> {
        let Some(bucket) = &self.place.bucket else { return Ok(None) };
        if receipts.iter().all(Option::is_some) || Place::has(bucket, &self.json.jobs)? {
            return Ok(None);
        }
        let Some((listing, _)) = bucket.read(FILE_NAME, limits::MAX_LISTING_BYTES)? else { return Ok(None) };
        let json = DatasetJson::prove(&listing).map_err(|e| e.file(self.place.out.join(FILE_NAME)))?;
        let mut left = receipts.iter().flatten().filter_map(|receipt| receipt.shard.as_ref());
        if !left.all(|shard| json.lists(&shard.record_file)) {
            return Ok(None);
        }
        forget(&self.place)?;
        let mut report =
            PackReport { clips: json.clips, frames: json.frames, bytes: json.bytes, ..PackReport::default() };
        report.failed = json.failures.as_ref().map_or(0, |listed| listed.count);
        report.failures_file = json.failures.map(|listed| listed.file.to_string());
        Ok(Some(report.found()))
    }

    /// Makes a data set of all parts of a pack on one machine, which holds the lock of the output.
    pub(super) fn publish_all(&self, options: &PublishOptions, lock: Option<FolderLock>) -> Result<PackReport> {
        let receipts = self.receipts()?;
        self.check_missing(&receipts, options)?;
        let report = self.report(&receipts)?;
        if report.clips == 0 {
            let report = without_clips(&self.place.out, report)?;
            return forget(&self.place).map(|()| report);
        }
        self.publish_receipts(receipts, options, lock, &mut no_progress)
    }

    /// Removes the receipts of shards that are damaged, so that these are packed again: the machine may have crashed.
    pub(super) fn drop_damaged(&self, progress: &mut ProgressFn<'_>) -> Result<()> {
        let (source, nothing_new) =
            (self.place.source()?, Progress { total: Some(self.videos()), ..Progress::default() });
        for receipt in self.receipts()?.into_iter().flatten() {
            let Some(shard) = &receipt.shard else { continue };
            let open = open_shard(&self.place, shard, &source);
            match open.and_then(|open| verify::prove(&open, &mut |_| progress(&nothing_new))) {
                Err(e) if e.kind() == ErrorKind::Interrupted => return Err(e),
                Err(_) => self.place.remove(&receipt::name(receipt.part))?,
                Ok(_) => {}
            }
        }
        Ok(())
    }

    fn publish_receipts(
        &self,
        receipts: Vec<Option<Receipt>>,
        options: &PublishOptions,
        lock: Option<FolderLock>,
        progress: &mut ProgressFn<'_>,
    ) -> Result<PackReport> {
        let mut report = self.report(&receipts)?;
        let is_whole = receipts.iter().all(Option::is_some);
        let mut json = self.listing(receipts.into_iter().flatten().filter_map(|receipt| receipt.shard).collect())?;
        let failures = lines(&report.failures)?;
        json.failures = (report.failed > 0).then(|| writer::describe_failures(report.failed, &failures));
        report.failures_file = json.failures.as_ref().map(|listed| listed.file.to_string());
        let new = NewSet { place: &self.place, json: &json, failures: &failures, options };
        match (&self.place.bucket, lock) {
            (Some(bucket), _) => report.notes.extend(new.publish_in(bucket, progress)?),
            (None, Some(lock)) => report.left_behind = new.publish(lock, progress)?,
            (None, None) => return Err(Error::internal("a folder without a lock")),
        }
        if is_whole {
            report.left_behind.extend(forget(&self.place).err().map(|e| {
                format!(
                    "the data set is complete, but vidrec could not remove its plan: {e:#}; \
                     the same command removes it"
                )
            }));
        }
        Ok(report)
    }

    /// Returns the description of a data set with these shards.
    fn listing(&self, shards: Vec<ShardJson>) -> Result<DatasetJson> {
        if shards.is_empty() {
            let e = Error::decode("no video could be packed, so there is nothing to publish");
            return Err(e.file(&self.place.out));
        }
        let sum = |of: fn(&ShardJson) -> u64| shards.iter().map(of).try_fold(0u64, u64::checked_add);
        if sum(|s| s.clips).and(sum(|s| s.frames)).and(sum(|s| s.bytes)).is_none() {
            return Err(Error::limit("the receipts list more than a data set can hold").file(&self.place.out));
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
            .file(&self.place.out)
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
        let as_asked = [Stage::Short.to_string(), MISSING.to_owned()];
        let failed = report.failures.iter().filter(|failure| !as_asked.contains(&failure.stage)).count() as u64;
        let most = self.json.options()?.limits.max_failures.map(|most| most.count(self.json.videos));
        match most {
            Some(most) if failed > most => {
                let e = Error::decode(format!("more than {most} videos could not be packed")).file(&self.place.out);
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

/// A data set of the shards of a plan.
struct NewSet<'a> {
    place: &'a Place,
    json: &'a DatasetJson,
    failures: &'a str,
    options: &'a PublishOptions,
}

impl NewSet<'_> {
    /// Moves the files of all shards out of the folder of the plan. Returns what could not be cleaned up.
    fn publish(&self, lock: FolderLock, progress: &mut ProgressFn<'_>) -> Result<LeftBehind> {
        let out = &self.place.out;
        self.check_files(progress)?;
        let listing = read_if_there(&out.join(FILE_NAME), limits::MAX_LISTING_BYTES, Links::Follow)?;
        let is_there = listing.as_ref().is_some_and(|there| *there == self.json.to_bytes());
        if listing.is_some() && !is_there && !self.options.overwrite {
            return Err(writer::there_already(&out.join(FILE_NAME)));
        }
        let replaced = writer::replaceable(out, true)?;
        let is_stray = |name: &FileName| name.kind() != Some(FileKind::Failures) && !self.json.lists(name);
        if listing.is_none() && !self.options.overwrite && replaced.removable.iter().any(is_stray) {
            // These are the remains of another data set. The files of this plan may be there already.
            writer::replaceable(out, false)?;
        }
        let names = self.json.shards.iter().flat_map(ShardJson::file_names);
        // Each file stays where it is until it gets its name in the data set.
        let mut staged: Vec<_> =
            names.map(|name| (Temporary::kept(self.place.shard_path(name)), name.clone())).collect();
        if let Some(listed) = &self.json.failures {
            staged.push((writer::stage_failures(out, self.failures)?, listed.file.clone()));
        }
        Staged::new(out, lock, staged, &self.json.to_bytes(), replaced.but_for(self.json))?.publish()
    }

    /// Publishes the shards at a location in object storage, where their files are already. Returns notes about what could
    /// not be cleaned up.
    fn publish_in(&self, bucket: &Bucket, progress: &mut ProgressFn<'_>) -> Result<Vec<String>> {
        let (listing, storage) = (self.json.to_bytes(), self.place.storage.clone());
        let overwrite = self.options.overwrite;
        let target = upload::Place::open(&self.place.out, &PushOptions { storage, overwrite, scratch: None })?;
        let is_there = target.has(&listing);
        if !is_there {
            target.check()?;
        }
        self.check_files(progress)?;
        if !is_there {
            if let Some(listed) = &self.json.failures {
                bucket.put(&listed.file, self.failures.as_bytes().to_vec())?;
            }
            target.commit(&listing)?;
        }
        let mut pushed = PushReport::default();
        target.tidy(self.json, &mut pushed);
        Ok(pushed.notes)
    }

    /// Checks the files of all shards, several at a time.
    fn check_files(&self, progress: &mut ProgressFn<'_>) -> Result<()> {
        let (shards, place) = (&self.json.shards, self.place);
        let source = place.source()?;
        let counter = Mutex::new(Counter::new(Some(shards.len() as u64), progress));
        let counter = || counter.lock();
        in_order(shards.len(), place.at_once(), |i| {
            let open = open_shard(place, &shards[i], &source)?;
            if self.options.read_all {
                prove(&open, &mut |_| to_control_flow(counter().tell()))?;
            }
            counter().add(shards[i].frames, shards[i].bytes)
        })?;
        Ok(())
    }
}

/// Opens a shard and compares it with its receipt.
fn open_shard(place: &Place, shard: &ShardJson, source: &Source) -> Result<Shard> {
    let files = ShardFiles {
        index: place.shard_path(&shard.index_file),
        record: Some(place.shard_path(&shard.record_file)),
        tracks: shard.track_file.as_ref().map(|tracks| place.shard_path(&tracks.file)),
        added: Vec::new(),
        listed: Some(shard.clone()),
    };
    source
        .twice(|| Shard::open(&files, source))
        .map_err(|e| e.help("remove the receipt of its part, and pack the part again"))
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
fn to_control_flow(told: Result<()>) -> ControlFlow<()> {
    if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// The options for publishing a plan.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PublishOptions {
    /// Publish without the parts that are not done. Their videos are then in the list of failures, at the stage
    /// `missing`. Off by default: a part that is not done is an error.
    pub allow_missing: bool,
    /// Replace a data set that is already there. Off by default.
    pub overwrite: bool,
    /// Read all files, and check everything that [`verify`](vidrec_core::dataset::verify::verify()) checks without
    /// decoding the images. Off by default: vidrec then checks the length of each file, and the checksums of both
    /// its ends and of the small sections of its index.
    pub read_all: bool,
}

/// Removes a plan whose parts became a data set. In object storage, its jobs go first, so that a plan without them is known to
/// be published, and `plan.json` goes last, because it says which objects there are.
pub(super) fn forget(place: &Place) -> Result<()> {
    if place.bucket.is_none() {
        return place.remove_folder();
    }
    let plan = match PartsPlan::open_place(place.clone()) {
        // Another process has removed it.
        Err(_) if place.read(PLAN)?.is_none() => return Ok(()),
        plan => plan?,
    };
    place.remove(&plan.json.jobs)?;
    in_order(plan.parts() as usize, place.at_once(), |part| place.remove(&receipt::name(part as u32)))?;
    place.remove(PLAN)
}

/// Removes a plan, and the files of its parts that are not in a data set.
pub(super) fn discard(place: &Place) -> Result<()> {
    if let Some(bucket) = &place.bucket {
        remove_shards(&PartsPlan::open_place(place.clone())?, bucket)?;
    }
    forget(place)
}

fn remove_shards(plan: &PartsPlan, bucket: &Bucket) -> Result<()> {
    let listing = bucket.read(FILE_NAME, limits::MAX_LISTING_BYTES)?;
    let listing = listing.map(|(bytes, _)| DatasetJson::prove(&bytes)).transpose()?;
    let listed: HashSet<&FileName> = listing.iter().flat_map(DatasetJson::file_names).collect();
    let shards: Vec<_> = plan.receipts()?.into_iter().flatten().filter_map(|receipt| receipt.shard).collect();
    let names: Vec<&FileName> =
        shards.iter().flat_map(ShardJson::file_names).filter(|name| !listed.contains(name)).collect();
    in_order(names.len(), plan.place.at_once(), |i| bucket.remove(names[i])).map(drop)
}
