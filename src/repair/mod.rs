//! Saving what is intact of a damaged data set, and saying exactly what is not.

mod old_index;
mod output;
mod salvage;
mod scan;
mod shards;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};

use self::old_index::OldIndex;
use self::output::{Indexes, Sink};
use self::salvage::{FOREIGN_WITHOUT_ENTRY, Fate, Salvage, SalvagedClip};
use self::shards::{Files, ShardFiles};
use crate::format::data_binding::{DataBinding, edge_crc32};
use crate::format::meta::{FOREIGN_RECORDS, Meta};
use crate::{Error, Result, Writer, WriterOptions, writer};

/// How [`repair`] works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairOptions {
    /// Write what is intact to this folder, as a new data set. Off by default: then the data set itself is repaired,
    /// which is possible as long as its record files are whole.
    pub output: Option<PathBuf>,
    /// Only find out what can be saved.
    pub dry_run: bool,
    /// Leave out clips that no checksum proves.
    pub proven_only: bool,
    /// Replace a data set that is in `output` already.
    pub overwrite: bool,
}

/// What [`repair`] found and did. This is also what `vidrec repair --json` prints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// Whether nothing was wrong.
    pub whole: bool,
    /// Clips that there were, as far as anything says.
    pub clips: u64,
    /// Clips with all their frames, which are in the repaired data set.
    pub salvaged: u64,
    /// Clips that are lost, in order.
    pub lost: Vec<LostClip>,
    /// Clips among the salvaged of which something beside the pictures and the label is lost, in order.
    pub partly_lost: Vec<PartlyLost>,
    /// What is wrong with the files.
    pub damage: Vec<String>,
    /// Whether nothing was written because clips are lost or record files are damaged: then it takes an output folder, or
    /// for the files in `needs_import` that.
    pub needs_output: bool,
    /// Record files of another program of which the index is lost, whole or in part, so that nothing says what is a clip:
    /// `vidrec import mxnet` makes the index anew.
    pub needs_import: Vec<String>,
    /// What was written; nothing after a dry run, or when nothing was wrong.
    pub written: Vec<String>,
}

impl RepairReport {
    /// Whether everything that the data set held was saved, or was never in danger.
    pub fn lost_nothing(&self) -> bool {
        self.lost.is_empty() && self.partly_lost.is_empty() && self.needs_import.is_empty()
    }
}

/// A clip that is lost, or several of which nothing is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostClip {
    /// Name of the shard's record file.
    pub shard: String,
    /// Ordinal of the clip in its shard.
    pub clip: u64,
    /// How many clips, from that one on.
    pub clips: u64,
    /// Its source, if that is still known.
    pub source: Option<String>,
    /// Its label, if it has one that is still known.
    pub label: Option<u32>,
    /// Which of its frames are damaged or missing, if that is known.
    pub frames: Vec<u32>,
    /// Why it is lost.
    pub reason: String,
}

/// A clip that was saved without some of what was known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartlyLost {
    /// Name of the shard's record file.
    pub shard: String,
    /// Ordinal of the clip in its shard.
    pub clip: u64,
    /// Its source, if that is still known.
    pub source: Option<String>,
    /// What is lost: also in the clip's attributes, under `repair`.
    pub repair: Value,
}

/// What is lost of a clip that was salvaged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Losses {
    /// Source and class, which is known again by the label where there are class names.
    names: bool,
    attributes: bool,
    /// All presentation times, source indexes and whether the clip is short.
    times: bool,
    /// Frames whose time and source index are lost.
    frame_times: Vec<u32>,
    /// No checksum proves the pictures or the label.
    unproven: bool,
}

impl Losses {
    /// As an object; empty if nothing is lost.
    fn to_json(&self) -> Map<String, Value> {
        let mut lost = Vec::new();
        for (is_lost, what) in [
            (self.names, "source"),
            (self.names || self.attributes, "attributes"),
            (self.times, "times"),
            (self.times, "short"),
        ] {
            lost.extend(is_lost.then_some(what));
        }
        let mut object = Map::new();
        if !lost.is_empty() {
            object.insert("lost".into(), json!(lost));
        }
        if !self.frame_times.is_empty() {
            object.insert("frames_without_time".into(), json!(self.frame_times));
        }
        if self.unproven {
            object.insert("unproven".into(), true.into());
        }
        object
    }
}

/// Repairs the data set at `path`: a folder, a `dataset.json`, a `.rec` or a `.vidx`.
///
/// Each entry of an index and each picture has a checksum of its own, so what damage did not touch is known to be
/// intact and is saved. Where the index is lost, clips are found in the record file; pictures and labels are then
/// proven by the file's SHA-256 if `dataset.json` or the index still has it, or else they are taken if they decode and
/// agree, and are marked as `unproven`. A clip of which a frame is damaged or missing is left out whole. What was
/// lost of a clip that was saved stands in its attributes under `repair`.
///
/// Without an output, indexes and `dataset.json` are written anew where they need to be, and the old ones are kept under
/// names that end in `.broken`. Record files are never changed: where they are damaged, nothing is written without an
/// output, and the report says so. In a data set that was indexed in place, the records' own ids and labels are another
/// program's, so only entries of the index say what is a clip. `progress` gets the number of clips looked at.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): there is nothing to repair; the output holds a data set or is the one to be
/// repaired. [`Io`](crate::ErrorKind::Io) from the file system.
///
/// ```no_run
/// let options = vidrec::RepairOptions { output: Some("saved".into()), ..Default::default() };
/// let report = vidrec::repair("damaged", &options, &mut |_clips| ())?;
/// println!("{} of {} clips saved", report.salvaged, report.clips);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn repair(path: impl AsRef<Path>, options: &RepairOptions, progress: &mut dyn FnMut(u64)) -> Result<RepairReport> {
    let in_place = options.output.is_none() && !options.dry_run;
    // Completes or undoes what an interrupted write left, before anything is looked at.
    let lock = in_place.then(|| writer::lock(shards::folder(path.as_ref()))).transpose()?;
    let files = shards::find(path.as_ref())?;
    let indexes: Vec<OldIndex<'_>> =
        files.shards.iter().map(|s| OldIndex::read(s.index.as_deref().unwrap_or_default())).collect();
    let mut report = RepairReport { damage: files.notes.clone(), ..RepairReport::default() };
    let metas = metas(&files, &indexes, &mut report);
    let mut sink = match lock {
        Some(lock) => Sink::InPlace(Box::new(Indexes::new(lock))),
        None => open_sink(&files, &metas, options)?,
    };
    for ((shard, old), meta) in files.shards.iter().zip(&indexes).zip(&metas) {
        note_damage(shard, old, &mut report);
        let name = shard.name();
        let record = shard.record.as_deref().unwrap_or_default();
        let salvage = Salvage::new(&name, record, old, shard.listed.as_ref(), &meta.classes)?;
        Run { name: &name, salvage, options, report: &mut report, sink: &mut sink, progress, left_out: false }
            .shard(shard, old, meta)?;
    }
    sink.finish(&files, &mut report)?;
    report.whole = report.lost_nothing() && report.damage.is_empty();
    Ok(report)
}

fn open_sink(files: &Files, metas: &[Meta], options: &RepairOptions) -> Result<Sink> {
    let Some(folder) = &options.output else { return Ok(Sink::Nowhere) };
    let same = |a: &Path, b: &Path| fs::canonicalize(a).ok().zip(fs::canonicalize(b).ok()).is_some_and(|(a, b)| a == b);
    for shard in &files.shards {
        let parent = shard.record_path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if same(parent, folder) {
            return Err(Error::usage("the output is what is to be repaired")
                .file(folder)
                .help("choose another folder, or none to repair indexes in place"));
        }
    }
    if options.dry_run {
        return Ok(Sink::Nowhere);
    }
    let meta = crate::edit::merged_meta(&metas.iter().collect::<Vec<_>>()).0;
    let writer = Writer::create(folder, WriterOptions { meta, overwrite: options.overwrite })?;
    Ok(Sink::New { writer: Box::new(writer), folder: folder.clone() })
}

/// What each shard says of itself: its own META, or that of another shard, or what `dataset.json` has.
fn metas(files: &Files, indexes: &[OldIndex<'_>], report: &mut RepairReport) -> Vec<Meta> {
    let known = indexes.iter().find_map(|old| old.meta.clone());
    // Its keys are those of META, and others.
    let mut listed = files.listing.as_ref().and_then(|l| Meta::from_json(&l.to_bytes()).ok());
    if let (None, Some(listed)) = (&known, &mut listed) {
        correct_classes(&mut listed.classes, indexes);
    }
    let from = match (&known, &listed) {
        (Some(_), _) => "those of another shard are taken",
        (None, Some(_)) => "those in dataset.json are taken, which has no checksum",
        (None, None) => "nothing else has them",
    };
    let fallback = known.or(listed).unwrap_or_default();
    for (shard, _) in files.shards.iter().zip(indexes).filter(|(_, old)| old.meta.is_none()) {
        report.damage.push(format!("{}: class names and settings are lost; {from}", shard.name()));
    }
    // Readers refuse shards that do not have the same class names, so the first ones count.
    let classes = fallback.classes.clone();
    let meta =
        |old: &OldIndex<'_>| old.meta.clone().filter(|m| m.classes == classes).unwrap_or_else(|| fallback.clone());
    indexes.iter().map(meta).collect()
}

/// Puts class names of a list without a checksum right by those that entries of clips prove. A list that does not fit the
/// clips is dropped.
fn correct_classes(classes: &mut Vec<String>, indexes: &[OldIndex<'_>]) {
    let mut proven: BTreeMap<u32, &str> = BTreeMap::new();
    for (label, class) in indexes.iter().flat_map(OldIndex::labels) {
        let known = proven.entry(label).or_insert(class);
        if known.is_empty() {
            *known = class;
        }
        if label as usize >= classes.len() || (!class.is_empty() && *known != class) {
            return classes.clear();
        }
    }
    for (label, class) in proven.into_iter().filter(|(_, class)| !class.is_empty()) {
        class.clone_into(&mut classes[label as usize]);
    }
}

fn note_damage(shard: &ShardFiles, old: &OldIndex<'_>, report: &mut RepairReport) {
    let name = shard.name();
    match (&shard.index, &old.damage) {
        (None, _) => report.damage.push(format!("{name}: its index is missing")),
        (_, Some(damage)) => report.damage.push(format!("{name}: its index is damaged: {damage}")),
        _ => {}
    }
    if shard.record.is_none() {
        report.damage.push(format!("{name}: the record file is missing"));
    }
}

/// One shard on its way from the old files to the new ones.
struct Run<'r, 'a> {
    name: &'r str,
    salvage: Salvage<'a>,
    options: &'r RepairOptions,
    report: &'r mut RepairReport,
    sink: &'r mut Sink,
    progress: &'r mut dyn FnMut(u64),
    /// Whether a clip that is whole was left out.
    left_out: bool,
}

impl<'a> Run<'_, 'a> {
    fn shard(&mut self, shard: &ShardFiles, old: &OldIndex<'_>, meta: &Meta) -> Result<()> {
        let binding = binding(shard.record.as_deref().unwrap_or_default(), self.salvage.sha256);
        let binding_fits = old.binding == Some(binding);
        self.sink.begin_shard(shard, old.is_whole && binding_fits)?;
        let draws = crate::edit::draws(meta);
        let clip_count = self.salvage.clip_count();
        self.report.clips += clip_count;
        let mut group: Vec<Fate<'a>> = Vec::new();
        let mut next = 0;
        for ordinal in self.salvage.ordinals() {
            if group.first().is_some_and(|_| ordinal / draws != (next - 1) / draws) {
                self.group(&mut group, draws)?;
            }
            self.nothing_left(next, ordinal);
            group.push(self.salvage.clip(ordinal));
            next = ordinal + 1;
            (self.progress)(next);
        }
        self.group(&mut group, draws)?;
        self.nothing_left(next, clip_count);
        let foreign = self.salvage.is_foreign;
        // What stands in another program's records beside the pictures is proven by the digests alone.
        let is_known = !foreign || old.binding.is_none() || binding_fits;
        let record_is_whole = self.salvage.fills_the_file() && is_known && shard.record.is_some();
        let name = self.name;
        if shard.record.is_some() && !record_is_whole && foreign && is_known && !old.is_whole {
            self.report.damage.push(format!(
                "{name}: ids and labels of its records are another program's, not vidrec's, and what the index said of \
                 the clips is lost; `vidrec import mxnet {name} --in-place --force`, with the options of the first \
                 time, makes the index anew"
            ));
            self.report.needs_import.push(name.to_owned());
        } else if !record_is_whole && shard.record.is_some() {
            self.report.damage.push(format!("{name}: the record file is damaged or not complete"));
        } else if record_is_whole && old.binding.is_some() && !binding_fits {
            self.report.damage.push(format!("{name}: its length or digests are not what the index says"));
        }
        let keeps_all = record_is_whole && !self.left_out;
        let records = if foreign { FOREIGN_RECORDS.to_owned() } else { String::new() };
        self.sink.end_shard(keeps_all.then_some(&binding), &Meta { records, ..meta.clone() })
    }

    /// Clips of which neither entry nor record is left.
    fn nothing_left(&mut self, first: u64, end: u64) {
        if first < end {
            let reason = if self.salvage.is_foreign { FOREIGN_WITHOUT_ENTRY } else { "nothing of it is left" };
            self.report.lost.push(LostClip {
                shard: self.name.to_owned(),
                clip: first,
                clips: end - first,
                source: None,
                label: None,
                frames: Vec::new(),
                reason: reason.into(),
            });
        }
    }

    /// Writes the draws of one video if all of them are there, and none of them otherwise.
    fn group(&mut self, group: &mut Vec<Fate<'a>>, draws: u64) -> Result<()> {
        let unproven = |clip: &SalvagedClip<'_>| self.options.proven_only && clip.losses.unproven;
        let fits = |fate: &Fate<'_>| matches!(fate, Fate::Salvaged(clip) if !unproven(clip));
        let complete = group.len() as u64 == draws && group.iter().all(fits);
        for fate in group.drain(..) {
            match fate {
                Fate::Lost(lost) => self.report.lost.push(lost),
                Fate::Salvaged(clip) if complete => self.write(clip)?,
                Fate::Salvaged(clip) => {
                    let reason = match clip.losses.unproven && self.options.proven_only {
                        true => "no checksum proves it",
                        false => "another draw of its video is lost",
                    };
                    self.report.lost.push(LostClip {
                        shard: self.name.to_owned(),
                        clip: clip.ordinal,
                        clips: 1,
                        source: known(&clip.info.source),
                        label: clip.info.label,
                        frames: Vec::new(),
                        reason: reason.into(),
                    });
                    self.left_out = true;
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, mut clip: SalvagedClip<'a>) -> Result<()> {
        let repair = clip.losses.to_json();
        if !repair.is_empty() {
            self.report.partly_lost.push(PartlyLost {
                shard: self.name.to_owned(),
                clip: clip.ordinal,
                source: known(&clip.info.source),
                repair: repair.clone().into(),
            });
            clip.info.attributes.insert("repair".into(), repair.into());
        }
        self.report.salvaged += 1;
        self.sink.write(&clip).map_err(|e: Error| e.in_clip(clip.ordinal))
    }
}

fn binding(file: &[u8], sha256: [u8; 32]) -> DataBinding {
    DataBinding { length: file.len() as u64, sha256, edge_crc32: edge_crc32(file) }
}

fn known(source: &str) -> Option<String> {
    (!source.is_empty()).then(|| source.to_owned())
}
