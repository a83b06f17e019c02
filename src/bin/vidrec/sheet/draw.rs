//! Drawing a sheet.

use super::clip_row::{ClipRow, Shown};
use super::color::{self, GRAY, INK, MAT, PAPER, RULE};
use super::layout::{BETWEEN, Grid, HEADING, HEADING_LINE, MARGIN, SMALL, SMALL_LINE, above_frames};
use super::text::Face;
use crate::outcome::Failure;
use crate::picture::{Picture, Rgb};

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
pub fn sheet(rows: &[ClipRow], grid: &Grid, faces: &Faces) -> Picture {
    let mut sheet = Picture::of(grid.sheet.0, grid.sheet.1, PAPER);
    for (row, &top) in rows.iter().zip(&grid.tops) {
        if top > MARGIN {
            fill(&mut sheet, (MARGIN, top - BETWEEN / 2 - 1), (grid.sheet.0 - 2 * MARGIN, 1), RULE);
        }
        heading(&mut sheet, row, top, faces);
        let top = top + above_frames(row);
        for (i, frame) in row.frames.iter().enumerate() {
            let left = grid.left(i);
            cell(&mut sheet, (left, top), (grid.column, grid.height), Some(frame));
            faces.small.draw(&mut sheet, left, top + grid.height + 3, &frame.time, GRAY);
        }
    }
    sheet
}

/// The class in its color, what there is to say of the clip, and its caption.
fn heading(sheet: &mut Picture, row: &ClipRow, top: u32, faces: &Faces) {
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
fn cell(sheet: &mut Picture, at: (u32, u32), size: (u32, u32), frame: Option<&Shown>) {
    fill(sheet, at, size, MAT);
    if let Some(Shown { picture, .. }) = frame {
        let inset = (size.0 - picture.width()) / 2;
        sheet.put(picture, (at.0 + inset, at.1));
    }
}

fn fill(sheet: &mut Picture, at: (u32, u32), size: (u32, u32), color: Rgb) {
    sheet.put(&Picture::of(size.0, size.1, color), at);
}

/// Draws clips side by side, each of them moving: picture `step` of an animation.
pub fn moving(rows: &[ClipRow], cells: &Cells, step: usize, faces: &Faces) -> Picture {
    let mut sheet = Picture::of(cells.sheet.0, cells.sheet.1, PAPER);
    for (i, row) in rows.iter().enumerate() {
        let (left, top) = cells.place(i);
        // Shorter clips start over.
        cell(&mut sheet, (left, top), cells.size, row.frames.get(step % row.frames.len().max(1)));
        let below = top + cells.size.1;
        fill(&mut sheet, (left, below), (cells.size.0, 3), color::class(row.label));
        let text = faces.small.fitted(&format!("{} {}", row.ordinal, row.class), cells.size.0);
        faces.small.draw(&mut sheet, left, below + 5, &text, INK);
    }
    sheet
}

/// The cells of an animation: one a clip.
pub struct Cells {
    across: u32,
    size: (u32, u32),
    pub sheet: (u32, u32),
}

/// The room around a cell, and below it for its text.
const CELL_GAP: u32 = 8;
const CELL_TEXT: u32 = SMALL_LINE + 6;

impl Cells {
    /// Cells in about as many rows as columns.
    pub fn of(rows: &[ClipRow], height: u32) -> Self {
        let width = rows.iter().map(ClipRow::width).max().unwrap_or(1).max(60);
        let across = (rows.len() as f64).sqrt().ceil().max(1.0) as u32;
        let down = (rows.len() as u32).div_ceil(across);
        let sheet = (across * (width + CELL_GAP) + CELL_GAP, down * (height + CELL_TEXT + CELL_GAP) + CELL_GAP);
        Cells { across, size: (width, height), sheet }
    }

    fn place(&self, cell: usize) -> (u32, u32) {
        let (column, row) = (cell as u32 % self.across, cell as u32 / self.across);
        (CELL_GAP + column * (self.size.0 + CELL_GAP), CELL_GAP + row * (self.size.1 + CELL_TEXT + CELL_GAP))
    }
}
