//! Contact sheets: what `vidrec view -o` draws.

pub mod clip_row;
mod color;
mod draw;
mod layout;
mod text;

use std::io;
use std::path::PathBuf;

use crate::Dataset;
use crate::jpeg::Decoder;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat};
use serde::Serialize;

use self::clip_row::{ClipRow, ordinals};
use self::draw::Faces;
use self::layout::Grid;
use crate::cli::outcome::Failure;
use crate::cli::output::{count, share};
use crate::cli::ranges::ClipRange;
use crate::cli::{Outcome, Run};

/// A contact sheet: one row per clip, with its class, its source, its caption and the time of each frame.
pub struct Sheet<'a> {
    pub output: &'a SheetPath,
    /// None: some that are evenly spread.
    pub clips: &'a [ClipRange],
    /// The attribute of a clip that is its caption.
    pub caption: &'a str,
    /// Height of a frame in pixels.
    pub height: u32,
}

/// A path whose extension names a format.
#[derive(Debug, Clone)]
pub struct SheetPath {
    path: PathBuf,
    format: ImageFormat,
}

/// Reads the path of a sheet from the command line.
pub fn sheet_path(text: &str) -> Result<SheetPath, String> {
    let path = crate::cli::storage::local(text)?;
    match ImageFormat::from_path(&path) {
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) => Ok(SheetPath { path, format }),
        _ => Err("the name of a sheet ends with .png or .jpg".to_owned()),
    }
}

#[derive(Serialize)]
struct Report {
    clips: u64,
    frames: u64,
    width: u32,
    height: u32,
}

/// The number of rows if no clip is given.
const DEFAULT_ROWS: u32 = 12;
/// The maximum number of rows, and of frames in a row.
const MOST_ROWS: usize = 500;
const MOST_FRAMES: u32 = 16;
/// The maximum number of pixels of a sheet.
const MOST_PIXELS: u64 = crate::limits::MAX_PIXELS;
/// The quality of a sheet that is a JPEG.
const QUALITY: u8 = 92;

impl Sheet<'_> {
    /// Draws it, and tells what was drawn.
    pub fn draw(&self, dataset: &Dataset, json: bool) -> Run {
        let faces = Faces::load()?;
        let (rows, (width, height)) = self.rows(dataset, &faces)?;
        let picture = DynamicImage::from(draw::sheet(&rows, &grid(&rows, self.height, &faces), &faces));
        let SheetPath { path, format } = self.output;
        let mut encoded = io::Cursor::new(Vec::new());
        match format {
            ImageFormat::Jpeg => picture.write_with_encoder(JpegEncoder::new_with_quality(&mut encoded, QUALITY))?,
            _ => picture.write_to(&mut encoded, *format)?,
        }
        crate::write_whole(path, |file| file.write_all(encoded.get_ref()))?;
        let report = Report {
            clips: rows.len() as u64,
            frames: rows.iter().map(|row| row.frames.len() as u64).sum(),
            width,
            height,
        };
        let to = path.display();
        crate::cli::output::print(json, &report, |r| {
            format!("drew {} of {} to {to}\n", count(r.frames, "frame"), share(r.clips, dataset.len(), "clip"))
        })?;
        Ok(Outcome::Done)
    }

    /// The chosen clips, and the width and height of their sheet.
    fn rows(&self, dataset: &Dataset, faces: &Faces) -> Result<(Vec<ClipRow>, (u32, u32)), Failure> {
        let ordinals = ordinals(self.clips, dataset.len(), DEFAULT_ROWS)?;
        if ordinals.is_empty() || ordinals.len() > MOST_ROWS {
            return Err(format!("a sheet shows 1 to {MOST_ROWS} clips, not {}", ordinals.len()).into());
        }
        let mut decoder = Decoder::new()?;
        let (mut rows, mut size) = (Vec::new(), (0, 0));
        for ordinal in ordinals {
            rows.push(ClipRow::of(&dataset.clip(ordinal)?, self.caption, MOST_FRAMES, self.height, &mut decoder)?);
            size = grid(&rows, self.height, faces).sheet;
            if u64::from(size.0) * u64::from(size.1) > MOST_PIXELS {
                let (width, height) = size;
                let what = format!(
                    "the sheet would have more than {MOST_PIXELS} pixels: {width}x{height} up to clip {ordinal}"
                );
                return Err(format!("{what}; give fewer clips, or make the frames smaller with --height").into());
            }
        }
        Ok((rows, size))
    }
}

fn grid(rows: &[ClipRow], height: u32, faces: &Faces) -> Grid {
    Grid::of(rows, height, rows.iter().map(|row| faces.widest_time(row)).max().unwrap_or(0))
}
