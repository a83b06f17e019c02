//! Colors of a sheet.

use crate::picture::Rgb;

pub const PAPER: Rgb = [252, 252, 250];
pub const INK: Rgb = [26, 26, 30];
pub const GRAY: Rgb = [104, 104, 112];
pub const RULE: Rgb = [226, 226, 222];
/// Behind frames that are narrower than their column.
pub const MAT: Rgb = [240, 240, 237];
/// Of clips without a label.
pub const NO_CLASS: Rgb = [150, 150, 156];

/// Eight colors that color-blind people tell apart (Okabe and Ito, "Color Universal Design", 2008), black replaced by a
/// brown.
const CLASSES: [Rgb; 8] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [116, 78, 54],
    [240, 228, 66],
];

/// The color of a class. After eight classes, colors repeat.
pub fn class(label: Option<u32>) -> Rgb {
    label.map_or(NO_CLASS, |label| CLASSES[label as usize % CLASSES.len()])
}
