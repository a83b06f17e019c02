//! What a sheet shows of a clip.

use crate::jpeg::Decoder;
use crate::sampler::uniform;
use crate::{Clip, Frame};
use image::RgbImage;
use image::imageops::{self, FilterType};
use serde_json::Value;

use crate::cli::outcome::Failure;
use crate::cli::ranges::{self, ClipRange};

/// A clip, its frames decoded and scaled.
pub struct ClipRow {
    pub ordinal: u64,
    pub label: Option<u32>,
    pub class: String,
    /// Size, source and what else there is to say.
    pub about: String,
    pub caption: Option<String>,
    pub frames: Vec<Shown>,
}

/// A frame, as high as a row, and its time.
pub struct Shown {
    pub time: String,
    pub picture: RgbImage,
}

impl ClipRow {
    /// Decodes the frames of a clip, or `most_frames` of them, evenly spread. `caption` names the attribute to show.
    pub fn of(
        clip: &Clip<'_>,
        caption: &str,
        most_frames: u32,
        height: u32,
        decoder: &mut Decoder,
    ) -> Result<Self, Failure> {
        let class = match (clip.label(), &*clip.class()?) {
            (None, _) => "no label".to_owned(),
            (Some(label), "") => format!("label {label}"),
            (Some(_), class) => class.to_owned(),
        };
        let short = if clip.is_short() { " · short" } else { "" };
        let size = match clip.frame_count() {
            0 => "no frames".to_owned(),
            _ => format!("{}×{}", clip.width(), clip.height()),
        };
        let frames = uniform(clip.frame_count(), clip.frame_count().min(most_frames));
        let frames = frames.into_iter().map(|t| shown(&clip.frame(t)?, decoder, height));
        Ok(ClipRow {
            ordinal: clip.ordinal(),
            label: clip.label(),
            class,
            about: format!("{size}{short} · {}", clip.source()?),
            caption: text_of(clip, caption)?,
            frames: frames.collect::<Result<_, Failure>>()?,
        })
    }

    pub fn width(&self) -> u32 {
        self.frames.iter().map(|frame| frame.picture.width()).max().unwrap_or(1)
    }
}

/// The attribute `name` as a line of text; `None` without it.
fn text_of(clip: &Clip<'_>, name: &str) -> Result<Option<String>, Failure> {
    Ok(match clip.attributes()?.get(name)? {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Some(value) => Some(value.to_string()),
    })
}

/// The given clips of `len`, or up to `count` of them, evenly spread.
pub fn ordinals(given: &[ClipRange], len: u64, count: u32) -> Result<Vec<u64>, String> {
    if given.is_empty() { Ok(spread(len, count)) } else { ranges::ordinals(given, len) }
}

fn spread(len: u64, count: u32) -> Vec<u64> {
    match u32::try_from(len) {
        Ok(n) => uniform(n, n.min(count)).into_iter().map(u64::from).collect(),
        Err(_) => (0..u64::from(count)).map(|i| len / u64::from(count) * i).collect(),
    }
}

fn shown(frame: &Frame<'_>, decoder: &mut Decoder, height: u32) -> Result<Shown, Failure> {
    frame.check()?;
    let full = decoder.decode_picture(frame.jpeg())?;
    // Very wide frames are limited to eight times the height of the row.
    let width = (u64::from(full.width) * u64::from(height) / u64::from(full.height)).clamp(1, u64::from(height) * 8);
    let full = RgbImage::from_raw(full.width, full.height, full.pixels).ok_or("the frame has an unexpected size")?;
    let picture = imageops::resize(&full, width as u32, height, FilterType::CatmullRom);
    Ok(Shown { time: format!("{:.2} s", frame.pts_seconds()), picture })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_are_spread_over_the_set() {
        assert_eq!((spread(0, 12), spread(3, 12)), (vec![], vec![0, 1, 2]));
        assert_eq!(spread(100, 4), [12, 37, 62, 87]);
        assert_eq!(spread(1 << 40, 2), [0, 1 << 39]);
    }
}
