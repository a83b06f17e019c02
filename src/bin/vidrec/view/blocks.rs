//! Pictures of letters: the upper half of each in one color, the lower half in another.

use std::io::{self, Write};

use crate::picture::Picture;

/// Writes a picture, two rows of pixels a line, without a line break at its end.
pub fn write(out: &mut impl Write, picture: &Picture) -> io::Result<()> {
    for top in (0..picture.height()).step_by(2) {
        if top > 0 {
            writeln!(out)?;
        }
        for x in 0..picture.width() {
            for (plane, y) in [(38, top), (48, top + 1)] {
                if let Some([r, g, b]) = picture.pixel(x, y) {
                    write!(out, "\x1b[{plane};2;{r};{g};{b}m")?;
                }
            }
            write!(out, "▀")?;
        }
        write!(out, "\x1b[0m")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_has_two_pixels() {
        let mut picture = Picture::of(1, 3, [0, 0, 9]);
        (1..3).for_each(|y| picture.pixel_mut(0, y).unwrap()[0] = y as u8);
        let mut text = Vec::new();
        write(&mut text, &picture).unwrap();
        let expected = "\x1b[38;2;0;0;9m\x1b[48;2;1;0;9m▀\x1b[0m\n\x1b[38;2;2;0;9m▀\x1b[0m";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
