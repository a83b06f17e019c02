//! Where salvaged clips go: a new data set, new indexes beside the old record files, or nowhere.

use std::fs;
use std::path::{Path, PathBuf};

use super::RepairReport;
use super::salvage::SalvagedClip;
use super::shards::{Files, ShardFiles};
use crate::atomic_file::{self, AtomicFile};
use crate::dataset_json::{self, DatasetJson};
use crate::format::data_binding::DataBinding;
use crate::format::frame_entry::{FrameEntry, UNKNOWN_SOURCE_INDEX};
use crate::format::meta::Meta;
use crate::index_file::IndexFile;
use crate::{Dataset, Error, FrameData, Result, Writer};

pub(super) enum Sink {
    /// A dry run.
    Nowhere,
    /// A new data set.
    New { writer: Box<Writer>, folder: PathBuf },
    /// New indexes where they are needed.
    InPlace(Box<Indexes>),
}

impl Sink {
    /// Begins a shard. `index_fits` says that its index is whole and belongs to the record file as it is.
    pub fn begin_shard(&mut self, shard: &ShardFiles, index_fits: bool) -> Result<()> {
        match self {
            Sink::Nowhere => Ok(()),
            Sink::New { writer, .. } => writer.next_shard(),
            Sink::InPlace(_) if index_fits => Ok(()),
            Sink::InPlace(indexes) => indexes.begin(&shard.record_path.with_extension("vidx")),
        }
    }

    pub fn write(&mut self, clip: &SalvagedClip<'_>) -> Result<()> {
        let source_index = |e: &FrameEntry| Some(e.source_index).filter(|&i| i != UNKNOWN_SOURCE_INDEX);
        match self {
            Sink::Nowhere => Ok(()),
            Sink::New { writer, .. } => {
                let data = clip.frames.iter().map(|f| FrameData {
                    jpeg: &f.jpeg,
                    pts: f.entry.pts,
                    source_index: source_index(&f.entry),
                });
                writer.append(&clip.info, &data.collect::<Vec<_>>())
            }
            Sink::InPlace(indexes) => indexes.push(clip),
        }
    }

    /// Ends a shard. Without `binding` its clips are not all that is in the record file.
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
                    writer.finish()?;
                    report.written.push(folder.display().to_string());
                }
                note_listing(files, report);
            }
            Sink::InPlace(indexes) if indexes.needs_output => {
                report.needs_output = true;
                note_listing(files, report);
            }
            Sink::InPlace(indexes) => {
                for (file, path) in indexes.finished {
                    keep_broken(&path)?;
                    file.publish()?;
                    report.written.push(path.display().to_string());
                }
                rebuild_listing(files, report)?;
            }
        }
        Ok(())
    }
}

/// Indexes that are being written.
#[derive(Default)]
pub(super) struct Indexes {
    current: Option<(IndexFile, PathBuf)>,
    finished: Vec<(AtomicFile, PathBuf)>,
    /// Whether record files would have to change.
    needs_output: bool,
}

impl Indexes {
    fn begin(&mut self, path: &Path) -> Result<()> {
        self.current = Some((IndexFile::create(path)?, path.to_owned()));
        Ok(())
    }

    fn push(&mut self, clip: &SalvagedClip<'_>) -> Result<()> {
        let Some((index, _)) = &mut self.current else { return Ok(()) };
        let entries: Vec<FrameEntry> = clip.frames.iter().map(|f| f.entry).collect();
        index.push(&clip.info, &entries)
    }

    fn end(&mut self, binding: Option<&DataBinding>, meta: &Meta) -> Result<()> {
        match (self.current.take(), binding) {
            (_, None) => self.needs_output = true,
            (None, Some(_)) => {}
            (Some((index, path)), Some(binding)) => self.finished.push((index.finish(binding, meta)?.0, path)),
        }
        Ok(())
    }
}

/// Keeps a file that is about to be replaced, beside it.
fn keep_broken(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let bytes = fs::read(path).map_err(|e| Error::io("read the file", path, e))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".broken");
    atomic_file::write_file(&path.with_file_name(name), &bytes)
}

/// What `dataset.json` should hold, if the data set can be opened.
fn listing_of(files: &Files) -> Result<DatasetJson> {
    let indexes: Vec<PathBuf> = files.shards.iter().map(|s| s.record_path.with_extension("vidx")).collect();
    Ok(Dataset::open_shards(&indexes)?.to_json())
}

const LISTING_DIFFERS: &str = "dataset.json is not what the indexes give";

fn note_listing(files: &Files, report: &mut RepairReport) {
    let listing = listing_of(files).ok().zip(files.listing.as_ref());
    if listing.is_some_and(|(wanted, found)| wanted != *found) {
        report.damage.push(LISTING_DIFFERS.into());
    }
}

fn rebuild_listing(files: &Files, report: &mut RepairReport) -> Result<()> {
    let Some(folder) = &files.folder else { return Ok(()) };
    let wanted = listing_of(files)?;
    if files.listing.as_ref() == Some(&wanted) {
        return Ok(());
    }
    if files.listing.is_some() && report.written.is_empty() {
        report.damage.push(LISTING_DIFFERS.into());
    }
    let path = folder.join(dataset_json::FILE_NAME);
    keep_broken(&path)?;
    atomic_file::write_file(&path, &wanted.to_bytes())?;
    atomic_file::sync_folder(folder)?;
    report.written.push(path.display().to_string());
    Ok(())
}
