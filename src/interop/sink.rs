//! The work that all imports share: they read small files, check the images, add restart markers if asked, and write a data set.

use std::borrow::Cow;
use std::path::Path;

use image::metadata::Orientation;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::{
    ClipInfo, Dataset, Error, ErrorKind, FrameData, Hint, JsonObject, Meta, ProgressFn, Result, Writer, WriterOptions,
};
use vidrec_core::progress::Counter;
use vidrec_core::store::disk::WrittenFolder;
use vidrec_core::store::disk::regular_file::{Links, read_regular};
use vidrec_core::threads;
use vidrec_jpeg::{Decoder, Retiled, Retiler};

/// The largest text file to read, in bytes: enough for the names and offsets of about 20 million frames.
const MAX_TEXT_BYTES: u64 = 1 << 30;

/// Reads a UTF-8 text file.
pub(super) fn read_text(path: &Path) -> Result<String> {
    let bytes = read_regular(path, MAX_TEXT_BYTES, Links::Follow)?;
    String::from_utf8(bytes).map_err(|_| malformed(path, "the file is not UTF-8 text"))
}

/// Creates an error about a file of another project's format.
pub(super) fn malformed(path: &Path, what: impl Into<String>) -> Error {
    Error::decode(what).file(path)
}

/// Returns the last part of a path, as text.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Options of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportOptions {
    /// Replace an existing data set. Off by default: an existing data set is an error.
    pub overwrite: bool,
    /// Import what is intact, and report the rest. Off by default: the first fault is an error.
    pub salvage: bool,
    /// Add restart markers to JPEGs that have none. The pixels stay the same, bit for bit, and a loader can decode
    /// crops alone. Off by default: JPEGs stay unchanged, byte for byte.
    pub retile: bool,
    /// The seconds from one frame to the next, as a fraction, for sources without times. (1, 1) by default, so
    /// that times are ordinals.
    pub time_base: (u32, u32),
    /// Follow links that lead out of a folder of frames. Off by default: such a link is an error, because a folder
    /// from somewhere else may contain links to any file on this machine.
    pub outside: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions { overwrite: false, salvage: false, retile: false, time_base: (1, 1), outside: false }
    }
}

/// Returns the `META` of a data set imported from `format`.
pub(super) fn meta(format: &str, classes: Vec<String>) -> Meta {
    let mut settings = JsonObject::default();
    settings.0.insert("imported_from".into(), json!(format));
    Meta { classes, tool: concat!("vidrec ", env!("CARGO_PKG_VERSION")).into(), settings, ..Meta::default() }
}

/// Writes the data set of an import.
pub(super) struct Sink<'a, 'f> {
    writer: Writer,
    options: &'a ImportOptions,
    counter: Counter<'a, 'f>,
    pool: rayon::ThreadPool,
    report: ImportReport,
}

impl<'a, 'f> Sink<'a, 'f> {
    pub fn create(
        out: &Path,
        mut meta: Meta,
        options: &'a ImportOptions,
        progress: &'a mut ProgressFn<'f>,
    ) -> Result<Self> {
        if options.retile {
            meta.settings.0.insert("retiled".into(), json!(true));
        }
        let writer = Writer::create(out, WriterOptions { meta, overwrite: options.overwrite })?;
        let (counter, pool) = (Counter::new(None, progress), threads::pool(None)?);
        Ok(Sink { writer, options, counter, pool, report: ImportReport::default() })
    }

    /// Returns a description of a clip of which the source alone is known.
    pub fn clip(&self, source: String) -> ClipInfo {
        ClipInfo { source, time_base: self.options.time_base, ..ClipInfo::default() }
    }

    /// Writes a clip. `times` has the time of each frame and its ordinal in the source; frames behind its end have their
    /// ordinals as times. `place` names the clip in the report if it is skipped.
    pub fn add(
        &mut self,
        place: &str,
        mut clip: ClipInfo,
        times: &[(i64, Option<u32>)],
        pictures: &[Cow<'_, [u8]>],
    ) -> Result<()> {
        let prepare = || prepare(pictures, self.options.retile);
        // A thread of the pool costs more than a clip without frames.
        let prepared = match if pictures.is_empty() { Ok(Vec::new()) } else { self.pool.install(prepare) } {
            Ok(prepared) => prepared,
            Err(e) => return self.leave_out(place, e),
        };
        let first = prepared.first().map_or((0, 0), |frame| frame.size);
        (clip.width, clip.height) = if prepared.iter().all(|frame| frame.size == first) { first } else { (0, 0) };
        let frames = prepared.iter().enumerate().map(|(t, frame)| {
            let (pts, source_index) = times.get(t).copied().unwrap_or((t as i64, None));
            FrameData { jpeg: &frame.jpeg, pts, source_index }
        });
        match self.writer.append(&clip, &frames.collect::<Vec<_>>()) {
            // The description of the clip is invalid. Nothing was written.
            Err(e) if matches!(e.kind(), ErrorKind::Usage | ErrorKind::Limit) => self.leave_out(place, e),
            appended => appended.and_then(|()| {
                self.report.retiled += prepared.iter().filter(|frame| frame.retiled == Some(true)).count() as u64;
                self.report.not_retiled += prepared.iter().filter(|frame| frame.retiled == Some(false)).count() as u64;
                self.counter.add(prepared.len() as u64, 0)
            }),
        }
    }

    /// Reports a fault as skipped. Fails unless the options allow skipping faults.
    pub fn leave_out(&mut self, place: &str, e: Error) -> Result<()> {
        if !self.options.salvage {
            return Err(e.hint(Hint::Set("salvage")));
        }
        self.report.left_out.push(SkippedClip { source: place.to_owned(), error: format!("{e:#}") });
        self.counter.skip()
    }

    /// Completes a shard.
    pub fn next_shard(&mut self) -> Result<()> {
        self.writer.next_shard()
    }

    pub fn finish(self) -> Result<ImportReport> {
        let Sink { writer, mut report, .. } = self;
        if writer.clips() == 0 {
            let e = Error::usage("there is nothing to import");
            return Err(match report.left_out.first() {
                Some(first) => e.found(format!("{} faults, the first: {}", report.left_out.len(), first.error)),
                None => e,
            });
        }
        let written = writer.finish()?;
        (report.clips, report.frames, report.bytes) = (written.clips, written.frames, written.bytes);
        report.left_behind = written.left_behind;
        Ok(report)
    }
}

/// An image as it will be stored.
struct PreparedImage<'a> {
    jpeg: Cow<'a, [u8]>,
    size: (u32, u32),
    /// Whether it got restart markers; `false` if it cannot have any, `None` if it had them or needs none.
    retiled: Option<bool>,
}

/// Prepares all images of a clip in parallel. The error is that of the first faulty image.
fn prepare<'a>(pictures: &'a [Cow<'_, [u8]>], retile: bool) -> Result<Vec<PreparedImage<'a>>> {
    let tools = || Ok::<_, Error>((Decoder::new()?, Retiler::new()?));
    let prepared = pictures.par_iter().enumerate().map_init(tools, |tools, (t, picture)| {
        let (decoder, retiler) = tools.as_mut().map_err(|_| Error::limit("there is no memory for a JPEG decoder"))?;
        prepare_image(decoder, retiler, picture, retile).map_err(|e| e.in_frame(t as u32))
    });
    prepared.collect::<Vec<_>>().into_iter().collect()
}

fn prepare_image<'a>(
    decoder: &mut Decoder,
    retiler: &mut Retiler,
    picture: &'a [u8],
    retile: bool,
) -> Result<PreparedImage<'a>> {
    if !picture.starts_with(&[0xFF, 0xD8]) {
        let e = Error::decode("the image is not a JPEG, and an import stores JPEGs as they are");
        return Err(e.help("`vidrec pack` encodes the images of folders"));
    }
    let header = decoder.header(picture)?;
    let orientation = vidrec_jpeg::exif(picture).and_then(Orientation::from_exif_chunk);
    if orientation.is_some_and(|orientation| orientation != Orientation::NoTransforms) {
        return Err(Error::usage("EXIF says that the image must be rotated, and an import copies images as they are")
            .help("pack it, which turns and encodes it, or turn it first: exiftran -ai, jpegtran"));
    }
    let (jpeg, retiled) = match retile.then(|| retiler.retile(picture)).transpose()? {
        Some(Retiled::Tiled(tiled)) => (Cow::Owned(tiled.to_vec()), Some(true)),
        Some(Retiled::Unfit) => (Cow::Borrowed(picture), Some(false)),
        Some(Retiled::Already) | None => (Cow::Borrowed(picture), None),
    };
    Ok(PreparedImage { jpeg, size: (header.width, header.height), retiled })
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// The number of clips.
    pub clips: u64,
    /// The number of frames.
    pub frames: u64,
    /// The total size of the record files and index files in bytes.
    pub bytes: u64,
    /// The number of frames that were rewritten with restart markers.
    pub retiled: u64,
    /// The number of frames that could not be rewritten with restart markers, because tiles need 4:2:0 and 8 bits.
    pub not_retiled: u64,
    /// The skipped parts, each with its reason.
    pub left_out: Vec<SkippedClip>,
    /// The leftovers of a replaced data set that could not be removed, in words.
    ///
    /// The new data set is complete, and the next write in its folder removes them. Normally empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

/// Something that an import skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedClip {
    /// The file, clip or range.
    pub source: String,
    /// Why it was skipped.
    pub error: String,
}

/// The result of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// The number of clips.
    pub clips: u64,
    /// The number of frames.
    pub frames: u64,
    /// The number of files.
    pub files: u64,
    /// The total size of these files in bytes, without links to existing files.
    pub bytes: u64,
    /// The names of the data set's tracks that are not in the export, because the format has no room for tracks.
    pub tracks_left_out: Vec<String>,
    /// Notes that are not problems.
    pub notes: Vec<String>,
}

impl ExportReport {
    /// Creates the report on all clips of a data set that were written, without their tracks, to a folder.
    pub(super) fn without_tracks(dataset: &Dataset, written: WrittenFolder) -> Result<Self> {
        let tracks_left_out = dataset.tracks()?.into_iter().map(|track| track.name).collect();
        let (clips, frames) = (dataset.len(), dataset.frame_count());
        Ok(ExportReport {
            clips,
            frames,
            files: written.files,
            bytes: written.bytes,
            tracks_left_out,
            notes: Vec::new(),
        })
    }
}
