//! Where all imports end: pictures are looked at, rewritten where that was asked for, and written as a data set.

use std::borrow::Cow;
use std::io::Cursor;
use std::path::Path;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::clip_json::ClipJson;
use super::report::{ImportReport, LeftOut};
use crate::format::meta::Meta;
use crate::jpeg::{Decoder, Retiled, Retiler, RgbPicture};
use crate::progress::{Counter, ProgressFn};
use crate::{ClipInfo, Error, ErrorKind, FrameData, Hint, Result, Writer, WriterOptions, limits, threads};

/// How an import goes about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportOptions {
    /// Replace a data set that is already there. Off by default: then it is an error.
    pub overwrite: bool,
    /// Take what is intact and report the rest. Off by default: then the first fault is the error.
    pub salvage: bool,
    /// Rewrite JPEGs without restart markers so that they have them: the same pixels, bit for bit, and crops that are
    /// decoded alone. Off by default: JPEGs stay as they are, byte for byte.
    pub retile: bool,
    /// Decode every picture, and take one that cannot be decoded for a fault. Off by default: headers are read.
    pub check: bool,
    /// JPEG quality, 1 to 100, for PNG pictures, which a data set cannot hold as they are. Not set by default: then a
    /// PNG is a fault, because to encode it loses a little of the picture.
    pub reencode: Option<u8>,
    /// Seconds from one frame to the next, as a fraction, where the source says no times. (1, 1) by default: then times
    /// are ordinals.
    pub time_base: (u32, u32),
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions {
            overwrite: false,
            salvage: false,
            retile: false,
            check: false,
            reencode: None,
            time_base: (1, 1),
        }
    }
}

/// `META` of a data set that came from `format`.
pub(super) fn meta(format: &str, classes: Vec<String>) -> Meta {
    let mut settings = Map::new();
    settings.insert("imported_from".into(), json!(format));
    Meta { classes, tool: concat!("vidrec ", env!("CARGO_PKG_VERSION")).into(), settings, ..Meta::default() }
}

/// Writes the data set that an import gives.
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
        // What determines the bytes.
        let mut set = |key: &str, value: Value| drop(meta.settings.insert(key.into(), value));
        if options.retile {
            set("retiled", json!(true));
        }
        if let Some(quality) = options.reencode {
            if !(1..=100).contains(&quality) {
                return Err(Error::usage(format!("a JPEG quality of {quality}")).help("use 1 to 100"));
            }
            set("reencoded_quality", json!(quality));
        }
        let writer = Writer::create(out, WriterOptions { meta, overwrite: options.overwrite })?;
        let (counter, pool) = (Counter::new(None, progress), threads::pool(None)?);
        Ok(Sink { writer, options, counter, pool, report: ImportReport::default() })
    }

    /// Writes a clip; `place` names it in the report if it has to be left out.
    pub fn add(&mut self, place: &str, clip: &ClipJson, pictures: &[Cow<'_, [u8]>]) -> Result<()> {
        let prepared = match self.pool.install(|| prepare(pictures, self.options)) {
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
            // What the clip says of itself cannot be; nothing was written.
            Err(e) if matches!(e.kind(), ErrorKind::Usage | ErrorKind::Limit) => self.leave_out(place, e),
            appended => appended.and_then(|()| self.counter.add(frames.len() as u64, 0)),
        }
    }

    /// Reports what is left out, or fails if nothing may be.
    pub fn leave_out(&mut self, place: &str, e: Error) -> Result<()> {
        if !self.options.salvage {
            return Err(e.hint(Hint::Set("salvage")));
        }
        self.report.left_out.push(LeftOut { source: place.to_owned(), error: format!("{e:#}") });
        self.counter.skip()
    }

    /// Ends a shard.
    pub fn next_shard(&mut self) -> Result<()> {
        self.writer.next_shard()
    }

    pub fn finish(self) -> Result<ImportReport> {
        let Sink { writer, mut report, .. } = self;
        if writer.clips() == 0 {
            let e = Error::usage("nothing to import was found");
            return Err(match report.left_out.first() {
                Some(first) => e.found(format!("{} faults, the first: {}", report.left_out.len(), first.error)),
                None => e,
            });
        }
        let written = writer.finish()?;
        (report.clips, report.frames, report.bytes) = (written.clips, written.frames, written.bytes);
        Ok(report)
    }
}

/// A picture as it will be stored.
#[derive(Debug)]
struct Prepared<'a> {
    jpeg: Cow<'a, [u8]>,
    size: (u32, u32),
    retiled: bool,
    unfit: bool,
    reencoded: bool,
}

/// Looks at all pictures of a clip, in parallel; the error is that of the first at fault.
fn prepare<'a>(pictures: &'a [Cow<'_, [u8]>], options: &ImportOptions) -> Result<Vec<Prepared<'a>>> {
    let prepared: Vec<Result<Prepared<'a>>> = pictures
        .par_iter()
        .enumerate()
        .map_init(Bench::new, |bench, (t, picture)| {
            let bench = bench.as_mut().map_err(|_| Error::limit("no memory for a JPEG decoder"))?;
            bench.prepare(picture, options).map_err(|e| e.in_frame(t as u32))
        })
        .collect();
    prepared.into_iter().collect()
}

/// What one thread needs.
struct Bench {
    decoder: Decoder,
    /// Made when it is needed.
    retiler: Option<Retiler>,
    rgb: RgbPicture,
}

impl Bench {
    fn new() -> Result<Self> {
        Ok(Bench { decoder: Decoder::new()?, retiler: None, rgb: RgbPicture::default() })
    }

    fn prepare<'a>(&mut self, picture: &'a [u8], options: &ImportOptions) -> Result<Prepared<'a>> {
        let (jpeg, reencoded) = match kind(picture) {
            Kind::Jpeg => (Cow::Borrowed(picture), false),
            Kind::Png => (Cow::Owned(encode_png(picture, options.reencode)?), true),
            Kind::Other => return Err(Error::decode("the picture is neither a JPEG nor a PNG")),
        };
        let header = self.decoder.header(&jpeg)?;
        let mut prepared =
            Prepared { jpeg, size: (header.width, header.height), retiled: false, unfit: false, reencoded };
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
        } else if options.check {
            self.decoder.decode_picture_into(&prepared.jpeg, &mut self.rgb)?;
        }
        Ok(prepared)
    }
}

/// What a picture's first bytes say.
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

/// A PNG as a 4:2:0 JPEG; transparency is dropped.
fn encode_png(png: &[u8], quality: Option<u8>) -> Result<Vec<u8>> {
    let Some(quality) = quality else {
        return Err(Error::usage("the picture is a PNG, which a data set cannot hold as it is")
            .help("encoding it as a JPEG loses a little of the picture")
            .hint(Hint::Set("reencode")));
    };
    let failed = |e: image::ImageError| Error::decode(format!("PNG: {e}"));
    let mut reader = image::ImageReader::with_format(Cursor::new(png), image::ImageFormat::Png);
    let mut bounds = image::Limits::default();
    (bounds.max_image_width, bounds.max_image_height) = (Some(limits::MAX_SIDE), Some(limits::MAX_SIDE));
    reader.limits(bounds);
    let rgb = reader.decode().map_err(failed)?.to_rgb8();
    let (width, height) = (rgb.width() as usize, rgb.height() as usize);
    let image = turbojpeg::Image {
        pixels: rgb.as_raw().as_slice(),
        width,
        pitch: width * 3,
        height,
        format: turbojpeg::PixelFormat::RGB,
    };
    let jpeg = turbojpeg::compress(image, quality.into(), turbojpeg::Subsamp::Sub2x2);
    jpeg.map(|bytes| bytes.to_vec()).map_err(|e| Error::decode(format!("encoding a PNG as JPEG: {e}")))
}
