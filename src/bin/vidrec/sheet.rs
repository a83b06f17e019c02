//! `vidrec sheet`: draw a contact sheet.

use std::path::PathBuf;

use font8x8::UnicodeFonts;
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};
use serde::Serialize;
use vidrec::jpeg::Decoder;
use vidrec::sampler::uniform;
use vidrec::{Clip, Frame};

use crate::output::count;
use crate::ranges::{self, ClipRange};
use crate::storage::{StorageArgs, local};
use crate::{Outcome, Run, output};

/// Draw a contact sheet: one row per clip, with its label, its source and the time of each frame.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Clips by number, counted from 0: 5, 3-7 or all. [default: 12, evenly spread]
    clip: Vec<ClipRange>,
    /// The PNG file to write.
    #[arg(short, long, value_name = "PNG", value_parser = local)]
    output: PathBuf,
    /// Height of a frame in pixels.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(16..=1024))]
    height: u32,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
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
const MARGIN: u32 = 6;
const LINE: u32 = 12;
const PAPER: Rgb<u8> = Rgb([250, 250, 248]);
const INK: Rgb<u8> = Rgb([20, 20, 20]);
const GRAY: Rgb<u8> = Rgb([110, 110, 110]);
/// The number of characters shown of a class. Names may have any length, but a sheet may not have any size.
const CLASS_SHOWN: usize = 60;
const SOURCE_SHOWN: usize = 120;
/// The maximum number of pixels of a sheet.
const MOST_PIXELS: u64 = vidrec::limits::MAX_PIXELS;

/// One clip, decoded and scaled.
struct Row {
    title: String,
    frames: Vec<(String, RgbImage)>,
}

impl Row {
    fn width(&self) -> u32 {
        let pictures: u32 = self.frames.iter().map(|(time, frame)| cell_width(time, frame)).sum();
        pictures.max(text_width(&self.title) + MARGIN) + MARGIN
    }
}

/// The width of a frame, or of the time below it if that is wider.
fn cell_width(time: &str, frame: &RgbImage) -> u32 {
    frame.width().max(text_width(time)) + MARGIN
}

/// The width and height of the sheet.
fn size(rows: &[Row], height: u32) -> (u32, u32) {
    (rows.iter().map(Row::width).max().unwrap_or(1), rows.len() as u32 * row_height(height) + MARGIN)
}

fn row_height(height: u32) -> u32 {
    height + 2 * LINE + MARGIN
}

fn text_width(text: &str) -> u32 {
    8 * text.chars().count() as u32
}

pub fn run(args: &Args) -> Run {
    let dataset = args.storage.open(&args.dataset)?;
    let ordinals = if args.clip.is_empty() {
        spread(dataset.len(), DEFAULT_ROWS)
    } else {
        ranges::ordinals(&args.clip, dataset.len())?
    };
    if ordinals.is_empty() || ordinals.len() > MOST_ROWS {
        return Err(format!("a sheet shows 1 to {MOST_ROWS} clips, not {}", ordinals.len()).into());
    }
    let mut decoder = Decoder::new()?;
    let mut rows = Vec::new();
    for ordinal in ordinals {
        rows.push(row(&dataset.clip(ordinal)?, &mut decoder, args.height)?);
        let (width, height) = size(&rows, args.height);
        if u64::from(width) * u64::from(height) > MOST_PIXELS {
            let what =
                format!("the sheet would have more than {MOST_PIXELS} pixels: {width}x{height} up to clip {ordinal}");
            return Err(format!("{what}; give fewer clips, or make the frames smaller with --height").into());
        }
    }
    let sheet = draw(&rows, args.height);
    sheet
        .save_with_format(&args.output, image::ImageFormat::Png)
        .map_err(|e| format!("{}: {e}", args.output.display()))?;
    let report = Report {
        clips: rows.len() as u64,
        frames: rows.iter().map(|r| r.frames.len() as u64).sum(),
        width: sheet.width(),
        height: sheet.height(),
    };
    let to = args.output.display();
    output::print(args.json, &report, |r| {
        format!("drew {} of {} to {to}\n", count(r.frames, "frame"), count(r.clips, "clip"))
    })?;
    Ok(Outcome::Done)
}

/// Up to `count` ordinals below `len`, evenly spread.
fn spread(len: u64, count: u32) -> Vec<u64> {
    match u32::try_from(len) {
        Ok(n) if n <= count => (0..len).collect(),
        Ok(n) => uniform(n, count).into_iter().map(u64::from).collect(),
        Err(_) => (0..u64::from(count)).map(|i| len / u64::from(count) * i).collect(),
    }
}

fn row(clip: &Clip<'_>, decoder: &mut Decoder, height: u32) -> Result<Row, Box<dyn std::error::Error>> {
    let class = match (clip.label(), clip.class()?) {
        (None, _) => "no label".into(),
        (Some(label), "") => format!("label {label}"),
        (Some(label), class) => format!("{} ({label})", shortened(class, CLASS_SHOWN)),
    };
    let short = if clip.is_short() { "  short" } else { "" };
    let source = shortened(clip.source()?, SOURCE_SHOWN);
    let title = format!("{}  {class}  {}x{}{short}  {source}", clip.ordinal(), clip.width(), clip.height());
    let mut frames = Vec::new();
    for t in shown(clip.frame_count()) {
        let frame = clip.frame(t)?;
        frames.push((format!("{:.2} s", frame.pts_seconds()), picture(&frame, decoder, height)?));
    }
    Ok(Row { title, frames })
}

/// A text shortened to at most `most` characters. It keeps the start and the end, which is the file's name in a path.
fn shortened(text: &str, most: usize) -> String {
    const ELLIPSIS: &str = "...";
    let Some((cut, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let kept = most - ELLIPSIS.len();
    let at = |n: usize| text.char_indices().nth(n).map_or(cut, |(at, _)| at);
    let tail = text.char_indices().rev().nth(kept - kept / 2 - 1).map_or(text.len(), |(at, _)| at);
    format!("{}{ELLIPSIS}{}", &text[..at(kept / 2)], &text[tail..])
}

/// The frames to show: all of them, or some, evenly spread.
fn shown(count: u32) -> Vec<u32> {
    if count <= MOST_FRAMES { (0..count).collect() } else { uniform(count, MOST_FRAMES) }
}

fn picture(frame: &Frame<'_>, decoder: &mut Decoder, height: u32) -> Result<RgbImage, Box<dyn std::error::Error>> {
    frame.check()?;
    let full = decoder.decode_picture(frame.jpeg())?;
    // Very wide frames are limited to eight times the height of the row.
    let width = (u64::from(full.width) * u64::from(height) / u64::from(full.height)).clamp(1, u64::from(height) * 8);
    let full = RgbImage::from_raw(full.width, full.height, full.pixels).ok_or("the frame has an unexpected size")?;
    Ok(imageops::resize(&full, width as u32, height, FilterType::Triangle))
}

fn draw(rows: &[Row], height: u32) -> RgbImage {
    let row_height = row_height(height);
    let (width, sheet_height) = size(rows, height);
    let mut sheet = RgbImage::from_pixel(width, sheet_height, PAPER);
    for (i, row) in rows.iter().enumerate() {
        let top = MARGIN + i as u32 * row_height;
        write(&mut sheet, MARGIN, top, &row.title, INK);
        let mut left = MARGIN;
        for (time, frame) in &row.frames {
            imageops::replace(&mut sheet, frame, i64::from(left), i64::from(top + LINE));
            write(&mut sheet, left, top + LINE + height + 2, time, GRAY);
            left += cell_width(time, frame);
        }
    }
    sheet
}

/// Writes a line of 8x8 letters. A character that is not in the font becomes a question mark.
fn write(sheet: &mut RgbImage, left: u32, top: u32, text: &str, ink: Rgb<u8>) {
    for (i, c) in text.chars().enumerate() {
        let fonts = [font8x8::BASIC_FONTS.get(c), font8x8::LATIN_FONTS.get(c), font8x8::GREEK_FONTS.get(c)];
        let glyph = fonts.into_iter().flatten().next().or_else(|| font8x8::BASIC_FONTS.get('?')).unwrap_or_default();
        for (y, bits) in glyph.iter().enumerate() {
            for x in (0..8).filter(|x| bits >> x & 1 == 1) {
                let (x, y) = (left + i as u32 * 8 + x, top + y as u32);
                if x < sheet.width() && y < sheet.height() {
                    sheet.put_pixel(x, y, ink);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_are_spread_over_the_set() {
        assert_eq!(spread(3, 12), [0, 1, 2]);
        assert_eq!(spread(100, 4), [12, 37, 62, 87]);
        assert_eq!(spread(1 << 40, 2), [0, 1 << 39]);
        assert_eq!(shown(5), [0, 1, 2, 3, 4]);
        assert_eq!(shown(100).len(), 16);
    }

    #[test]
    fn long_names_keep_beginning_and_end() {
        assert_eq!(shortened("short.mp4", 9), "short.mp4");
        assert_eq!(shortened("a/long/name.mp4", 14), "a/lon...me.mp4");
        let long = "é".repeat(70_000) + "/日本.mp4";
        let text = shortened(&long, 120);
        assert_eq!(text.chars().count(), 120);
        assert!(text.starts_with("éééé") && text.contains("é...é") && text.ends_with("é/日本.mp4"), "{text}");
    }

    #[test]
    fn text_leaves_ink_and_stays_on_the_sheet() {
        let mut sheet = RgbImage::from_pixel(20, 6, PAPER);
        write(&mut sheet, 4, 0, "Aя a long line", INK);
        assert!(sheet.pixels().any(|p| *p == INK));
    }
}
