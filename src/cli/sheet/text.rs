//! Lines of text in a picture.

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use image::{Rgb, RgbImage};

/// DejaVu Sans, with the letters of Latin, Greek and Cyrillic alphabets; its license is beside it.
const REGULAR: &[u8] = include_bytes!("typeface/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("typeface/DejaVuSans-Bold.ttf");
const ELLIPSIS: &str = "…";

/// A typeface at one size.
pub struct Face {
    font: FontRef<'static>,
    scale: PxScale,
}

impl Face {
    /// Letters that are `pixels` high, from the lowest to the highest.
    pub fn regular(pixels: f32) -> Result<Self, String> {
        Self::of(REGULAR, pixels)
    }

    pub fn bold(pixels: f32) -> Result<Self, String> {
        Self::of(BOLD, pixels)
    }

    fn of(bytes: &'static [u8], pixels: f32) -> Result<Self, String> {
        let font = FontRef::try_from_slice(bytes).map_err(|e| format!("the typeface cannot be read: {e}"))?;
        Ok(Face { font, scale: PxScale::from(pixels) })
    }

    /// The width of a line in pixels.
    pub fn width(&self, text: &str) -> u32 {
        let scaled = self.font.as_scaled(self.scale);
        let mut width = 0.0;
        let mut before = None;
        for id in text.chars().map(|c| self.font.glyph_id(printed(c))) {
            width += before.map_or(0.0, |before| scaled.kern(before, id)) + scaled.h_advance(id);
            before = Some(id);
        }
        width.ceil() as u32
    }

    /// A text shortened until it is at most `most` pixels wide. It keeps the start and the end, which is the file's name
    /// in a path.
    pub fn fitted(&self, text: &str, most: u32) -> String {
        // No letter is narrower than a pixel; a longer text need not be measured as a whole.
        let text = shortened(text, most as usize);
        if self.width(&text) <= most {
            return text;
        }
        let (mut fits, mut too_long) = (0, text.chars().count());
        while fits + 1 < too_long {
            let middle = fits.midpoint(too_long);
            if self.width(&shortened(&text, middle)) <= most { fits = middle } else { too_long = middle }
        }
        shortened(&text, fits)
    }

    /// Draws a line whose letters have their top at `top`. What is beyond the picture is left out.
    pub fn draw(&self, picture: &mut RgbImage, left: u32, top: u32, text: &str, ink: Rgb<u8>) {
        let scaled = self.font.as_scaled(self.scale);
        let (mut x, baseline) = (left as f32, top as f32 + scaled.ascent());
        let mut before = None;
        for id in text.chars().map(|c| self.font.glyph_id(printed(c))) {
            x += before.map_or(0.0, |before| scaled.kern(before, id));
            self.draw_letter(picture, id.with_scale_and_position(self.scale, point(x, baseline)), ink);
            x += scaled.h_advance(id);
            before = Some(id);
        }
    }

    fn draw_letter(&self, picture: &mut RgbImage, letter: Glyph, ink: Rgb<u8>) {
        let Some(outline) = self.font.outline_glyph(letter) else { return };
        let bounds = outline.px_bounds();
        outline.draw(|x, y, coverage| {
            let (x, y) = (bounds.min.x as i64 + i64::from(x), bounds.min.y as i64 + i64::from(y));
            let place = u32::try_from(x).ok().zip(u32::try_from(y).ok());
            if let Some(pixel) = place.and_then(|(x, y)| picture.get_pixel_mut_checked(x, y)) {
                let blend = |from: u8, to: u8| (f32::from(from) + (f32::from(to) - f32::from(from)) * coverage) as u8;
                *pixel = Rgb(std::array::from_fn(|c| blend(pixel.0[c], ink.0[c])));
            }
        });
    }
}

/// What stands for a character in a line.
fn printed(c: char) -> char {
    if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }
}

/// A text shortened to at most `most` characters, without its middle.
fn shortened(text: &str, most: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let kept = most.saturating_sub(1);
    let head = text.char_indices().nth(kept / 2).map_or(cut, |(at, _)| at);
    let tail = (kept - kept / 2).checked_sub(1).and_then(|n| text.char_indices().rev().nth(n));
    format!("{}{ELLIPSIS}{}", &text[..head], &text[tail.map_or(text.len(), |(at, _)| at)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_beginning_and_end() {
        assert_eq!(shortened("short.mp4", 9), "short.mp4");
        assert_eq!(shortened("a/long/name.mp4", 12), "a/lon…me.mp4");
        assert_eq!([0, 1, 2].map(|most| shortened("abc", most)), ["…", "…", "…c"]);
        let face = Face::regular(13.0).unwrap();
        let long = "é".repeat(70_000) + "/film.mp4";
        let text = face.fitted(&long, 400);
        assert!((360..=400).contains(&face.width(&text)), "{text}");
        assert!(text.starts_with("éééé") && text.contains("é…é") && text.ends_with("é/film.mp4"), "{text}");
        assert_eq!(face.fitted("short.mp4", 400), "short.mp4");
    }

    #[test]
    fn letters_leave_ink_of_their_own_and_stay_in_the_picture() {
        let drawn = |text: &str| {
            let mut picture = RgbImage::from_pixel(40, 20, Rgb([255; 3]));
            Face::bold(14.0).unwrap().draw(&mut picture, 2, 1, text, Rgb([0; 3]));
            picture.pixels().map(|pixel| 255 - u64::from(pixel.0[0])).sum::<u64>()
        };
        assert!(drawn(" ") == 0 && drawn("i") > 300 && drawn("m") > 2 * drawn("i"));
        assert!(
            drawn("Я") > 0 && drawn("Я") != drawn("R") && drawn("\u{7}") == drawn("字\u{7}"[3..].trim_end_matches(' '))
        );
        assert!(drawn("a line that does not fit") > drawn("a li"));
    }
}
