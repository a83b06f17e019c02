//! The destination of salvaged clips: a new data set, new indexes beside the old record files, or nowhere.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::report::RepairReport;
use super::salvage::SalvagedClip;
use super::shards::{Files, ShardFiles};
use super::tracks::OldTracks;
use crate::Dataset;
use crate::Io;
use crate::writer::{FinishedIndex, IndexWriter, TrackWriter};
use crate::writer::{FrameData, Writer};
use crate::{Source, listing};
use vidrec_format::data_binding::{DataBinding, hex};
use vidrec_format::dataset_json;
use vidrec_format::dataset_json::{DatasetJson, FailuresJson, ShardJson};
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::{FileKind, FileName};
use vidrec_format::frame_entry::{FrameEntry, UNKNOWN_SOURCE_INDEX};
use vidrec_format::limits;
use vidrec_format::meta::Meta;
use vidrec_format::track::directory::NewTrack;
use vidrec_format::track::payload::Payload;
use vidrec_format::track::schema::Schema;
use vidrec_store::disk::publication::Replaced;
use vidrec_store::disk::regular_file::{Links, read_regular};
use vidrec_store::disk::{FolderLock, Temporary, folder_of, keep_as};

pub(super) enum Sink {
    /// For a dry run.
    Nowhere,
    /// A new data set.
    New { writer: Box<Writer>, folder: PathBuf },
    /// New indexes, where necessary.
    InPlace(Box<Indexes>),
}

impl Sink {
    /// Starts a shard. `index_fits` says that its index is intact and matches record file and track file.
    pub fn begin_shard(&mut self, shard: &ShardFiles, tracks: Option<&OldTracks<'_>>, index_fits: bool) -> Result<()> {
        match self {
            Sink::Nowhere => Ok(()),
            Sink::New { writer, .. } => writer.next_shard(),
            Sink::InPlace(indexes) => indexes.begin(shard, tracks, index_fits),
        }
    }

    pub fn write(&mut self, clip: &SalvagedClip<'_>, tracks: &[Payload<'_>]) -> Result<()> {
        let source_index = |e: &FrameEntry| Some(e.source_index).filter(|&i| i != UNKNOWN_SOURCE_INDEX);
        match self {
            Sink::Nowhere => Ok(()),
            Sink::New { writer, .. } => {
                let data = clip.frames.iter().map(|f| FrameData {
                    jpeg: &f.jpeg,
                    pts: f.entry.pts,
                    source_index: source_index(&f.entry),
                });
                writer.append_payloads(&clip.info, &data.collect::<Vec<_>>(), tracks)
            }
            Sink::InPlace(indexes) => indexes.push(clip, tracks),
        }
    }

    /// Completes a shard. `binding` is `None` if the clips do not account for the whole record file.
    pub fn end_shard(&mut self, binding: Option<&DataBinding>, meta: &Meta) -> Result<()> {
        match self {
            Sink::InPlace(indexes) => indexes.end(binding, meta),
            Sink::Nowhere | Sink::New { .. } => Ok(()),
        }
    }

    pub fn finish(self, files: &Files, report: &mut RepairReport) -> Result<()> {
        match self {
            Sink::Nowhere => note_listing(files, report),
            Sink::New { writer, folder } => {
                if writer.clips() > 0 {
                    report.left_behind = writer.finish()?.left_behind;
                    report.written.push(folder.display().to_string());
                }
                note_listing(files, report);
            }
            Sink::InPlace(indexes) if indexes.needs_output => {
                report.needs_output = true;
                note_listing(files, report);
            }
            Sink::InPlace(indexes) => match &files.folder {
                Some(folder) => indexes.publish(folder, files, report)?,
                None => indexes.replace(files, report)?,
            },
        }
        Ok(())
    }
}

/// New indexes for the shards that need one.
pub(super) struct Indexes {
    current: Option<(IndexWriter, Tracks)>,
    /// `None` for each shard whose old index is good.
    finished: Vec<Option<NewIndex>>,
    /// Whether a repair would have to change record files.
    needs_output: bool,
    lock: FolderLock,
}

/// What happens to a track file.
enum Tracks {
    None,
    /// It is intact and keeps its name.
    Kept(DataBinding, FileName),
    /// A new track file receives the intact tracks.
    New(Box<TrackWriter>, Schema),
}

/// A new index for a record file.
struct NewIndex {
    index: FinishedIndex,
    binding: DataBinding,
    meta: Meta,
    /// The name of a track file that stays.
    kept_tracks: Option<FileName>,
    /// A new track file.
    tracks: Option<Temporary>,
}

impl NewIndex {
    fn listed(&self, shard: &ShardFiles) -> Result<ShardJson> {
        let mut json = self.index.listed(FileName::of(&shard.record_path)?, &self.binding);
        if let (Some(listed), Some(name)) = (&mut json.track_file, &self.kept_tracks) {
            listed.file.clone_from(name);
        }
        Ok(json)
    }
}

impl Indexes {
    pub fn new(lock: FolderLock) -> Self {
        Indexes { current: None, finished: Vec::new(), needs_output: false, lock }
    }

    fn begin(&mut self, shard: &ShardFiles, tracks: Option<&OldTracks<'_>>, index_fits: bool) -> Result<()> {
        self.current = None;
        if index_fits {
            return Ok(());
        }
        // Named like the record file, whose name is unique.
        let path = |ending| shard.record_path.with_extension(ending);
        let tracks = match tracks.map(|tracks| (tracks, tracks.binding)) {
            None => Tracks::None,
            Some((tracks, Some(binding))) => Tracks::Kept(binding, tracks.name.parse()?),
            Some((tracks, None)) if tracks.schema.tracks().is_empty() => Tracks::None,
            Some((tracks, None)) => {
                Tracks::New(Box::new(TrackWriter::create(&path("vtrk"), 0)?), tracks.schema.clone())
            }
        };
        self.current = Some((IndexWriter::create(&path("vidx"))?, tracks));
        Ok(())
    }

    fn push(&mut self, clip: &SalvagedClip<'_>, tracks: &[Payload<'_>]) -> Result<()> {
        let Some((index, file)) = &mut self.current else { return Ok(()) };
        if let Tracks::New(file, schema) = file {
            let numbered = |track: &Payload<'_>| schema.number(&track.schema.name);
            let with_number = tracks.iter().filter_map(|track| Some((numbered(track)?, track)));
            let new = with_number.map(|(number, t)| NewTrack::of(number, t));
            file.push(&new.collect::<Vec<_>>())?;
        }
        let entries: Vec<FrameEntry> = clip.frames.iter().map(|f| f.entry).collect();
        index.push(&clip.info, &entries)
    }

    fn end(&mut self, binding: Option<&DataBinding>, meta: &Meta) -> Result<()> {
        self.needs_output |= binding.is_none();
        let finished = match (self.current.take(), binding) {
            (Some((index, tracks)), Some(&binding)) => {
                let (bound, kept_tracks, tracks) = match tracks {
                    Tracks::None => (None, None, None),
                    Tracks::Kept(bound, name) => (Some(bound), Some(name), None),
                    Tracks::New(file, schema) => {
                        let (file, bound) = file.finish(&schema)?;
                        (Some(bound), None, Some(file))
                    }
                };
                let index = index.finish(&binding, bound.as_ref(), meta)?;
                Some(NewIndex { index, binding, meta: meta.clone(), kept_tracks, tracks })
            }
            _ => None,
        };
        self.finished.push(finished);
        Ok(())
    }

    /// Replaces the index of a single shard that is not part of a data set.
    fn replace(self, files: &Files, report: &mut RepairReport) -> Result<()> {
        for (shard, new) in files.shards.iter().zip(self.finished) {
            let Some(new) = new else { continue };
            if new.tracks.is_some() {
                // The new file would have the name of the damaged one.
                report.needs_output = true;
                continue;
            }
            let path = &shard.index_path;
            if shard.listed.is_some() || is_listed(path) {
                return Err(Error::usage("this shard belongs to a data set, which can only be repaired as a whole")
                    .file(folder_of(path))
                    .help("give the folder"));
            }
            keep_broken(path)?;
            new.index.file.publish()?;
            report.written.push(path.display().to_string());
        }
        Ok(())
    }

    /// Adds the new indexes to the data set, and rewrites its `dataset.json`.
    fn publish(self, folder: &Path, files: &Files, report: &mut RepairReport) -> Result<()> {
        let (mut shards, mut metas, mut staged, mut replaced) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (shard, new) in files.shards.iter().zip(self.finished) {
            let Some(new) = new else {
                let old = open(shard)?;
                shards.extend(old.to_json().shards);
                metas.extend(old.meta().cloned());
                continue;
            };
            let json = new.listed(shard)?;
            replaced.extend(replaced_tracks(shard, &new));
            replaced.extend(shard.index.as_ref().map(|_| shard.index_path.clone()));
            report.written.push(folder.join(&json.index_file).display().to_string());
            staged.push((new.index.file.seal(), json.index_file.clone()));
            if let (Some(file), Some(listed)) = (new.tracks, &json.track_file) {
                report.written.push(folder.join(&listed.file).display().to_string());
                staged.push((file, listed.file.clone()));
            }
            shards.push(json);
            metas.push(new.meta);
        }
        let failures = failures(folder, files, report)?;
        let json = DatasetJson { failures, ..DatasetJson::new(&metas.swap_remove(0), shards) };
        let is_listed = files.listing.as_ref().is_some_and(|listing| listing.agrees_with(&json));
        if is_listed && staged.is_empty() {
            return Ok(());
        }
        if files.listing.is_some() && staged.is_empty() {
            report.damage.push(LISTING_DIFFERS.into());
        }
        let listing = folder.join(dataset_json::FILE_NAME);
        replaced.iter().chain((!is_listed).then_some(&listing)).try_for_each(|path| keep_broken(path))?;
        let listed = files.listing.iter().flat_map(DatasetJson::file_names).cloned().collect();
        let removable = replaced.iter().map(|path| FileName::of(path)).collect::<Result<_>>()?;
        let replaced = Replaced { files: listed, removable };
        report.left_behind = crate::writer::stage(folder, self.lock, staged, &json, replaced)?.publish()?;
        report.written.extend((!is_listed).then(|| listing.display().to_string()));
        Ok(())
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether the `dataset.json` beside an index lists it.
fn is_listed(index: &Path) -> bool {
    let listing = listing::read(&index.with_file_name(dataset_json::FILE_NAME));
    listing.is_ok_and(|json| json.shards.iter().any(|shard| *shard.index_file == *name(index)))
}

/// Opens a shard that is intact.
fn open(shard: &ShardFiles) -> Result<Dataset> {
    let (index, record) = (shard.index_path.clone(), Some(shard.record_path.clone()));
    let tracks = shard.tracks.as_ref().map(|(path, _)| path.clone());
    Dataset::open_files(&[listing::ShardFiles { index, record, tracks, listed: None }], &Source::Local(Io::Map))
}

/// The list of failures, if it has the digest that `dataset.json` lists, or the digest in its name.
fn failures(folder: &Path, files: &Files, report: &mut RepairReport) -> Result<Option<FailuresJson>> {
    let listed = files.listing.as_ref().and_then(|listing| listing.failures.clone());
    if let Some(listed) = &listed {
        let found = read_list(&folder.join(&listed.file)).map(|bytes| hex(&Sha256::digest(bytes)));
        if found.as_ref().is_ok_and(|found| *found == listed.sha256) {
            return Ok(Some(listed.clone()));
        }
        let what = if found.is_ok() { "damaged" } else { "missing" };
        report
            .damage
            .push(format!("{}: the list of failures is {what}, so dataset.json no longer lists it", listed.file));
        return Ok(None);
    }
    for file in listing::files_in(folder, |name| name.kind() == Some(FileKind::Failures))? {
        let bytes = read_list(&folder.join(&file))?;
        let sha256: [u8; 32] = Sha256::digest(&bytes).into();
        if FileName::of_failures(&sha256) == file {
            let count = bytes.iter().filter(|b| **b == b'\n').count() as u64;
            return Ok(Some(FailuresJson { file, count, sha256: hex(&sha256) }));
        }
    }
    Ok(None)
}

fn read_list(path: &Path) -> Result<Vec<u8>> {
    read_regular(path, limits::MAX_SMALL_OBJECT_BYTES, Links::Follow)
}

/// The track file that a shard no longer has, because another one contains its intact tracks, or none are intact.
fn replaced_tracks(shard: &ShardFiles, new: &NewIndex) -> Option<PathBuf> {
    let (path, _) = shard.tracks.as_ref().filter(|(_, map)| map.is_some())?;
    new.kept_tracks.is_none().then(|| path.clone())
}

/// Keeps a file that is about to be replaced, under another name beside it.
fn keep_broken(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    keep_as(path, &path.with_file_name(format!("{}.broken", name(path))))
}

const LISTING_DIFFERS: &str = "dataset.json does not match the indexes";

fn note_listing(files: &Files, report: &mut RepairReport) {
    let opened: Result<Vec<Vec<ShardJson>>> = files.shards.iter().map(|s| Ok(open(s)?.to_json().shards)).collect();
    let (Ok(shards), Some(listing)) = (opened, &files.listing) else { return };
    let Ok(first) = open(&files.shards[0]) else { return };
    let meta = first.meta().cloned().unwrap_or_default();
    let wanted = DatasetJson { failures: listing.failures.clone(), ..DatasetJson::new(&meta, shards.concat()) };
    if !listing.agrees_with(&wanted) {
        report.damage.push(LISTING_DIFFERS.into());
    }
}
