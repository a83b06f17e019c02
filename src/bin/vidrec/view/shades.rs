//! Pictures of letters without colors: the darker a place, the emptier its letter.

use std::io::{self, Write};

use crate::picture::{Picture, Rgb};

/// From black to white, on a dark background.
const LETTERS: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// Writes a picture, two rows of pixels a line, without a line break at its end.
pub fn write(out: &mut impl Write, picture: &Picture) -> io::Result<()> {
    for top in (0..picture.height()).step_by(2) {
        if top > 0 {
            writeln!(out)?;
        }
        let luma = |x, y| picture.pixel(x, y).map_or(0, luma);
        let line: String = (0..picture.width())
            .map(|x| LETTERS[(luma(x, top) + luma(x, top + 1)) * LETTERS.len() / (2 * 256)])
            .collect();
        write!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The luma of BT.709.
fn luma([r, g, b]: Rgb) -> usize {
    (2126 * usize::from(r) + 7152 * usize::from(g) + 722 * usize::from(b)) / 10_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_the_mean_of_two_pixels() {
        let rows = [[0, 120, 255, 0], [0, 130, 255, 0]];
        let mut picture = Picture::of(4, 2, [0; 3]);
        for (x, y) in (0..2).flat_map(|y| (0..4).map(move |x| (x, y))) {
            *picture.pixel_mut(x, y).unwrap() = [rows[y as usize][x as usize]; 3];
        }
        let mut text = Vec::new();
        write(&mut text, &picture).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), " ▒█");
    }
}
