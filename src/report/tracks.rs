//! Answers to requests of the page, and those with the tracks of a clip: numbers and texts as JSON, sound as WAV, pictures as PNG.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, RgbImage};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Clip, ClipTracks, Error, Result, TrackNumber, TrackSchema, TrackTiming, TrackType, TrackView, f16};

/// The answer to a request.
pub struct Answer {
    /// The media type.
    pub kind: &'static str,
    /// The contents.
    pub bytes: Vec<u8>,
}

impl Answer {
    pub(super) fn json(value: &impl Serialize) -> Result<Self> {
        let bytes = serde_json::to_vec(value).map_err(|e| Error::internal(format!("this is not JSON: {e}")))?;
        Ok(Answer { kind: "application/json", bytes })
    }
}

/// The most numbers of a track that are sent, evenly spread over its values.
const MOST_NUMBERS: usize = 1 << 18;
/// The most texts of a track that are sent.
const MOST_TEXTS: usize = 1 << 16;
/// The most bytes of sound that are sent.
const MOST_SOUND: usize = 128 << 20;

/// Returns all tracks of a clip. A damaged one has a fault instead of values. Times are seconds on the clip's clock.
pub(super) fn all(clip: &Clip<'_>) -> Result<Answer> {
    let tracks = clip.tracks()?;
    let mut shown = Vec::new();
    for name in tracks.names() {
        let Some(track) = tracks.unproven(name)? else { continue };
        let (mut json, schema) = (json!(track.schema()), track.schema().clone());
        json["count"] = track.len().into();
        // The numbers of a value.
        json["width"] = width(&schema).into();
        json["is_picture"] = schema.is_picture().into();
        if let Err(e) = add_contents(&tracks, track, &mut json) {
            json["fault"] = e.to_string().into();
        }
        shown.push(json);
    }
    Answer::json(&shown)
}

/// Adds values and their times: every `step`th value of many.
fn add_contents(tracks: &ClipTracks<'_>, unproven: TrackView<'_>, json: &mut Value) -> Result<()> {
    let schema = unproven.schema();
    let track = if schema.is_picture() {
        // Its pictures are decoded one at a time.
        unproven.prove_times()?;
        unproven
    } else {
        tracks.get(&schema.name)?.ok_or_else(|| Error::internal("a track is gone"))?
    };
    let mut step = 1;
    if schema.kind == TrackType::Utf8 {
        if track.len() > MOST_TEXTS {
            return Err(Error::limit(format!("it has {} texts, more than the page shows", track.len())));
        }
        json["texts"] = track.texts().map(|texts| texts.collect::<Vec<_>>()).into();
    } else if !schema.is_picture() {
        let width = width(schema);
        step = (track.len() * width).div_ceil(MOST_NUMBERS).max(1);
        json["values"] = numbers(&track, width, step).into();
    }
    json["step"] = step.into();
    let seconds = |times: &[i64]| times.iter().step_by(step).map(|&ns| ns as f64 / 1e9).collect::<Vec<f64>>();
    // Without times and a rate, the values are at the times of the frames.
    json["times"] = track.starts_ns().map(|times| seconds(&times)).into();
    json["ends"] = track.ends_ns().map(|times| seconds(&times)).into();
    let rate = track.rate().filter(|_| schema.timing == TrackTiming::Rate);
    // The time of the first value, and values per second.
    json["rate"] = json!(rate.map(|(first, (n, d))| (first as f64 / 1e9, f64::from(n) / f64::from(d) / step as f64)));
    Ok(())
}

/// The number of numbers that are shown of a value: of a list, how many items it has.
fn width(schema: &TrackSchema) -> usize {
    if schema.list { 1 } else { schema.numbers_per_value().max(1) }
}

/// Every `step`th value of a track, each of `width` numbers.
fn numbers(track: &TrackView<'_>, width: usize, step: usize) -> Vec<f64> {
    fn pick<T: TrackNumber>(track: &TrackView<'_>, width: usize, step: usize) -> Vec<f64> {
        let all = track.numbers::<T>().unwrap_or_default();
        all.chunks(width).step_by(step).flatten().map(|number| number.to_f64()).collect()
    }
    if track.schema().list {
        let items = |i| track.items(i).map(|items| items.len() as f64);
        return (0..track.len()).step_by(step).filter_map(items).collect();
    }
    match track.schema().kind.stored() {
        TrackType::F16 => pick::<f16>(track, width, step),
        TrackType::F32 => pick::<f32>(track, width, step),
        TrackType::F64 => pick::<f64>(track, width, step),
        TrackType::I16 => pick::<i16>(track, width, step),
        TrackType::I32 => pick::<i32>(track, width, step),
        TrackType::I64 => pick::<i64>(track, width, step),
        TrackType::U16 => pick::<u16>(track, width, step),
        TrackType::U8 | TrackType::Bool => pick::<u8>(track, width, step),
        TrackType::Utf8 => Vec::new(),
    }
}

/// Returns the sound of a clip, its track `audio`, as a WAV file; `None` if it has none that a browser plays.
pub(super) fn sound(clip: &Clip<'_>) -> Result<Option<Answer>> {
    let Some(track) = clip.track("audio")? else { return Ok(None) };
    let channels = track.schema().numbers_per_value();
    let rate = track.rate().and_then(|(_, (n, d))| (n % d.max(1) == 0).then(|| n / d.max(1)));
    let (Some(rate), Ok(channels_stored)) = (rate, u16::try_from(channels)) else { return Ok(None) };
    let bytes = track.number_bytes().unwrap_or_default();
    if track.schema().kind != TrackType::I16
        || track.schema().list
        || channels == 0
        || channels > 32
        || bytes.len() > MOST_SOUND
    {
        return Ok(None);
    }
    // RIFF WAVE of PCM: Microsoft, "Multimedia Programming Interface and Data Specifications 1.0", 1991.
    let each = 2 * channels_stored;
    let mut wav = b"RIFF".to_vec();
    wav.extend((bytes.len() as u32 + 36).to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    wav.extend(channels_stored.to_le_bytes());
    wav.extend(rate.to_le_bytes());
    wav.extend(rate.saturating_mul(each.into()).to_le_bytes());
    wav.extend(each.to_le_bytes());
    wav.extend(b"\x10\0data");
    wav.extend((bytes.len() as u32).to_le_bytes());
    wav.extend(bytes);
    Ok(Some(Answer { kind: "audio/wav", bytes: wav }))
}

/// Returns a picture of a track from the least number in black to the greatest in white; `None` if there is none.
pub(super) fn picture(clip: &Clip<'_>, track: u64, value: u64) -> Result<Option<Answer>> {
    let tracks = clip.tracks()?;
    let name = usize::try_from(track).ok().and_then(|track| tracks.names().nth(track));
    let Some(track) = name.map(|name| tracks.unproven(name)).transpose()?.flatten() else { return Ok(None) };
    let schema = track.schema();
    let value = usize::try_from(value).ok().filter(|&value| schema.is_picture() && value < track.len());
    let (Some(value), [height, width, channels @ ..]) = (value, &schema.shape[..]) else { return Ok(None) };
    let found = track.values_at(std::iter::once(value))?;
    let each = schema.value_bytes().unwrap_or(0) as usize;
    let bytes = found.place(value).checked_mul(each).and_then(|at| found.bytes.get(at..at + each));
    let bytes = bytes.ok_or_else(|| Error::internal("a picture is not among the values of its track"))?;
    let numbers: Vec<u16> = match schema.kind {
        TrackType::U8 => bytes.iter().map(|&number| number.into()).collect(),
        _ => bytes.as_chunks().0.iter().map(|&number| u16::from_le_bytes(number)).collect(),
    };
    let (low, high) = (numbers.iter().min().copied().unwrap_or(0), numbers.iter().max().copied().unwrap_or(0));
    let level = |number: u16| (255 * u32::from(number - low) / u32::from(high - low).max(1)) as u8;
    let channels = channels.first().map_or(1, |&channels| channels as usize).max(1);
    let pixels = numbers.chunks_exact(channels).flat_map(|pixel| match pixel {
        [red, green, blue, ..] => [level(*red), level(*green), level(*blue)],
        _ => [level(pixel[0]); 3],
    });
    let drawn = RgbImage::from_raw(*width, *height, pixels.collect())
        .ok_or_else(|| Error::internal("a picture of a track has another size"))?;
    let mut png = Cursor::new(Vec::new());
    let written = DynamicImage::from(drawn).write_to(&mut png, ImageFormat::Png);
    written.map_err(|e| Error::internal(format!("a picture cannot be encoded: {e}")))?;
    Ok(Some(Answer { kind: "image/png", bytes: png.into_inner() }))
}
