//! `vidrec view`: clips as a picture, with a row of frames for each.

use std::io::Cursor;
use std::path::PathBuf;

use image::{ImageFormat, Rgb, RgbImage, imageops};

use crate::Clip;
use crate::cli::arguments::{ClipRange, ordinals};
use crate::cli::output::{count, printable, share};
use crate::cli::{Outcome, Run, StorageArgs, local, output};
use crate::jpeg::Decoder;
use crate::limits::MAX_PIXELS;
use crate::report::thumbnail;
use crate::sampler::uniform;

/// Draw clips as a picture with a row of frames for each, and say what each row shows.
///
/// `vidrec browse` plays clips.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Clips by number, counted from 0: 5, 3-7 or all. [default: 12, evenly spread]
    clip: Vec<ClipRange>,
    /// The picture to write, a .png file.
    #[arg(short, long, value_name = "FILE", value_parser = sheet_path)]
    output: PathBuf,
    /// Height of a frame in pixels.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(16..=1024))]
    height: u32,
    #[command(flatten)]
    storage: StorageArgs,
}

/// The number of clips if none is given.
const CLIPS: u32 = 12;
/// The most clips of a picture, and frames of a clip.
const MOST_ROWS: usize = 500;
const MOST_FRAMES: u32 = 16;
/// The pixels between frames.
const GAP: u32 = 4;

fn sheet_path(text: &str) -> Result<PathBuf, String> {
    let path = local(text)?;
    let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    if is_png { Ok(path) } else { Err("the name of a picture ends with .png".into()) }
}

pub fn run(args: &Args) -> Run {
    let dataset = args.storage.open(&args.dataset)?;
    let clips = if args.clip.is_empty() { spread(dataset.len(), CLIPS) } else { ordinals(&args.clip, dataset.len())? };
    if clips.is_empty() || clips.len() > MOST_ROWS {
        return Err(format!("a picture shows 1 to {MOST_ROWS} clips, not {}", clips.len()).into());
    }
    let (mut decoder, mut rows, mut text) = (Decoder::new()?, Vec::new(), String::new());
    let (mut width, mut height, mut frames) = (1, GAP, 0);
    for &ordinal in &clips {
        let clip = dataset.clip(ordinal)?;
        let shown = uniform(clip.frame_count(), clip.frame_count().min(MOST_FRAMES));
        let thumbnails = shown.iter().map(|&t| thumbnail(&clip.frame(t)?, args.height, &mut decoder));
        let row: Vec<RgbImage> = thumbnails.collect::<crate::Result<_>>()?;
        width = width.max(row.iter().map(|frame| frame.width() + GAP).sum::<u32>() + GAP);
        height += row.iter().map(RgbImage::height).max().unwrap_or(0) + GAP;
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            let what =
                format!("the picture would have more than {MAX_PIXELS} pixels: {width}x{height} up to clip {ordinal}");
            return Err(format!("{what}; give fewer clips, or make the frames smaller with --height").into());
        }
        frames += row.len() as u64;
        text += &format!("{}\n", printable(&describe(&clip)?));
        rows.push(row);
    }
    let (mut sheet, mut top) = (RgbImage::from_pixel(width, height, Rgb([255; 3])), GAP);
    for row in &rows {
        let mut left = GAP;
        for frame in row {
            imageops::replace(&mut sheet, frame, left.into(), top.into());
            left += frame.width() + GAP;
        }
        top += row.iter().map(RgbImage::height).max().unwrap_or(0) + GAP;
    }
    let mut png = Cursor::new(Vec::new());
    sheet.write_to(&mut png, ImageFormat::Png)?;
    crate::write_whole(&args.output, |file| file.write_all(png.get_ref()))?;
    let (frames, clips) = (count(frames, "frame"), share(clips.len() as u64, dataset.len(), "clip"));
    output::print(false, &(), |()| format!("{text}drew {frames} of {clips} to {}\n", args.output.display()))?;
    Ok(Outcome::Done)
}

/// Up to `count` clips of `len`, evenly spread.
fn spread(len: u64, count: u32) -> Vec<u64> {
    let step = |i: u32| len * u64::from(2 * i + 1) / u64::from(2 * count);
    if len < u64::from(count) { (0..len).collect() } else { (0..count).map(step).collect() }
}

/// Number, class, size and source of a clip.
fn describe(clip: &Clip<'_>) -> crate::Result<String> {
    let class = match (clip.label(), &*clip.class()?) {
        (None, _) => "no label".to_owned(),
        (Some(label), "") => format!("label {label}"),
        (Some(_), class) => class.to_owned(),
    };
    let size = match clip.frame_count() {
        0 => "no frames".to_owned(),
        _ => format!("{}×{}", clip.width(), clip.height()),
    };
    let short = if clip.is_short() { " · short" } else { "" };
    Ok(format!("{} {class} · {size}{short} · {}", clip.ordinal(), clip.source()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_are_spread_over_the_set() {
        assert_eq!((spread(0, 12), spread(3, 12)), (vec![], vec![0, 1, 2]));
        assert_eq!(spread(100, 4), [12, 37, 62, 87]);
        assert_eq!(spread(1 << 40, 2), [1 << 38, 3 << 38]);
    }
}
