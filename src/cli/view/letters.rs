//! Pictures of letters without colors: the darker a place, the emptier its letter.

use std::io::{self, Write};

use image::{Luma, RgbImage};

/// From black to white, on a dark background.
const LETTERS: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// Writes a picture, two rows of pixels a line, without a line break at its end.
pub fn write(out: &mut impl Write, picture: &RgbImage) -> io::Result<()> {
    let gray = image::imageops::grayscale(picture);
    for top in (0..gray.height()).step_by(2) {
        if top > 0 {
            writeln!(out)?;
        }
        let luma = |x: u32, y: u32| gray.get_pixel_checked(x, y).map_or(0, |Luma([luma])| usize::from(*luma));
        let line: String =
            (0..gray.width()).map(|x| LETTERS[(luma(x, top) + luma(x, top + 1)) * LETTERS.len() / (2 * 256)]).collect();
        write!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    #[test]
    fn a_letter_is_the_mean_of_two_pixels() {
        let rows = [[0, 120, 255, 0], [0, 130, 255, 0]];
        let picture = RgbImage::from_fn(4, 2, |x, y| Rgb([rows[y as usize][x as usize]; 3]));
        let mut text = Vec::new();
        write(&mut text, &picture).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), " ▒█");
    }
}
