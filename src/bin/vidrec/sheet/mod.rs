//! `vidrec sheet`: draw a contact sheet.

pub mod clip_row;
mod color;
mod draw;
mod layout;
mod output;
mod text;

use std::path::PathBuf;
use std::time::Duration;

use image::Delay;
use serde::Serialize;
use vidrec::Dataset;
use vidrec::jpeg::Decoder;

use self::clip_row::{ClipRow, ordinals};
use self::draw::{Cells, Faces};
use self::layout::Grid;
use self::output::{Format, SheetPath, sheet_path};
use crate::outcome::Failure;
use crate::output::count;
use crate::ranges::ClipRange;
use crate::storage::StorageArgs;
use crate::{Outcome, Run};

/// Draw a contact sheet: one row per clip, with its class, its source, its caption and the time of each frame.
///
/// A sheet whose name ends in .gif moves: it shows all clips side by side, and each plays its frames.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Clips by number, counted from 0: 5, 3-7 or all. [default: 12, evenly spread]
    clip: Vec<ClipRange>,
    /// The picture to write: .png, .jpg, .webp, or .gif for one that moves.
    #[arg(short, long, value_name = "FILE", value_parser = sheet_path)]
    output: SheetPath,
    /// Height of a frame in pixels.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(16..=1024))]
    height: u32,
    /// The attribute of a clip that is shown as its caption.
    #[arg(long, default_value = "caption", value_name = "ATTRIBUTE")]
    caption: String,
    /// Frames per second of a sheet that moves.
    #[arg(long, default_value_t = 4, value_name = "RATE", value_parser = clap::value_parser!(u64).range(1..=50))]
    rate: u64,
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
/// The maximum number of pixels of a sheet.
const MOST_PIXELS: u64 = vidrec::limits::MAX_PIXELS;

pub fn run(args: &Args) -> Run {
    let dataset = args.storage.open(&args.dataset)?;
    let faces = Faces::load()?;
    let (rows, (width, height)) = rows(args, &dataset, &faces)?;
    if args.output.format == Format::Gif {
        let cells = Cells::of(&rows, args.height);
        let steps = rows.iter().map(|row| row.frames.len()).max().unwrap_or(1);
        let delay = Delay::from_saturating_duration(Duration::from_millis(1000 / args.rate));
        output::animation(&args.output.path, delay, (0..steps).map(|step| draw::moving(&rows, &cells, step, &faces)))?;
    } else {
        output::picture(&args.output, draw::sheet(&rows, &grid(&rows, args.height, &faces), &faces))?;
    }
    let report = Report {
        clips: rows.len() as u64,
        frames: rows.iter().map(|row| row.frames.len() as u64).sum(),
        width,
        height,
    };
    let to = args.output.path.display();
    crate::output::print(args.json, &report, |r| {
        format!("drew {} of {} to {to}\n", count(r.frames, "frame"), count(r.clips, "clip"))
    })?;
    Ok(Outcome::Done)
}

/// The chosen clips, and the width and height of their sheet.
fn rows(args: &Args, dataset: &Dataset, faces: &Faces) -> Result<(Vec<ClipRow>, (u32, u32)), Failure> {
    let ordinals = ordinals(&args.clip, dataset.len(), DEFAULT_ROWS)?;
    if ordinals.is_empty() || ordinals.len() > MOST_ROWS {
        return Err(format!("a sheet shows 1 to {MOST_ROWS} clips, not {}", ordinals.len()).into());
    }
    let mut decoder = Decoder::new()?;
    let (mut rows, mut size) = (Vec::new(), (0, 0));
    for ordinal in ordinals {
        rows.push(ClipRow::of(&dataset.clip(ordinal)?, &args.caption, MOST_FRAMES, args.height, &mut decoder)?);
        size = match args.output.format {
            Format::Gif => Cells::of(&rows, args.height).sheet,
            _ => grid(&rows, args.height, faces).sheet,
        };
        if u64::from(size.0) * u64::from(size.1) > MOST_PIXELS {
            let (width, height) = size;
            let what =
                format!("the sheet would have more than {MOST_PIXELS} pixels: {width}x{height} up to clip {ordinal}");
            return Err(format!("{what}; give fewer clips, or make the frames smaller with --height").into());
        }
    }
    Ok((rows, size))
}

fn grid(rows: &[ClipRow], height: u32, faces: &Faces) -> Grid {
    Grid::of(rows, height, rows.iter().map(|row| faces.widest_time(row)).max().unwrap_or(0))
}
