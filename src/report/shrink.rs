//! Shrinks pictures: each pixel is the mean of the area that it covers.

/// Samples in rows. Every `step`-th sample belongs to the channel.
#[derive(Clone, Copy)]
pub(super) struct Channel<'a> {
    pub samples: &'a [u8],
    /// The number of samples of the channel in a row, and the number of rows.
    pub size: (usize, usize),
    /// The bytes from one sample to the next, and from one row to the next.
    pub step: usize,
    pub pitch: usize,
}

/// Returns the part of an axis that each pixel covers: its start, and the weights of its samples, which sum to 1.
fn covers(from: usize, to: usize) -> Vec<(usize, Vec<f32>)> {
    let ratio = from as f64 / to as f64;
    let cover = |i: usize| {
        let (start, end) = (i as f64 * ratio, (i + 1) as f64 * ratio);
        let first = (start as usize).min(from - 1);
        let last = (end.ceil() as usize).clamp(first + 1, from);
        let weight = |j: usize| ((end.min((j + 1) as f64) - start.max(j as f64)).max(0.0) / ratio) as f32;
        (first, (first..last).map(weight).collect())
    };
    (0..to).map(cover).collect()
}

impl Channel<'_> {
    /// Returns the channel at another size, row by row. No side may be 0.
    pub fn resized(&self, (width, height): (usize, usize)) -> Vec<u8> {
        let (columns, rows) = (covers(self.size.0, width), covers(self.size.1, height));
        let mut out = Vec::with_capacity(width * height);
        let mut sums = vec![0f32; self.size.0];
        for (first, weights) in rows {
            sums.fill(0.0);
            for (row, weight) in (first..).zip(weights) {
                let samples = self.samples[row * self.pitch..].iter().step_by(self.step);
                sums.iter_mut().zip(samples).for_each(|(sum, &sample)| *sum += weight * f32::from(sample));
            }
            out.extend(columns.iter().map(|(first, weights)| {
                let sum: f32 = sums[*first..].iter().zip(weights).map(|(sum, weight)| sum * weight).sum();
                (sum + 0.5) as u8
            }));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_areas() {
        let samples: Vec<u8> = vec![0, 9, 100, 9, 200, 9, 0, 9, 50, 9, 100, 9, 200, 9, 150, 9];
        let channel = Channel { samples: &samples, size: (4, 2), step: 2, pitch: 8 };
        assert_eq!(channel.resized((4, 2)), [0, 100, 200, 0, 50, 100, 200, 150]);
        assert_eq!(channel.resized((2, 1)), [63, 138]);
        assert_eq!(channel.resized((1, 1)), [100]);
        let flat = [77; 15];
        let channel = Channel { samples: &flat, size: (5, 3), step: 1, pitch: 5 };
        assert!(channel.resized((4, 2)).iter().all(|&v| v == 77));
        assert!(channel.resized((8, 7)).iter().all(|&v| v == 77));
    }
}
