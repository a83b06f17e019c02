//! Statistics of pictures, channel by channel, for normalization.

use rayon::prelude::*;
use vidrec_jpeg::{Decoder, RgbPicture};

use super::tracks::TrackStats;
use crate::dataset::{Clip, Dataset, Frame};
use vidrec_format::{Error, Result};

/// The number of pixels with each level of red, green and blue.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Levels {
    counts: Box<[[u64; 256]; 3]>,
    clips: u64,
    pictures: u64,
}

impl Default for Levels {
    fn default() -> Self {
        Levels { counts: Box::new([[0; 256]; 3]), clips: 0, pictures: 0 }
    }
}

impl Levels {
    /// The levels of some frames of a clip. Of each frame, the pixels of every `step`th row and column count.
    ///
    /// # Errors
    ///
    /// A frame is damaged.
    pub fn of(clip: &Clip<'_>, frames: &[u32], step: &(impl Fn(&RgbPicture) -> usize + Sync)) -> Result<Self> {
        let frames = frames.iter().map(|&t| clip.frame(t)).collect::<Result<Vec<_>>>()?;
        let count = |decoder: &mut Result<Decoder>, frame: &Frame<'_>| {
            let decoder = decoder.as_mut().map_err(|_| Error::limit("there is no memory for a JPEG decoder"))?;
            frame.check()?;
            let picture = decoder.decode_picture(frame.jpeg()).map_err(|e| frame.place(e))?;
            Ok(Levels { pictures: 1, ..Levels::of_picture(&picture, step(&picture)) })
        };
        let counted = frames.par_iter().map_init(Decoder::new, count);
        let all = counted.try_reduce(Levels::default, |a, b| Ok(a.and(&b)))?;
        Ok(Levels { clips: 1, ..all })
    }

    fn of_picture(picture: &RgbPicture, step: usize) -> Self {
        let mut levels = Levels::default();
        for row in picture.pixels.chunks_exact(3 * picture.width.max(1) as usize).step_by(step) {
            for pixel in row.as_chunks::<3>().0.iter().step_by(step) {
                levels.counts.iter_mut().zip(pixel).for_each(|(channel, &level)| channel[usize::from(level)] += 1);
            }
        }
        levels
    }

    /// Those of both.
    #[must_use]
    pub fn and(mut self, other: &Levels) -> Self {
        self.counts.iter_mut().flatten().zip(other.counts.iter().flatten()).for_each(|(all, new)| *all += new);
        self.clips += other.clips;
        self.pictures += other.pictures;
        self
    }

    /// The number of pictures.
    pub fn pictures(&self) -> u64 {
        self.pictures
    }

    /// The share of each level, as 64-bit floats; all 0 without pictures.
    fn shares(&self, channel: usize) -> impl Iterator<Item = f64> + '_ {
        let total = self.counts[channel].iter().sum::<u64>().max(1) as f64;
        self.counts[channel].iter().map(move |&n| n as f64 / total)
    }
}

/// Statistics of levels, as fractions of full, which are drawn from each source in these shares.
#[doc(hidden)]
pub fn level_stats(sources: &[(Levels, u64)]) -> TrackStats {
    let mut stats = TrackStats { shape: vec![3], not_finite: vec![0; 3], ..TrackStats::default() };
    let drawn: Vec<_> = sources.iter().filter(|(levels, share)| *share > 0 && levels.pictures > 0).collect();
    stats.clips = drawn.iter().map(|(levels, _)| levels.clips).sum();
    let all = drawn.iter().map(|(_, share)| *share as f64).sum::<f64>().max(1.0);
    for channel in 0..3 {
        let mut mixed = [0.0; 256];
        for (levels, share) in &drawn {
            mixed.iter_mut().zip(levels.shares(channel)).for_each(|(mixed, n)| *mixed += n * *share as f64 / all);
        }
        let levels = || (0u32..).zip(&mixed).map(|(level, &share)| (f64::from(level) / 255.0, share));
        let mean = levels().map(|(level, share)| level * share).sum::<f64>();
        let square = levels().map(|(level, share)| (level - mean).powi(2) * share).sum::<f64>();
        let occurs = |(level, share): (f64, f64)| (share > 0.0).then_some(level);
        stats.count.push(drawn.iter().map(|(levels, _)| levels.counts[channel].iter().sum::<u64>()).sum());
        stats.mean.push(mean);
        stats.std.push(square.sqrt());
        stats.min.push(levels().find_map(occurs).unwrap_or(0.0));
        stats.max.push(levels().filter_map(occurs).last().unwrap_or(0.0));
        let quantiles = [&mut stats.q01, &mut stats.q10, &mut stats.q50, &mut stats.q90, &mut stats.q99];
        for (to, part) in quantiles.into_iter().zip([0.01, 0.1, 0.5, 0.9, 0.99]) {
            to.push(quantile(levels(), part));
        }
    }
    stats
}

/// The smallest level that at least this part of the pixels does not exceed. Shares are rounded, so a part that is missed by
/// less than their rounding counts as reached.
fn quantile(levels: impl Iterator<Item = (f64, f64)>, part: f64) -> f64 {
    let (mut below, mut last) = (0.0, 0.0);
    for (level, share) in levels.filter(|(_, share)| *share > 0.0) {
        (below, last) = (below + share, level);
        if below >= part - 1e-12 {
            break;
        }
    }
    last
}

/// Computes statistics of the levels of red, green and blue, as fractions of full: one for each of these three, of all pixels
/// of at most `frames` frames of each clip, which are spread evenly over it. They are the same for any number of threads.
///
/// ```no_run
/// let stats = vidrec::picture_stats(&vidrec::Dataset::open("train")?, 4)?;
/// println!("{:?} plus or minus {:?}", stats.mean, stats.std);
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// A frame is damaged, or a file cannot be read.
pub fn picture_stats(dataset: &Dataset, frames: u32) -> Result<TrackStats> {
    picture_stats_of(&[(dataset, 1)], frames)
}

/// As [`picture_stats`], of pixels that are drawn from each data set in these shares.
///
/// # Errors
///
/// As [`picture_stats`].
#[doc(hidden)]
pub fn picture_stats_of(sources: &[(&Dataset, u64)], frames: u32) -> Result<TrackStats> {
    let of = |&(dataset, share): &(&Dataset, u64)| -> Result<(Levels, u64)> {
        let of_clip = |ordinal: u64| {
            let clip = dataset.clip(ordinal)?;
            let chosen = vidrec_format::sampler::uniform(clip.frame_count(), frames.min(clip.frame_count()));
            Levels::of(&clip, &chosen, &|_| 1)
        };
        let clips = if share > 0 { 0..dataset.len() } else { 0..0 };
        let levels = clips.into_par_iter().map(of_clip).try_reduce(Levels::default, |a, b| Ok(a.and(&b)))?;
        Ok((levels, share))
    };
    Ok(level_stats(&sources.iter().map(of).collect::<Result<Vec<_>>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_pixels() {
        let picture = RgbPicture { width: 2, height: 1, pixels: vec![0, 255, 51, 255, 255, 51] };
        let levels = Levels { pictures: 1, ..Levels::of_picture(&picture, 1) };
        let stats = level_stats(&[(levels.clone(), 1)]);
        assert_eq!((&stats.mean[..], &stats.std[..]), (&[0.5, 1.0, 0.2][..], &[0.5, 0.0, 0.0][..]));
        assert_eq!((&stats.min[..], &stats.max[..]), (&[0.0, 1.0, 0.2][..], &[1.0, 1.0, 0.2][..]));
        assert_eq!((&stats.q50[..], &stats.q99[..]), (&[0.0, 1.0, 0.2][..], &[1.0, 1.0, 0.2][..]));
        assert_eq!(stats.count, [2, 2, 2]);
        // Three of four pixels are drawn from the first.
        let black = Levels { pictures: 9, ..Levels::of_picture(&RgbPicture { pixels: vec![0; 6], ..picture }, 1) };
        let stats = level_stats(&[(levels, 3), (black, 1), (Levels::default(), 7)]);
        assert_eq!((stats.mean[1], stats.q10[1], stats.q50[1]), (0.75, 0.0, 1.0));
        assert_eq!(level_stats(&[]).mean, [0.0; 3]);
    }
}
