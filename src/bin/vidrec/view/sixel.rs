//! Sixels: bands of six rows of pixels, one color after the other (DEC, "VT330/VT340 Programmer Reference Manual",
//! volume 2, chapter 14).

use std::io::{self, Write};

use color_quant::NeuQuant;

use crate::picture::Picture;

const COLORS: usize = 256;
/// How many pixels the quantizer skips: 1 looks at all of them.
const SKIPPED: i32 = 10;

/// Writes a picture in 256 colors.
pub fn write(out: &mut impl Write, picture: &Picture) -> io::Result<()> {
    let rgba: Vec<u8> = picture.pixels().iter().flat_map(|&[r, g, b]| [r, g, b, 255]).collect();
    let palette = NeuQuant::new(SKIPPED, COLORS, &rgba);
    let indices: Vec<u8> = rgba.chunks_exact(4).map(|pixel| palette.index_of(pixel) as u8).collect();
    write!(out, "\x1bP0;1q\"1;1;{};{}", picture.width(), picture.height())?;
    for (i, color) in palette.color_map_rgb().chunks_exact(3).enumerate() {
        let percent = |value: u8| (u32::from(value) * 100 + 127) / 255;
        write!(out, "#{i};2;{};{};{}", percent(color[0]), percent(color[1]), percent(color[2]))?;
    }
    let width = picture.width() as usize;
    for band in indices.chunks(width * 6) {
        write_band(out, band, width)?;
        write!(out, "-")?;
    }
    write!(out, "\x1b\\")
}

/// Writes up to six rows: for each color that they have the pixels of that color.
fn write_band(out: &mut impl Write, band: &[u8], width: usize) -> io::Result<()> {
    let mut used = [false; COLORS];
    band.iter().for_each(|&color| used[usize::from(color)] = true);
    for color in (0..COLORS).filter(|&color| used[color]) {
        write!(out, "#{color}")?;
        let bits = |x: usize| -> u8 {
            band.chunks(width).enumerate().filter(|(_, row)| usize::from(row[x]) == color).map(|(y, _)| 1 << y).sum()
        };
        let mut x = 0;
        while x < width {
            let sixel = bits(x);
            let run = (x..width).take_while(|&next| bits(next) == sixel).count();
            write!(out, "!{run}{}", char::from(b'?' + sixel))?;
            x += run;
        }
        // Back to the left edge of the same band.
        write!(out, "$")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_has_six_rows_of_each_color() {
        let mut text = Vec::new();
        // Two rows: 1 1 2 and 1 2 2.
        write_band(&mut text, &[1, 1, 2, 1, 2, 2], 3).unwrap();
        // Bits from the top: column 0 is 11 of color 1, column 1 is 01, column 2 is 00.
        assert_eq!(String::from_utf8(text).unwrap(), "#1!1B!1@!1?$#2!1?!1A!1B$");
    }

    #[test]
    fn a_picture_has_its_size_its_colors_and_its_bands() {
        let mut text = Vec::new();
        write(&mut text, &Picture::of(5, 13, [255, 0, 0])).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("\x1bP0;1q\"1;1;5;13#0;2;") && text.ends_with("-\x1b\\"));
        assert_eq!(text.matches('-').count(), 3);
        assert!(text.contains("!5~"), "a full sixel, five times");
    }
}
