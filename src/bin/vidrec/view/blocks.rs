//! Pictures of letters: the upper half of each in one color, the lower half in another.

use std::io::{self, Write};

use image::RgbImage;

/// Writes a picture, two rows of pixels a line, without a line break at its end.
pub fn write(out: &mut impl Write, picture: &RgbImage) -> io::Result<()> {
    for top in (0..picture.height()).step_by(2) {
        if top > 0 {
            writeln!(out)?;
        }
        for x in 0..picture.width() {
            let [r, g, b] = picture.get_pixel(x, top).0;
            write!(out, "\x1b[38;2;{r};{g};{b}m")?;
            if let Some(below) = picture.get_pixel_checked(x, top + 1) {
                let [r, g, b] = below.0;
                write!(out, "\x1b[48;2;{r};{g};{b}m")?;
            }
            write!(out, "▀")?;
        }
        write!(out, "\x1b[0m")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    #[test]
    fn a_letter_has_two_pixels() {
        let picture = RgbImage::from_fn(1, 3, |_, y| Rgb([y as u8, 0, 9]));
        let mut text = Vec::new();
        write(&mut text, &picture).unwrap();
        let expected = "\x1b[38;2;0;0;9m\x1b[48;2;1;0;9m▀\x1b[0m\n\x1b[38;2;2;0;9m▀\x1b[0m";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
