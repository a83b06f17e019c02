//! Drawing a sheet.

use image::imageops;
use image::{Rgb, RgbImage};

use super::clip_row::{ClipRow, Shown};
use super::color::{self, GRAY, INK, MAT, PAPER, RULE};
use super::layout::{BETWEEN, Grid, HEADING, HEADING_LINE, MARGIN, SMALL, above_frames};
use super::text::Face;
use crate::cli::outcome::Failure;

/// The typefaces of a sheet.
pub struct Faces {
    bold: Face,
    regular: Face,
    small: Face,
}

impl Faces {
    pub fn load() -> Result<Self, Failure> {
        Ok(Faces { bold: Face::bold(HEADING)?, regular: Face::regular(HEADING)?, small: Face::regular(SMALL)? })
    }

    /// The width of the widest time of a row.
    pub fn widest_time(&self, row: &ClipRow) -> u32 {
        row.frames.iter().map(|frame| self.small.width(&frame.time)).max().unwrap_or(0)
    }
}

/// Draws one row a clip.
pub fn sheet(rows: &[ClipRow], grid: &Grid, faces: &Faces) -> RgbImage {
    let mut sheet = RgbImage::from_pixel(grid.sheet.0, grid.sheet.1, PAPER);
    for (row, &top) in rows.iter().zip(&grid.tops) {
        if top > MARGIN {
            fill(&mut sheet, (MARGIN, top - BETWEEN / 2 - 1), (grid.sheet.0 - 2 * MARGIN, 1), RULE);
        }
        heading(&mut sheet, row, top, faces);
        let top = top + above_frames(row);
        for (i, frame) in row.frames.iter().enumerate() {
            let left = grid.left(i);
            cell(&mut sheet, (left, top), (grid.column, grid.height), frame);
            faces.small.draw(&mut sheet, left, top + grid.height + 3, &frame.time, GRAY);
        }
    }
    sheet
}

/// The class in its color, what there is to say of the clip, and its caption.
fn heading(sheet: &mut RgbImage, row: &ClipRow, top: u32, faces: &Faces) {
    let end = sheet.width() - MARGIN;
    fill(sheet, (MARGIN, top + 2), (5, 13), color::class(row.label));
    let number = row.ordinal.to_string();
    let mut left = MARGIN + 12;
    faces.regular.draw(sheet, left, top, &number, GRAY);
    left += faces.regular.width(&number) + 10;
    let class = faces.bold.fitted(&row.class, (end - left) / 2);
    faces.bold.draw(sheet, left, top, &class, INK);
    left += faces.bold.width(&class) + 10;
    let about = faces.small.fitted(&row.about, end.saturating_sub(left));
    faces.small.draw(sheet, left, top + 3, &about, GRAY);
    if let Some(caption) = &row.caption {
        let caption = faces.small.fitted(caption, end - MARGIN);
        faces.small.draw(sheet, MARGIN, top + HEADING_LINE, &caption, INK);
    }
}

/// Draws a frame in the middle of its cell.
fn cell(sheet: &mut RgbImage, at: (u32, u32), size: (u32, u32), Shown { picture, .. }: &Shown) {
    fill(sheet, at, size, MAT);
    let inset = (size.0 - picture.width()) / 2;
    imageops::replace(sheet, picture, i64::from(at.0 + inset), i64::from(at.1));
}

fn fill(sheet: &mut RgbImage, at: (u32, u32), size: (u32, u32), color: Rgb<u8>) {
    let (right, bottom) = ((at.0 + size.0).min(sheet.width()), (at.1 + size.1).min(sheet.height()));
    for (x, y) in (at.1..bottom).flat_map(|y| (at.0..right).map(move |x| (x, y))) {
        sheet.put_pixel(x, y, color);
    }
}
