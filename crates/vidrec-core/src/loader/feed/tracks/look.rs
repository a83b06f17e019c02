//! The part of a frame that a sample shows, for pictures of tracks that are seen as the frames are.

use crate::loader::feed::sample_spec::SampleSpec;
use vidrec_format::error::{Error, Result};

/// What a sample shows of its frames.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// The part of a frame in its pixels: left, top, width, height.
    window: [f64; 4],
    flip: bool,
    /// Width and height of the frames.
    frame: (u32, u32),
    /// Width and height of the pictures.
    size: (u32, u32),
}

impl Look {
    /// # Errors
    ///
    /// The frames of the clip differ in size.
    pub fn of(plan: &SampleSpec<'_>) -> Result<Self> {
        let (frame, window) = plan.frame_size().zip(plan.params.window).ok_or_else(|| {
            let e = Error::usage("the frames of the clip differ in size, so no track can follow them");
            e.in_clip(plan.clip.ordinal()).help("omit follow of the track, or leave the clip out")
        })?;
        Ok(Look { window, flip: plan.params.flip, frame, size: plan.size })
    }

    /// The column and the row of a stored picture of `stored` (width, height) pixels that each column and each row of the
    /// sample shows: those of the pixel in which its center lies. A stored picture shows the same scene as a frame, whatever
    /// its size.
    pub fn sources(&self, stored: (usize, usize)) -> (Vec<usize>, Vec<usize>) {
        let [left, top, width, height] = self.window;
        let mut columns = axis((left, width), self.size.0, self.frame.0, stored.0);
        if self.flip {
            columns.reverse();
        }
        (columns, axis((top, height), self.size.1, self.frame.1, stored.1))
    }
}

fn axis((start, length): (f64, f64), out: u32, frame: u32, stored: usize) -> Vec<usize> {
    let step = length / f64::from(out);
    let place = |i: u32| {
        let center = start + (f64::from(i) + 0.5) * step;
        // Never negative. What rounding moves beyond the edge is the last pixel.
        ((center * stored as f64 / f64::from(frame)) as usize).min(stored.saturating_sub(1))
    };
    (0..out).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pixel_shows_the_stored_one_in_which_its_center_lies() {
        let look = Look { window: [2.0, 0.0, 4.0, 3.0], flip: true, frame: (8, 6), size: (4, 2) };
        assert_eq!(look.sources((8, 6)), (vec![5, 4, 3, 2], vec![0, 2]));
        assert_eq!(look.sources((16, 3)), (vec![11, 9, 7, 5], vec![0, 1]));
        assert_eq!(look.sources((1, 1)), (vec![0; 4], vec![0; 2]));
    }
}
