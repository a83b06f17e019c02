//! Copies the intact clips of a damaged data set to a new one, and lists what is lost.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::dataset::listing::{self, Listing, ShardFiles};
use crate::dataset::verify::stops;
use crate::dataset::writer::{Writer, WriterOptions};
use crate::dataset::{Clip, Io, Shard, Source, edit};
use crate::progress::{Counter, ProgressFn};
use crate::store::disk::folder;
use crate::store::location::is_remote;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::{DatasetJson, Error, FileKind, FileName, Hint, Meta, Result, file_name};

/// Copies the intact clips of the data set in the folder at `path` to a new data set. The files at `path` do not change.
///
/// A clip is intact if its entry, its texts and all its frames match their checksums. Otherwise it is lost, and so are the
/// other draws of its video. A shard is lost as a whole if its index does not verify. A clip whose tracks, or attributes that
/// it got after it was packed, cannot be read is saved without them. If `dataset.json` is missing or damaged, vidrec takes all
/// shards in the folder, in order of their names. An item of `progress` is a clip that was examined.
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
    let path = path.as_ref();
    if is_remote(path) {
        let e = Error::usage("vidrec repairs only data sets in local folders").file(path);
        return Err(e.help("copy its files to a local folder first"));
    }
    let folders = options.output.as_deref().map(|output| [output, path].map(|folder| fs::canonicalize(folder).ok()));
    if folders.is_some_and(|[output, path]| output.is_some() && output == path) {
        let e = Error::usage("the output is the same folder as the data set to repair").file(path);
        return Err(e.help("choose another folder"));
    }
    let mut report = RepairReport::default();
    let files = find(path, &mut report)?;
    let shards = open(files, &mut report)?;
    let metas: Vec<&Meta> = shards.iter().map(|(_, shard)| &shard.index.meta).collect();
    let classes = metas.last().map_or_else(Vec::new, |last| last.classes.clone());
    let meta = Meta { classes, ..edit::merged_meta(&metas).0 };
    let create = |output| Writer::create(output, WriterOptions { meta: meta.clone(), overwrite: options.overwrite });
    let writer = options.output.as_ref().map(create).transpose()?;
    let counter = Counter::new(Some(shards.iter().map(|(_, shard)| shard.clip_count()).sum()), progress);
    let mut repair = Repair { draws: edit::draws_per_video(&meta), report, writer, counter };
    shards.iter().try_for_each(|(files, shard)| repair.shard(files, shard))?;
    let Repair { mut report, writer, .. } = repair;
    report.clips = report.lost.iter().fold(report.saved, |sum, lost| sum.saturating_add(lost.clips));
    match writer.filter(|writer| writer.clips() > 0) {
        Some(writer) => {
            report.left_behind = writer.finish()?.left_behind;
            report.output.clone_from(&options.output);
        }
        None => options.output.iter().for_each(|output| folder::remove_if_empty(output)),
    }
    Ok(report)
}

const LOCAL: Source = Source::Local(Io::Map);

/// What is wrong, without the advice to repair it.
fn words(e: Error) -> String {
    format!("{:#}", e.without_hints(&[Hint::Repair]))
}

/// The files of each shard: those that `dataset.json` lists or, if it cannot be used, those of each index in the folder.
fn find(folder: &Path, report: &mut RepairReport) -> Result<Vec<ShardFiles>> {
    let there = listing::files_in(folder, |name| name.kind() != Some(FileKind::Failures))?;
    if there.is_empty() {
        let e = Error::usage("this folder has no files of a data set").file(folder);
        return Err(e.expected(".rec or .vidx files"));
    }
    let is_there = |name: &FileName| folder.join(name).exists();
    let fits = |json: &DatasetJson| there.iter().all(|name| json.lists(name)) || json.file_names().all(is_there);
    let unusable = match listing::find(&folder.join(FILE_NAME), &LOCAL) {
        Ok(Listing { shards, json: Some((_, json)) }) if fits(&json) => return Ok(shards),
        Ok(_) => "it does not list the files that are here".into(),
        Err(e) => words(e),
    };
    report.damage.push(format!("{FILE_NAME} cannot be used: {unusable}"));
    let indexes: Vec<&FileName> = there.iter().filter(|name| name.kind() == Some(FileKind::Index)).collect();
    let are_of_one = |one: &FileName, other: &FileName| file_name::stem(one) == file_name::stem(other);
    if let Some([one, other]) = indexes.windows(2).find(|pair| are_of_one(pair[0], pair[1])) {
        let e = Error::usage(format!("without {FILE_NAME}, only one of these files can be used")).file(folder);
        return Err(e.found(format!("{one} and {other}")).help("move the one away that does not belong here"));
    }
    for name in &there {
        let why = match name.kind() {
            _ if name.is_of_added_tracks() => "only dataset.json says whose tracks these are",
            Some(FileKind::Records) if !indexes.iter().any(|index| are_of_one(index, name)) => "its index is missing",
            _ => continue,
        };
        report.lost.push(DamagedClip::new(name, 0..0, "", why));
    }
    Ok(indexes.into_iter().map(|index| listing::shard(&folder.join(index), &LOCAL)).collect())
}

/// Opens the shards whose indexes verify. The others are lost.
fn open(found: Vec<ShardFiles>, report: &mut RepairReport) -> Result<Vec<(ShardFiles, Shard)>> {
    let mut open: Vec<(ShardFiles, Shard)> = Vec::new();
    for files in found {
        let follows = |shard: &Shard| open.last().map_or(Ok(()), |(_, earlier)| shard.prove_follows(earlier));
        let shard = Shard::open_unbound(&files, &LOCAL).and_then(|shard| follows(&shard).map(|()| shard));
        match shard {
            Ok(shard) => open.push((files, shard)),
            Err(e) if stops(&e) => return Err(e),
            Err(e) => {
                let clips = files.listed.as_ref().map_or(0, |listed| listed.clips);
                let name = files.record.as_ref().unwrap_or(&files.index).file_name().unwrap_or_default();
                report.lost.push(DamagedClip::new(&name.to_string_lossy(), 0..clips, "", words(e)));
            }
        }
    }
    Ok(open)
}

struct Repair<'p, 'f> {
    draws: u64,
    report: RepairReport,
    writer: Option<Writer>,
    counter: Counter<'p, 'f>,
}

impl Repair<'_, '_> {
    /// Saves the intact clips of a shard. All draws of a video are intact, or it is lost.
    fn shard(&mut self, files: &ShardFiles, shard: &Shard) -> Result<()> {
        let name = &*shard.json.record_file;
        let faults = [shard.prove_binding(), shard.prove_listed(files.listed.as_ref()), shard.open_tracks()];
        self.report.damage.extend(faults.into_iter().filter_map(|fault| fault.err().map(words)));
        if let Some(writer) = &mut self.writer {
            writer.next_shard()?;
            writer.join_tracks(shard.opened_tracks().iter().map(|(_, track)| *track))?;
        }
        let bare = Shard { tracks: None, added: Vec::new(), ..Shard::open_unbound(files, &LOCAL)? };
        let clip =
            |ordinal| Ok(Clip { shard: &bare, ordinal, stored: ordinal, frames_before: 0, entry: bare.clip(ordinal)? });
        let prove = |clip: Clip<'_>| clip.info().and_then(|_| clip.frames().try_for_each(|frame| frame?.check()));
        for first in (0..shard.clip_count()).step_by(self.draws as usize) {
            let video = first..shard.clip_count().min(first + self.draws);
            let faults: Vec<_> = video.clone().map(|ordinal| clip(ordinal).and_then(prove).err()).collect();
            let is_intact = faults.len() as u64 == self.draws && faults.iter().all(Option::is_none);
            for (ordinal, fault) in video.zip(faults) {
                self.counter.add(0, 0)?;
                let clip = clip(ordinal);
                if is_intact {
                    let bare = clip?;
                    self.save(Clip { shard, ..bare }, bare)?;
                    continue;
                }
                let source = clip.and_then(|clip| clip.source()).unwrap_or_default();
                let why = fault.map_or("another draw of the same video is lost".into(), words);
                self.report.lost.push(DamagedClip::new(name, ordinal..ordinal + 1, &source, why));
            }
        }
        Ok(())
    }

    /// Saves a clip or, if its tracks cannot be read, the same without them.
    fn save<'a>(&mut self, clip: Clip<'a>, bare: Clip<'a>) -> Result<()> {
        let whole = clip.tracks().and_then(|tracks| tracks.all()).and_then(|_| clip.info());
        let (clip, info) = match whole {
            Ok(info) => (clip, info),
            Err(e) => {
                let (info, name) = (bare.info()?, &clip.shard.json.record_file);
                let (clips, what) = (clip.ordinal..clip.ordinal + 1, format!("its tracks: {}", words(e)));
                self.report.partly_lost.push(DamagedClip::new(name, clips, &info.source, what));
                (bare, info)
            }
        };
        self.report.saved += 1;
        self.writer.as_mut().map_or(Ok(()), |writer| edit::copy_clip(writer, &info, &clip, false))
    }
}

/// A clip of which something is lost, a shard whose clips are all lost, or a file that nothing describes any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DamagedClip {
    /// Name of the shard's record file, or of another file if that name is not known.
    pub shard: String,
    /// Ordinal of the clip in its shard, or of the first.
    pub clip: u64,
    /// The number of clips, starting with that one; 0 if it is not known.
    pub clips: u64,
    /// Its source; empty if it is not known.
    pub source: String,
    /// What is lost and why, in words.
    pub what: String,
}

impl DamagedClip {
    fn new(shard: &str, clips: Range<u64>, source: &str, what: impl Into<String>) -> Self {
        let (clip, clips, source) = (clips.start, clips.end - clips.start, source.into());
        DamagedClip { shard: shard.into(), clip, clips, source, what: what.into() }
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
    /// Intact clips. They are in the new data set, if there is one.
    pub saved: u64,
    /// What is lost: whole shards, and then single clips, in order.
    pub lost: Vec<DamagedClip>,
    /// Saved clips that lost their tracks, in order.
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
        self.lost.is_empty() && self.partly_lost.is_empty()
    }
}
