//! Contact sheets: a picture with a row of frames for each clip.

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use image::{Rgb, RgbImage, imageops};

/// The row of a clip on a sheet.
pub struct ClipRow {
    /// Number, class, size and source.
    pub heading: String,
    pub caption: Option<String>,
    /// Frames with their times.
    pub frames: Vec<(String, RgbImage)>,
}

/// DejaVu Sans, with the letters of Latin, Greek and Cyrillic alphabets; its license is beside it.
const TYPEFACE: &[u8] = include_bytes!("typeface/DejaVuSans.ttf");

const PAPER: Rgb<u8> = Rgb([252, 252, 250]);
const INK: Rgb<u8> = Rgb([26, 26, 30]);
const GRAY: Rgb<u8> = Rgb([104, 104, 112]);

// Lengths in pixels.
const MARGIN: u32 = 16;
const GAP: u32 = 4;
/// The size of letters, and the height of a line.
const LETTERS: f32 = 12.0;
const LINE: u32 = 17;
/// The room between two rows.
const BETWEEN: u32 = 14;
/// A sheet has room for a heading at least, and a column for the time of a frame.
const LEAST_WIDTH: u32 = 640;
const LEAST_COLUMN: u32 = 64;

/// The width and height of a sheet.
pub fn size(rows: &[ClipRow]) -> (u64, u64) {
    let columns = rows.iter().map(|row| row.frames.len() as u64).max().unwrap_or(0);
    let width = columns * u64::from(column(rows) + GAP) + u64::from(2 * MARGIN);
    let height: u64 = rows.iter().map(|row| u64::from(row_height(row) + BETWEEN)).sum();
    (width.max(LEAST_WIDTH.into()), height + u64::from(2 * MARGIN - BETWEEN))
}

/// The width of a column: frames of all clips stand in the same columns.
fn column(rows: &[ClipRow]) -> u32 {
    rows.iter().flat_map(|row| &row.frames).map(|(_, picture)| picture.width()).max().unwrap_or(0).max(LEAST_COLUMN)
}

fn row_height(row: &ClipRow) -> u32 {
    let pictures = row.frames.iter().map(|(_, picture)| picture.height() + LINE).max().unwrap_or(0);
    LINE * (1 + u32::from(row.caption.is_some())) + pictures
}

/// Draws a sheet of this [`size`], which the caller has limited.
pub fn draw(rows: &[ClipRow]) -> Result<RgbImage, String> {
    let font = FontRef::try_from_slice(TYPEFACE).map_err(|e| format!("the typeface cannot be read: {e}"))?;
    let ((width, height), column) = (size(rows), column(rows));
    let mut sheet = RgbImage::from_pixel(width as u32, height as u32, PAPER);
    let most = sheet.width() - 2 * MARGIN;
    let mut top = MARGIN;
    for row in rows {
        let mut y = top;
        for (line, ink) in std::iter::once((&row.heading, INK)).chain(row.caption.iter().map(|text| (text, GRAY))) {
            write(&mut sheet, &font, (MARGIN, y), &fitted(&font, line, most), ink);
            y += LINE;
        }
        for (left, (time, picture)) in (MARGIN..).step_by((column + GAP) as usize).zip(&row.frames) {
            imageops::replace(&mut sheet, picture, left.into(), y.into());
            write(&mut sheet, &font, (left, y + picture.height() + 1), &fitted(&font, time, column), GRAY);
        }
        top += row_height(row) + BETWEEN;
    }
    Ok(sheet)
}

/// The characters of a line that is at most `most` pixels wide. A longer one loses its middle, so that the end of a path
/// stays.
fn fitted(font: &FontRef<'_>, text: &str, most: u32) -> Vec<char> {
    let font = font.as_scaled(PxScale::from(LETTERS));
    let width = |c: char| font.h_advance(font.glyph_id(c));
    let chars: Vec<char> = text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    if chars.iter().map(|c| width(*c)).sum::<f32>() <= most as f32 {
        return chars;
    }
    let half = (most as f32 - width('…')) / 2.0;
    let fitting = |chars: &mut dyn Iterator<Item = &char>| {
        let mut sum = 0.0;
        chars
            .take_while(|c| {
                sum += width(**c);
                sum <= half
            })
            .count()
    };
    let (head, tail) = (fitting(&mut chars.iter()), fitting(&mut chars.iter().rev()));
    [&chars[..head], &['…'], &chars[chars.len() - tail..]].concat()
}

/// Draws a line whose letters have their top at `top`. What is beyond the picture is left out.
fn write(sheet: &mut RgbImage, font: &FontRef<'_>, (left, top): (u32, u32), line: &[char], ink: Rgb<u8>) {
    let scaled = font.as_scaled(PxScale::from(LETTERS));
    let (mut x, baseline) = (left as f32, top as f32 + scaled.ascent());
    for c in line {
        let id = font.glyph_id(*c);
        if let Some(outline) = font.outline_glyph(id.with_scale_and_position(LETTERS, point(x, baseline))) {
            let bounds = outline.px_bounds();
            outline.draw(|dx, dy, coverage| {
                // Casts from floats saturate, so what is left of the picture or above it would be at 0, where a margin is.
                let (x, y) = (bounds.min.x as u32 + dx, bounds.min.y as u32 + dy);
                if let Some(pixel) = sheet.get_pixel_mut_checked(x, y) {
                    let blend =
                        |from: u8, to: u8| (f32::from(from) + (f32::from(to) - f32::from(from)) * coverage) as u8;
                    *pixel = Rgb(std::array::from_fn(|c| blend(pixel.0[c], ink.0[c])));
                }
            });
        }
        x += scaled.h_advance(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_beginning_and_end() {
        let font = FontRef::try_from_slice(TYPEFACE).unwrap();
        let of = |text: &str, most| String::from_iter(fitted(&font, text, most));
        assert_eq!(of("short.mp4", 400), "short.mp4");
        let long = of(&("é".repeat(70_000) + "/film.mp4"), 400);
        assert!(long.starts_with("éééé") && long.contains("é…é") && long.ends_with("é/film.mp4"), "{long}");
        assert_eq!((of("abc", 0), of("\u{7}", 100)), ("…".into(), "\u{fffd}".into()));
    }

    #[test]
    fn letters_leave_ink_of_their_own_and_stay_in_the_picture() {
        let font = FontRef::try_from_slice(TYPEFACE).unwrap();
        let drawn = |text: &str| {
            let mut picture = RgbImage::from_pixel(40, 20, Rgb([255; 3]));
            write(&mut picture, &font, (2, 1), &text.chars().collect::<Vec<_>>(), Rgb([0; 3]));
            picture.pixels().map(|pixel| 255 - u64::from(pixel.0[0])).sum::<u64>()
        };
        assert!(drawn(" ") == 0 && drawn("i") > 300 && drawn("m") > 2 * drawn("i"));
        assert!(drawn("Я") > 0 && drawn("Я") != drawn("R") && drawn("a line that does not fit") > drawn("a li"));
    }
}
