//! Saves the intact clips of a damaged data set, and lists exactly what is lost.

mod damaged_shard;
mod damaged_tracks;
mod salvage;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::damaged_shard::DamagedShard;
use self::damaged_tracks::DamagedTracks;
pub use self::salvage::DamagedClip;
use self::salvage::{Salvage, SavedClip};
use crate::dataset::edit;
use crate::dataset::writer::{FrameData, Writer, WriterOptions};
use crate::progress::{Counter, ProgressFn};
use crate::store::location::is_remote;
use vidrec_format::{DatasetJson, Error, JsonObject, Meta, Result};

/// Saves the intact clips of the data set in the folder at `path` as a new data set. The files at `path` do not change.
///
/// Each index entry and each image has its own checksum, so vidrec knows what is intact. If the index is lost, vidrec finds
/// clips in the record file. If a SHA-256 of that file is left, in the index, in `dataset.json` or in its name, it
/// proves their images and labels. Otherwise vidrec saves a clip if its images decode and its labels agree, and marks
/// it as `unproven`. A clip with a damaged or missing frame is lost, and so are the other draws of its video. The
/// attribute `repair` of a saved clip says which parts of it were lost.
///
/// In a data set that was indexed in place, another program wrote the ids and labels in the records, so only index
/// entries say which records form a clip. An item of `progress` is a clip that was examined.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is nothing to repair, or the output holds a data set or
/// is the data set to repair. [`Io`](vidrec_format::error::ErrorKind::Io): from the file system.
///
/// ```no_run
/// let options = vidrec::RepairOptions { output: Some("saved".into()), ..Default::default() };
/// let report = vidrec::repair("damaged", &options, &mut vidrec::no_progress)?;
/// println!("{} of {} clips saved", report.saved, report.clips);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn repair(path: impl AsRef<Path>, options: &RepairOptions, progress: &mut ProgressFn<'_>) -> Result<RepairReport> {
    if is_remote(path.as_ref()) {
        let e = Error::usage("vidrec repairs only data sets in local folders").file(path.as_ref());
        return Err(e.help("copy its files to a local folder first"));
    }
    let mut report = RepairReport::default();
    let (files, listing) = damaged_shard::find(path.as_ref(), &mut report.damage)?;
    let shards = files.into_iter().map(DamagedShard::open).collect::<Result<Vec<_>>>()?;
    let meta = meta_of(&shards, listing.as_ref(), &mut report.damage);
    let writer = options.output.as_deref().map(|output| create(output, options.overwrite, path.as_ref(), &meta));
    let counter = &mut Counter::new(listing.map(|listing| listing.clips), progress);
    let mut repair = Repair { meta: &meta, report, writer: writer.transpose()?, counter };
    shards.iter().try_for_each(|shard| repair.shard(shard))?;
    let Repair { mut report, writer, .. } = repair;
    if let Some(writer) = writer.filter(|writer| writer.clips() > 0) {
        report.left_behind = writer.finish()?.left_behind;
        report.output.clone_from(&options.output);
    }
    Ok(report)
}

fn create(output: &Path, overwrite: bool, damaged: &Path, meta: &Meta) -> Result<Writer> {
    let [output_folder, damaged_folder] = [output, damaged].map(|path| fs::canonicalize(path).ok());
    if output_folder.is_some() && output_folder == damaged_folder {
        let e = Error::usage("the output is the same folder as the data set to repair").file(output);
        return Err(e.help("choose another folder"));
    }
    Writer::create(output, WriterOptions { meta: meta.clone(), overwrite })
}

/// Class names and settings: those of an intact index, or else those of `dataset.json`, which has all keys of META.
fn meta_of(shards: &[DamagedShard], listing: Option<&DatasetJson>, damage: &mut Vec<String>) -> Meta {
    let intact: Vec<&Meta> = shards.iter().filter_map(|shard| shard.meta.as_ref()).collect();
    if !intact.is_empty() {
        // The longest list of class names has those of all others.
        let classes = intact.iter().map(|meta| &meta.classes).max_by_key(|classes| classes.len());
        return Meta { classes: classes.cloned().unwrap_or_default(), ..edit::merged_meta(&intact).0 };
    }
    let listed = listing.and_then(|listing| Meta::from_json(&listing.to_bytes()).ok());
    let from = listed.as_ref().map_or("they are lost", |_| "those in dataset.json are used, which has no checksum");
    damage.push(format!("no index has class names and settings: {from}"));
    listed.unwrap_or_default()
}

struct Repair<'r, 'p, 'f> {
    meta: &'r Meta,
    report: RepairReport,
    writer: Option<Writer>,
    counter: &'r mut Counter<'p, 'f>,
}

impl Repair<'_, '_, '_> {
    fn shard(&mut self, shard: &DamagedShard) -> Result<()> {
        let salvage = Salvage::new(shard, self.meta);
        let (found, clips) = salvage.clips();
        let tracks = DamagedTracks::of(shard, clips)?;
        let missing = shard.records().is_none().then(|| "the record file is missing".to_owned());
        let damage = shard.fault.iter().cloned().chain(missing).chain(tracks.faults());
        self.report.damage.extend(damage.map(|damage| format!("{}: {damage}", shard.name)));
        self.report.clips += clips;
        self.writer.as_mut().map_or(Ok(()), Writer::next_shard)?;
        let draws = edit::draws_per_video(self.meta);
        for first in (0..found).step_by(draws as usize) {
            let group: Vec<_> = (first..found.min(first + draws)).map(|clip| salvage.clip(clip)).collect();
            let is_whole = group.len() as u64 == draws && group.iter().all(Result::is_ok);
            for (ordinal, clip) in (first..).zip(group) {
                self.counter.add(0, 0)?;
                let lost = match clip {
                    Ok(clip) if is_whole => {
                        self.write(shard, ordinal, clip, &tracks).map_err(|e| e.in_clip(ordinal))?;
                        continue;
                    }
                    Ok(clip) => salvage.lost(ordinal, clip.info.source, "another draw of the same video is lost"),
                    Err(lost) => lost,
                };
                self.report.lost.push(lost);
            }
        }
        if found < clips {
            let lost = salvage.lost(found, String::new(), "nothing of it is left");
            self.report.lost.push(DamagedClip { clips: clips - found, ..lost });
        }
        Ok(())
    }

    fn write(
        &mut self,
        shard: &DamagedShard,
        ordinal: u64,
        mut clip: SavedClip<'_>,
        tracks: &DamagedTracks,
    ) -> Result<()> {
        let hidden = shard.listed.iter().filter_map(|listed| listed.added.as_ref()).flat_map(|added| &added.hidden);
        let (blocks, hidden) = (tracks.blocks(ordinal), hidden.cloned().collect::<Vec<_>>());
        let intact = tracks.intact(&blocks, &hidden, &mut clip);
        let SavedClip { mut info, frames, losses } = clip;
        let repair = JsonObject::of(&losses)?;
        if !repair.is_empty() {
            info.attributes.insert("repair", &repair)?;
            let (shard, source, what) = (shard.name.clone(), info.source.clone(), repair.0.into());
            self.report.partly_lost.push(DamagedClip { shard, clip: ordinal, clips: 1, source, what });
        }
        self.report.saved += 1;
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let data = frames.iter().map(|f| FrameData { jpeg: &f.jpeg, pts: f.pts, source_index: f.source_index });
        writer.append_payloads(&info, &data.collect::<Vec<_>>(), &intact)
    }
}

/// Options of [`repair`](crate::dataset::repair::repair()).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairOptions {
    /// Write the intact clips to this folder as a new data set. By default, only the report is made.
    pub output: Option<PathBuf>,
    /// Replace an existing data set in `output`.
    pub overwrite: bool,
}

/// The report of [`repair`](crate::dataset::repair::repair()). `vidrec repair --json` prints the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// The number of clips that the data set had, as far as it is known.
    pub clips: u64,
    /// Clips with all their frames. They are in the new data set, if there is one.
    pub saved: u64,
    /// Lost clips, in order.
    pub lost: Vec<DamagedClip>,
    /// Saved clips that lost something other than their images and label, in order.
    pub partly_lost: Vec<DamagedClip>,
    /// The damage of files as a whole.
    pub damage: Vec<String>,
    /// The folder of the new data set. `None` if nothing was written.
    pub output: Option<PathBuf>,
    /// Files of a replaced data set that could not be cleaned up, in words. Usually empty. The new data set is
    /// complete, and the next write in its folder cleans up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

impl RepairReport {
    /// Whether all clips can be saved, with everything that belongs to them.
    pub fn lost_nothing(&self) -> bool {
        self.lost.is_empty() && self.partly_lost.is_empty() && (self.clips > 0 || self.damage.is_empty())
    }
}
