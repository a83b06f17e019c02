//! Colors of a sheet.

use image::Rgb;

pub const PAPER: Rgb<u8> = Rgb([252, 252, 250]);
pub const INK: Rgb<u8> = Rgb([26, 26, 30]);
pub const GRAY: Rgb<u8> = Rgb([104, 104, 112]);
pub const RULE: Rgb<u8> = Rgb([226, 226, 222]);
/// Behind frames that are narrower than their column.
pub const MAT: Rgb<u8> = Rgb([240, 240, 237]);
/// Of clips without a label.
pub const NO_CLASS: Rgb<u8> = Rgb([150, 150, 156]);

/// Eight colors that color-blind people tell apart (Okabe and Ito, "Color Universal Design", 2008), black replaced by a
/// brown.
const CLASSES: [Rgb<u8>; 8] = [
    Rgb([0, 114, 178]),
    Rgb([213, 94, 0]),
    Rgb([0, 158, 115]),
    Rgb([204, 121, 167]),
    Rgb([230, 159, 0]),
    Rgb([86, 180, 233]),
    Rgb([116, 78, 54]),
    Rgb([240, 228, 66]),
];

/// The color of a class. After eight classes, colors repeat.
pub fn class(label: Option<u32>) -> Rgb<u8> {
    label.map_or(NO_CLASS, |label| CLASSES[label as usize % CLASSES.len()])
}
