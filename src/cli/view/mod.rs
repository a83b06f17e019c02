//! `vidrec view`: clips as a contact sheet or as text.

mod letters;

use std::io::{self, Write};
use std::path::PathBuf;

use crate::jpeg::Decoder;
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};

use crate::cli::output::printable;
use crate::cli::ranges::ClipRange;
use crate::cli::sheet::clip_row::{ClipRow, ordinals};
use crate::cli::sheet::{Sheet, SheetPath, sheet_path};
use crate::cli::storage::StorageArgs;
use crate::cli::{Outcome, Run};

/// Draw clips as a picture, or show them as text: a row of frames for each, with its class, source and caption.
///
/// With -o, this draws a contact sheet, which also has the time of each frame. Without it, the frames are shades of gray made
/// of letters, for a look over a slow connection. `vidrec browse` plays clips.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Clips by number, counted from 0: 5, 3-7 or all. [default: 4, or 12 on a sheet,
    /// evenly spread]
    clip: Vec<ClipRange>,
    /// Draw a contact sheet: .png or .jpg.
    #[arg(short, long, value_name = "FILE", value_parser = sheet_path)]
    output: Option<SheetPath>,
    /// Height of a frame of a sheet, in pixels.
    #[arg(long, requires = "output", default_value_t = 120, value_parser = clap::value_parser!(u32).range(16..=1024))]
    height: u32,
    /// Print a report of the sheet as JSON.
    #[arg(long, requires = "output")]
    json: bool,
    /// As text: frames in a row, evenly spread. [default: as many as are 20 columns wide, or more]
    #[arg(long, value_name = "N", conflicts_with = "output", value_parser = clap::value_parser!(u32).range(1..=16))]
    frames: Option<u32>,
    /// As text: width of the row in columns. [default: that of the terminal, or 80]
    #[arg(long, value_name = "COLUMNS", conflicts_with = "output", value_parser = clap::value_parser!(u16).range(10..=1000))]
    width: Option<u16>,
    /// The attribute of a clip that is shown as its caption.
    #[arg(long, default_value = "caption", value_name = "ATTRIBUTE")]
    caption: String,
    #[command(flatten)]
    storage: StorageArgs,
}

/// The number of clips if none is given.
const DEFAULT_CLIPS: u32 = 4;
/// The least columns of a frame, unless the number of frames is given.
const LEAST_COLUMNS: u32 = 20;
/// Columns between two frames.
const GAP: u32 = 1;

pub fn run(args: &Args) -> Run {
    let dataset = args.storage.open(&args.dataset)?;
    if let Some(output) = &args.output {
        let Args { clip, caption, height, json, .. } = args;
        return Sheet { output, clips: clip, caption, height: *height }.draw(&dataset, *json);
    }
    let terminal = || console::Term::stdout().size_checked().map(|(_, columns)| columns);
    let columns = u32::from(args.width.or_else(terminal).unwrap_or(80)).max(1);
    let frames = args.frames.unwrap_or((columns / LEAST_COLUMNS).clamp(1, 8));
    let mut decoder = Decoder::new()?;
    let mut out = io::stdout().lock();
    for ordinal in ordinals(&args.clip, dataset.len(), DEFAULT_CLIPS)? {
        // As high as wide at most: upright videos need not fill the screen.
        let height = (columns / frames).clamp(2, 1024);
        let row = ClipRow::of(&dataset.clip(ordinal)?, &args.caption, frames, height, &mut decoder)?;
        let caption = row.caption.as_deref().map_or(String::new(), |caption| format!("{}\n", printable(caption)));
        write!(out, "{} {} · {}\n{caption}", row.ordinal, printable(&row.class), printable(&row.about))?;
        if row.frames.is_empty() {
            writeln!(out)?;
            continue;
        }
        letters::write(&mut out, &strip(&row, columns))?;
        writeln!(out, "\n")?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// The frames of a row side by side, at most `columns` pixels wide.
fn strip(row: &ClipRow, columns: u32) -> RgbImage {
    let gaps = GAP * (row.frames.len() as u32).saturating_sub(1);
    let wide: u32 = row.frames.iter().map(|frame| frame.picture.width()).sum();
    let tall = row.frames.iter().map(|frame| frame.picture.height()).max().unwrap_or(1);
    let share = (f64::from(columns.saturating_sub(gaps)) / f64::from(wide.max(1))).min(1.0);
    let scaled = |side: u32| ((f64::from(side) * share) as u32).max(1);
    let width = row.frames.iter().map(|frame| scaled(frame.picture.width())).sum::<u32>() + gaps;
    let mut strip = RgbImage::from_pixel(width.max(1), scaled(tall), Rgb([0; 3]));
    let mut left = 0;
    for frame in &row.frames {
        let (width, height) = (scaled(frame.picture.width()), scaled(frame.picture.height()));
        let picture = imageops::resize(&frame.picture, width, height, FilterType::Triangle);
        imageops::replace(&mut strip, &picture, i64::from(left), 0);
        left += width + GAP;
    }
    strip
}
