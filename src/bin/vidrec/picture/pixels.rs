//! The pixels of a picture.

use vidrec::jpeg::RgbPicture;

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// A picture in RGB.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Rows from the top.
    pub(super) pixels: Vec<Rgb>,
}

impl Picture {
    /// A picture of one color.
    pub fn of(width: u32, height: u32, color: Rgb) -> Self {
        Picture { width, height, pixels: vec![color; width as usize * height as usize] }
    }

    pub fn width(&self) -> u32 {
        self.width
    }

    pub fn height(&self) -> u32 {
        self.height
    }

    /// Its pixels, row by row.
    pub fn pixels(&self) -> &[Rgb] {
        &self.pixels
    }

    /// A pixel, unless it is beyond the picture.
    pub fn pixel(&self, x: u32, y: u32) -> Option<Rgb> {
        (x < self.width).then(|| self.pixels.get(self.at(x, y)).copied())?
    }

    /// The same, to draw on it.
    pub fn pixel_mut(&mut self, x: u32, y: u32) -> Option<&mut Rgb> {
        let at = self.at(x, y);
        (x < self.width).then(|| self.pixels.get_mut(at))?
    }

    /// Draws another picture with its upper left corner at `at`. What is beyond this one is left out.
    pub fn put(&mut self, other: &Picture, at: (u32, u32)) {
        let width = other.width.min(self.width.saturating_sub(at.0)) as usize;
        if width == 0 {
            return;
        }
        let rows = at.1.min(self.height)..at.1.saturating_add(other.height).min(self.height);
        for (y, row) in rows.zip(other.pixels.chunks_exact(other.width as usize)) {
            let begin = self.at(at.0, y);
            self.pixels[begin..begin + width].copy_from_slice(&row[..width]);
        }
    }

    fn at(&self, x: u32, y: u32) -> usize {
        y as usize * self.width as usize + x as usize
    }
}

impl From<RgbPicture> for Picture {
    fn from(decoded: RgbPicture) -> Self {
        let RgbPicture { width, height, pixels } = decoded;
        Picture { width, height, pixels: pixels.as_chunks().0.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_beyond_a_picture_is_left_out() {
        let mut picture = Picture::of(3, 2, [0; 3]);
        picture.put(&Picture::of(2, 5, [1; 3]), (2, 1));
        picture.put(&Picture::of(2, 2, [2; 3]), (3, 0));
        picture.put(&Picture::of(2, 2, [2; 3]), (0, 2));
        assert_eq!(picture.pixels().iter().map(|pixel| pixel[0]).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1]);
        assert_eq!((picture.pixel(2, 1), picture.pixel(3, 0), picture.pixel(0, 2)), (Some([1; 3]), None, None));
        assert!(picture.pixel_mut(3, 0).is_none() && picture.pixel_mut(0, 2).is_none());
    }
}
