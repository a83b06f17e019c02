//! Where things are on a sheet, in pixels.

use super::clip_row::ClipRow;

pub const MARGIN: u32 = 16;
pub const GAP: u32 = 4;
/// The size of letters in a heading, and the height of their line.
pub const HEADING: f32 = 14.0;
pub const HEADING_LINE: u32 = 20;
/// The same of small letters.
pub const SMALL: f32 = 11.0;
pub const SMALL_LINE: u32 = 15;
/// The room between two rows.
pub const BETWEEN: u32 = 14;
/// A sheet has room for a heading at least.
const LEAST_WIDTH: u32 = 640;

/// The grid of a sheet: frames of all clips stand in the same columns.
#[derive(Debug, PartialEq, Eq)]
pub struct Grid {
    /// The height of a frame.
    pub height: u32,
    /// The width of a column.
    pub column: u32,
    /// The most frames in a row.
    pub columns: u32,
    /// The rows, from the top of their heading.
    pub tops: Vec<u32>,
    pub sheet: (u32, u32),
}

impl Grid {
    /// The grid for some clips. `widest_time` is the width of the widest time below a frame.
    pub fn of(rows: &[ClipRow], height: u32, widest_time: u32) -> Self {
        let column = rows.iter().map(ClipRow::width).max().unwrap_or(1).max(widest_time);
        let columns = rows.iter().map(|row| row.frames.len() as u32).max().unwrap_or(1).max(1);
        let width = (columns * (column + GAP) - GAP + 2 * MARGIN).max(LEAST_WIDTH);
        let mut top = MARGIN;
        let mut tops = Vec::new();
        for row in rows {
            tops.push(top);
            top += above_frames(row) + height + SMALL_LINE + BETWEEN;
        }
        Grid { height, column, columns, tops, sheet: (width, top - BETWEEN + MARGIN) }
    }

    /// The left edge of a column.
    pub fn left(&self, column: usize) -> u32 {
        MARGIN + column as u32 * (self.column + GAP)
    }
}

/// The height of what is above the frames of a row.
pub fn above_frames(row: &ClipRow) -> u32 {
    HEADING_LINE + if row.caption.is_some() { SMALL_LINE + 2 } else { 0 } + 3
}
