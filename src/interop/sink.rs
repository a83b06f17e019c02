//! The last step of all imports: checks the images, rewrites them if requested, and writes them as a data set.

use std::borrow::Cow;
use std::io::Cursor;
use std::path::Path;

use image::metadata::Orientation;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::clip_json::ClipJson;
use super::report::{ImportReport, LeftOut};
use crate::{
    ClipInfo, Error, ErrorKind, FrameData, Hint, JsonObject, Meta, ProgressFn, Result, Writer, WriterOptions, limits,
};
use vidrec_core::exif::exif;
use vidrec_core::progress::Counter;
use vidrec_core::threads;
use vidrec_jpeg::{Decoder, Retiled, Retiler};

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
    /// JPEG quality, 1 to 100, for PNG images, which a data set cannot store. Not set by default: a PNG is a fault,
    /// because encoding it loses some image quality.
    pub reencode: Option<u8>,
    /// The seconds from one frame to the next, as a fraction, for sources without times. (1, 1) by default, so
    /// that times are ordinals.
    pub time_base: (u32, u32),
    /// Follow links that lead out of a folder of frames. Off by default: such a link is an error, because a folder
    /// from somewhere else may contain links to any file on this machine.
    pub outside: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions {
            overwrite: false,
            salvage: false,
            retile: false,
            reencode: None,
            time_base: (1, 1),
            outside: false,
        }
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
    pub report: ImportReport,
}

impl<'a, 'f> Sink<'a, 'f> {
    pub fn create(
        out: &Path,
        mut meta: Meta,
        options: &'a ImportOptions,
        progress: &'a mut ProgressFn<'f>,
    ) -> Result<Self> {
        // The options that determine the bytes.
        let mut set = |key: &str, value: Value| drop(meta.settings.0.insert(key.into(), value));
        if options.retile {
            set("retiled", json!(true));
        }
        if let Some(quality) = options.reencode {
            if !(1..=100).contains(&quality) {
                return Err(Error::usage("the JPEG quality is out of range").expected("1 to 100").found(quality));
            }
            set("reencoded_quality", json!(quality));
        }
        let writer = Writer::create(out, WriterOptions { meta, overwrite: options.overwrite })?;
        let (counter, pool) = (Counter::new(None, progress), threads::pool(None)?);
        Ok(Sink { writer, options, counter, pool, report: ImportReport::default() })
    }

    /// Writes a clip. `place` names it in the report if it is skipped.
    pub fn add(&mut self, place: &str, clip: &ClipJson, pictures: &[Cow<'_, [u8]>]) -> Result<()> {
        let prepare = || prepare(pictures, self.options);
        // A thread of the pool costs more than a clip without frames.
        let prepared = match if pictures.is_empty() { Ok(Vec::new()) } else { self.pool.install(prepare) } {
            Ok(prepared) => prepared,
            Err(e) => return self.leave_out(place, e),
        };
        for frame in &prepared {
            self.report.retiled += u64::from(frame.retiled);
            self.report.not_retiled += u64::from(frame.unfit);
            self.report.reencoded += u64::from(frame.reencoded);
        }
        let mut sizes = prepared.iter().map(|f| f.size);
        let first = sizes.next().unwrap_or((0, 0));
        let (width, height) = if sizes.all(|s| s == first) { first } else { (0, 0) };
        let frames: Vec<_> = prepared
            .iter()
            .enumerate()
            .map(|(t, frame)| {
                let (pts, source_index) = clip.frame(t);
                FrameData { jpeg: &frame.jpeg, pts, source_index }
            })
            .collect();
        match self.writer.append(&ClipInfo { width, height, ..clip.info() }, &frames) {
            // The description of the clip is invalid. Nothing was written.
            Err(e) if matches!(e.kind(), ErrorKind::Usage | ErrorKind::Limit) => self.leave_out(place, e),
            appended => appended.and_then(|()| self.counter.add(frames.len() as u64, 0)),
        }
    }

    /// Reports a fault as skipped. Fails unless the options allow skipping faults.
    pub fn leave_out(&mut self, place: &str, e: Error) -> Result<()> {
        if !self.options.salvage {
            return Err(e.hint(Hint::Set("salvage")));
        }
        self.report.left_out.push(LeftOut { source: place.to_owned(), error: format!("{e:#}") });
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
#[derive(Debug)]
struct PreparedImage<'a> {
    jpeg: Cow<'a, [u8]>,
    size: (u32, u32),
    retiled: bool,
    unfit: bool,
    reencoded: bool,
}

/// Prepares all images of a clip in parallel. The error is that of the first faulty image.
fn prepare<'a>(pictures: &'a [Cow<'_, [u8]>], options: &ImportOptions) -> Result<Vec<PreparedImage<'a>>> {
    let prepared: Vec<Result<PreparedImage<'a>>> = pictures
        .par_iter()
        .enumerate()
        .map_init(ImagePreparer::new, |preparer, (t, picture)| {
            let preparer = preparer.as_mut().map_err(|_| Error::limit("there is no memory for a JPEG decoder"))?;
            preparer.prepare(picture, options).map_err(|e| e.in_frame(t as u32))
        })
        .collect();
    prepared.into_iter().collect()
}

/// The decoder and buffers of one thread.
struct ImagePreparer {
    decoder: Decoder,
    /// Created when first needed.
    retiler: Option<Retiler>,
}

impl ImagePreparer {
    fn new() -> Result<Self> {
        Ok(ImagePreparer { decoder: Decoder::new()?, retiler: None })
    }

    fn prepare<'a>(&mut self, picture: &'a [u8], options: &ImportOptions) -> Result<PreparedImage<'a>> {
        let (jpeg, reencoded) = match kind(picture) {
            Kind::Jpeg => (Cow::Borrowed(picture), false),
            Kind::Png => (Cow::Owned(encode_png(picture, options.reencode)?), true),
            Kind::Other => return Err(Error::decode("the image is neither a JPEG nor a PNG")),
        };
        let header = self.decoder.header(&jpeg)?;
        if vidrec_jpeg::exif(&jpeg)
            .and_then(Orientation::from_exif_chunk)
            .is_some_and(|o| o != Orientation::NoTransforms)
        {
            return Err(Error::usage(
                "EXIF says that the image must be rotated, and an import copies images as they are",
            )
            .help("pack it, which turns and encodes it, or turn it first: exiftran -ai, jpegtran"));
        }
        let mut prepared =
            PreparedImage { jpeg, size: (header.width, header.height), retiled: false, unfit: false, reencoded };
        if options.retile || reencoded {
            let retiler = match &mut self.retiler {
                Some(retiler) => retiler,
                none => none.insert(Retiler::new()?),
            };
            match retiler.retile(&prepared.jpeg)? {
                Retiled::Tiled(tiled) => {
                    prepared.jpeg = Cow::Owned(tiled.to_vec());
                    prepared.retiled = !reencoded;
                }
                Retiled::Already => {}
                Retiled::Unfit => prepared.unfit = true,
            }
        }
        Ok(prepared)
    }
}

/// The format of an image, according to its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Jpeg,
    Png,
    Other,
}

pub(super) fn kind(picture: &[u8]) -> Kind {
    match picture {
        [0xFF, 0xD8, ..] => Kind::Jpeg,
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Kind::Png,
        _ => Kind::Other,
    }
}

/// Encodes a PNG as a 4:2:0 JPEG, upright as its EXIF data says. Transparency is dropped.
fn encode_png(png: &[u8], quality: Option<u8>) -> Result<Vec<u8>> {
    let Some(quality) = quality else {
        return Err(Error::usage("the image is a PNG, which a data set cannot store")
            .help("encoding it as a JPEG loses some image quality")
            .hint(Hint::Set("reencode")));
    };
    let failed = |e: image::ImageError| Error::decode(format!("the PNG cannot be decoded: {e}"));
    let mut reader = image::ImageReader::with_format(Cursor::new(png), image::ImageFormat::Png);
    let mut bounds = image::Limits::default();
    (bounds.max_image_width, bounds.max_image_height) = (Some(limits::MAX_SIDE), Some(limits::MAX_SIDE));
    reader.limits(bounds);
    let mut picture = reader.decode().map_err(failed)?;
    let orientation = exif(&mut Cursor::new(png)).and_then(|exif| Orientation::from_exif_chunk(&exif));
    picture.apply_orientation(orientation.unwrap_or(Orientation::NoTransforms));
    let rgb = picture.to_rgb8();
    let (width, height) = (rgb.width() as usize, rgb.height() as usize);
    let image = turbojpeg::Image {
        pixels: rgb.as_raw().as_slice(),
        width,
        pitch: width * 3,
        height,
        format: turbojpeg::PixelFormat::RGB,
    };
    let jpeg = turbojpeg::compress(image, quality.into(), turbojpeg::Subsamp::Sub2x2);
    jpeg.map(|bytes| bytes.to_vec()).map_err(|e| Error::decode(format!("could not encode a PNG as a JPEG: {e}")))
}
