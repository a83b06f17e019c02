//! Computes statistics of frames by channel. Like LeRobot, it uses a part of the frames and of their pixels.

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::stats::QUANTILES;
use vidrec_dataset::{Clip, Frame};
use vidrec_format::error::{Error, Result};
use vidrec_jpeg::{Decoder, RgbPicture};

/// How often each shade of red, green and blue occurs.
pub(super) struct PictureStats {
    shades: Box<[[u64; 256]; 3]>,
    pictures: u64,
}

impl PictureStats {
    pub fn new() -> Self {
        PictureStats { shades: Box::new([[0; 256]; 3]), pictures: 0 }
    }

    /// Adds some frames of a clip, spread evenly over the clip.
    pub fn add(&mut self, clip: &Clip<'_>, pool: &rayon::ThreadPool) -> Result<()> {
        let frames = sampled(clip.frame_count());
        let frames = frames.into_iter().map(|t| clip.frame(t)).collect::<Result<Vec<_>>>()?;
        let count = |decoder: &mut Result<Decoder>, frame: &Frame<'_>| {
            let decoder = decoder.as_mut().map_err(|_| Error::limit("there is no memory for a JPEG decoder"))?;
            frame.check()?;
            let picture = decoder.decode_picture(frame.jpeg()).map_err(|e| frame.place(e))?;
            Ok(shades(&picture))
        };
        let counted: Vec<Result<_>> = pool.install(|| frames.par_iter().map_init(Decoder::new, count).collect());
        for shades in counted {
            let (all, new) = (self.shades.iter_mut().flatten(), shades?);
            all.zip(new.iter().flatten()).for_each(|(all, new)| *all += new);
            self.pictures += 1;
        }
        Ok(())
    }

    /// Returns the statistics as LeRobot writes them: for shades from 0 to 1, with shape (3, 1, 1).
    pub fn to_json(&self) -> Value {
        let all = |of: &dyn Fn(&[u64; 256]) -> f64| -> Value {
            self.shades.iter().map(|channel| json!([[of(channel) / 255.0]])).collect()
        };
        let mut json = Map::new();
        json.insert("min".into(), all(&|channel| channel.iter().position(|&n| n > 0).unwrap_or(0) as f64));
        json.insert("max".into(), all(&|channel| channel.iter().rposition(|&n| n > 0).unwrap_or(0) as f64));
        json.insert("mean".into(), all(&mean));
        json.insert("std".into(), all(&deviation));
        json.insert("count".into(), json!([self.pictures]));
        for percent in QUANTILES {
            json.insert(format!("q{percent:02}"), all(&|channel| quantile(channel, percent)));
        }
        json.into()
    }
}

/// Returns the frames to use: 100 or, of long clips, their number to the power of 0.75.
fn sampled(count: u32) -> Vec<u32> {
    let wanted = f64::from(count).powf(0.75).min(10_000.0).max(f64::from(count.min(100))) as u32;
    let place = |i: u32| (f64::from(i) * f64::from(count - 1) / f64::from((wanted - 1).max(1))).round() as u32;
    (0..wanted).map(place).collect()
}

/// Counts pixels. Of a large frame, it counts only those on a grid, about 150 along the longer side.
fn shades(picture: &RgbPicture) -> Box<[[u64; 256]; 3]> {
    let longer = picture.width.max(picture.height);
    let step = if longer < 300 { 1 } else { longer as usize / 150 };
    let mut shades = Box::new([[0; 256]; 3]);
    for row in picture.pixels.chunks_exact(3 * picture.width.max(1) as usize).step_by(step) {
        for pixel in row.as_chunks::<3>().0.iter().step_by(step) {
            shades.iter_mut().zip(pixel).for_each(|(channel, &shade)| channel[usize::from(shade)] += 1);
        }
    }
    shades
}

fn total(channel: &[u64; 256]) -> f64 {
    channel.iter().sum::<u64>().max(1) as f64
}

fn mean(channel: &[u64; 256]) -> f64 {
    (0u32..).zip(channel).map(|(shade, &n)| f64::from(shade) * n as f64).sum::<f64>() / total(channel)
}

fn deviation(channel: &[u64; 256]) -> f64 {
    let mean = mean(channel);
    let squares = (0u32..).zip(channel).map(|(shade, &n)| (f64::from(shade) - mean).powi(2) * n as f64);
    (squares.sum::<f64>() / total(channel)).sqrt()
}

fn quantile(channel: &[u64; 256], percent: u32) -> f64 {
    let wanted = (total(channel) * f64::from(percent) / 100.0) as u64;
    let mut before = 0;
    let shade = channel.iter().position(|&n| {
        before += n;
        before > wanted
    });
    shade.unwrap_or(255) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_spread_from_the_first_to_the_last() {
        assert_eq!(sampled(1), [0]);
        assert_eq!(sampled(100), (0..100).collect::<Vec<_>>());
        let many = sampled(1000);
        assert_eq!((many.len(), many[0], many[176]), (177, 0, 999));
    }

    #[test]
    fn they_are_those_of_the_pixels() {
        let picture = RgbPicture { width: 2, height: 1, pixels: vec![0, 255, 51, 255, 255, 51] };
        let stats = PictureStats { shades: shades(&picture), pictures: 1 }.to_json();
        assert_eq!(stats["mean"], json!([[[0.5]], [[1.0]], [[0.2]]]));
        assert_eq!(stats["std"], json!([[[0.5]], [[0.0]], [[0.0]]]));
        assert_eq!((&stats["min"][0], &stats["max"][0]), (&json!([[0.0]]), &json!([[1.0]])));
        assert_eq!(stats["count"], json!([1]));
    }
}
