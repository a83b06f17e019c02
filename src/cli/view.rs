//! `vidrec view`: clips as a contact sheet or as text.

use std::io::{self, Write};
use std::path::PathBuf;

use image::imageops;
use image::{GrayImage, RgbImage};

use crate::Clip;
use crate::Dataset;
use crate::cli::output::{count, printable, share};
use crate::cli::sheet::ClipRow;
use crate::cli::{ClipRange, Failure, Outcome, Run, StorageArgs, local, output, ranges, sheet};
use crate::jpeg::Decoder;
use crate::report::thumbnail::thumbnail;
use crate::sampler::uniform;

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
    /// Draw a contact sheet, a .png file.
    #[arg(short, long, value_name = "FILE", value_parser = sheet_path)]
    output: Option<PathBuf>,
    /// Height of a frame of a sheet, in pixels.
    #[arg(long, requires = "output", default_value_t = 120, value_parser = clap::value_parser!(u32).range(16..=1024))]
    height: u32,
    /// As text: width of the row in columns. [default: that of the terminal, or 80]
    #[arg(long, value_name = "COLUMNS", conflicts_with = "output", value_parser = clap::value_parser!(u16).range(10..=1000))]
    width: Option<u16>,
    /// The attribute of a clip that is shown as its caption.
    #[arg(long, default_value = "caption", value_name = "ATTRIBUTE")]
    caption: String,
    #[command(flatten)]
    storage: StorageArgs,
}

/// The number of clips if none is given: as text, and on a sheet.
const TEXT_CLIPS: u32 = 4;
const SHEET_CLIPS: u32 = 12;
/// The most clips of a sheet, and frames of a clip.
const MOST_ROWS: usize = 500;
const MOST_FRAMES: u32 = 16;
/// The least columns of a frame of letters.
const LEAST_COLUMNS: u32 = 20;
/// From black to white, on a dark background.
const LETTERS: [char; 5] = [' ', '░', '▒', '▓', '█'];

fn sheet_path(text: &str) -> Result<PathBuf, String> {
    let path = local(text)?;
    let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    if is_png { Ok(path) } else { Err("the name of a sheet ends with .png".into()) }
}

pub fn run(args: &Args) -> Run {
    let dataset = args.storage.open(&args.dataset)?;
    match &args.output {
        Some(path) => draw(args, &dataset, path)?,
        None => print(args, &dataset)?,
    }
    Ok(Outcome::Done)
}

/// Draws a sheet.
fn draw(args: &Args, dataset: &Dataset, path: &PathBuf) -> Result<(), Failure> {
    let ordinals = ordinals(&args.clip, dataset.len(), SHEET_CLIPS)?;
    if ordinals.is_empty() || ordinals.len() > MOST_ROWS {
        return Err(format!("a sheet shows 1 to {MOST_ROWS} clips, not {}", ordinals.len()).into());
    }
    let (mut decoder, mut rows) = (Decoder::new()?, Vec::new());
    for ordinal in ordinals {
        rows.push(row(&dataset.clip(ordinal)?, args, (MOST_FRAMES, args.height), &mut decoder)?);
        let (width, height) = sheet::size(&rows);
        if width * height > crate::limits::MAX_PIXELS {
            let most = crate::limits::MAX_PIXELS;
            let what = format!("the sheet would have more than {most} pixels: {width}x{height} up to clip {ordinal}");
            return Err(format!("{what}; give fewer clips, or make the frames smaller with --height").into());
        }
    }
    let mut png = io::Cursor::new(Vec::new());
    sheet::draw(&rows)?.write_to(&mut png, image::ImageFormat::Png)?;
    crate::write_whole(path, |file| file.write_all(png.get_ref()))?;
    let frames = count(rows.iter().map(|row| row.frames.len() as u64).sum(), "frame");
    let clips = share(rows.len() as u64, dataset.len(), "clip");
    output::print(false, &(), |()| format!("drew {frames} of {clips} to {}\n", path.display()))?;
    Ok(())
}

/// Prints clips as text.
fn print(args: &Args, dataset: &Dataset) -> Result<(), Failure> {
    let terminal = || console::Term::stdout().size_checked().map(|(_, columns)| columns);
    let columns = u32::from(args.width.or_else(terminal).unwrap_or(80)).max(1);
    let frames = (columns / LEAST_COLUMNS).clamp(1, 8);
    let mut decoder = Decoder::new()?;
    let mut out = io::stdout().lock();
    for ordinal in ordinals(&args.clip, dataset.len(), TEXT_CLIPS)? {
        // As high as wide at most: upright videos need not fill the screen.
        let cell = columns / frames;
        let row = row(&dataset.clip(ordinal)?, args, (frames, cell), &mut decoder)?;
        writeln!(out, "{}", printable(&row.heading))?;
        if let Some(caption) = &row.caption {
            writeln!(out, "{}", printable(caption))?;
        }
        if !row.frames.is_empty() {
            writeln!(out, "{}", letters(&side_by_side(&row, cell)))?;
        }
        writeln!(out)?;
    }
    out.flush()?;
    Ok(())
}

/// The given clips of `len`, or up to `count` of them, evenly spread.
fn ordinals(given: &[ClipRange], len: u64, count: u32) -> Result<Vec<u64>, String> {
    let step = |i: u32| len * u64::from(2 * i + 1) / u64::from(2 * count);
    match u32::try_from(len) {
        _ if !given.is_empty() => ranges::ordinals(given, len),
        Ok(few) if few < count => Ok((0..len).collect()),
        _ => Ok((0..count).map(step).collect()),
    }
}

/// Decodes the frames of a clip, or `most` of them, evenly spread, to at most `height` rows of pixels.
fn row(clip: &Clip<'_>, args: &Args, (most, height): (u32, u32), decoder: &mut Decoder) -> crate::Result<ClipRow> {
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
    let mut frames = Vec::new();
    for t in uniform(clip.frame_count(), clip.frame_count().min(most)) {
        let frame = clip.frame(t)?;
        frames.push((format!("{:.2} s", frame.pts_seconds()), thumbnail(&frame, height, decoder)?));
    }
    let caption = clip.attributes()?.get::<serde_json::Value>(&args.caption)?.filter(|value| !value.is_null());
    let caption = caption.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    Ok(ClipRow {
        heading: format!("{} {class} · {size}{short} · {}", clip.ordinal(), clip.source()?),
        caption: caption.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")),
        frames,
    })
}

/// The frames of a row in cells that are `cell` pixels wide, the last of which stays black.
fn side_by_side(row: &ClipRow, cell: u32) -> RgbImage {
    let scaled = |picture: &RgbImage| {
        let width = picture.width().min(cell.saturating_sub(1)).max(1);
        imageops::thumbnail(picture, width, (picture.height() * width / picture.width()).max(1))
    };
    let scaled: Vec<RgbImage> = row.frames.iter().map(|(_, picture)| scaled(picture)).collect();
    let height = scaled.iter().map(RgbImage::height).max().unwrap_or(1);
    let mut all = RgbImage::new(cell * scaled.len() as u32, height);
    for (left, picture) in (0..).step_by(cell as usize).zip(&scaled) {
        imageops::replace(&mut all, picture, left, 0);
    }
    all
}

/// A picture as letters without colors, two rows of pixels a line: the darker a place, the emptier its letter.
fn letters(picture: &RgbImage) -> String {
    let gray: GrayImage = imageops::grayscale(picture);
    let luma = |x: u32, y: u32| gray.get_pixel_checked(x, y).map_or(0, |luma| usize::from(luma.0[0]));
    let letter = |x: u32, y: u32| LETTERS[(luma(x, y) + luma(x, y + 1)) * LETTERS.len() / (2 * 256)];
    let line = |y: u32| (0..gray.width()).map(|x| letter(x, y)).collect::<String>().trim_end().to_owned();
    (0..gray.height()).step_by(2).map(line).collect::<Vec<_>>().join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    #[test]
    fn clips_are_spread_over_the_set() {
        let spread = |len, count| ordinals(&[], len, count).unwrap();
        assert_eq!((spread(0, 12), spread(3, 12)), (vec![], vec![0, 1, 2]));
        assert_eq!(spread(100, 4), [12, 37, 62, 87]);
        assert_eq!(spread(1 << 40, 2), [1 << 38, 3 << 38]);
    }

    #[test]
    fn a_letter_is_the_mean_of_two_pixels() {
        let rows = [[0, 120, 255, 0], [0, 130, 255, 0]];
        let picture = RgbImage::from_fn(4, 2, |x, y| Rgb([rows[y as usize][x as usize]; 3]));
        assert_eq!(letters(&picture), " ▒█\n");
    }
}
