//! Pictures as PNG: values of whole numbers without a sign, which have rows and columns.
//!
//! A file has the chunks `IHDR`, `IDAT` and `IEND` and no others, and is not interlaced.

use std::io::Cursor;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Filter, Limits};

use super::schema::{TrackSchema, TrackType};
use crate::allocation;

/// The memory in bytes that a decoder may use for its own purposes, if pictures are small.
const DECODER_BYTES: usize = 64 << 20;

/// The form of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    width: u32,
    height: u32,
    color: ColorType,
    depth: BitDepth,
}

impl Form {
    /// The form of the values of a track; `None` if they are no pictures.
    pub fn of(schema: &TrackSchema) -> Option<Self> {
        let depth = match schema.kind {
            TrackType::U8 => BitDepth::Eight,
            TrackType::U16 => BitDepth::Sixteen,
            _ => return None,
        };
        let (height, width, color) = match schema.shape[..] {
            [height, width] | [height, width, 1] => (height, width, ColorType::Grayscale),
            [height, width, 2] => (height, width, ColorType::GrayscaleAlpha),
            [height, width, 3] => (height, width, ColorType::Rgb),
            [height, width, 4] => (height, width, ColorType::Rgba),
            _ => return None,
        };
        Some(Form { width, height, color, depth })
    }

    /// The length of a value.
    pub fn bytes(&self) -> usize {
        let each = if self.depth == BitDepth::Sixteen { 2 } else { 1 };
        self.color.samples() * each * self.width as usize * self.height as usize
    }
}

/// Encodes a value, whose numbers are little-endian. `None` if it has another length.
pub(crate) fn encode(value: &[u8], form: &Form) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, form.width, form.height);
    encoder.set_color(form.color);
    encoder.set_depth(form.depth);
    encoder.set_compression(Compression::Fast);
    encoder.set_filter(Filter::Adaptive);
    let mut swapped = value.to_vec();
    swap(&mut swapped, form);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&swapped).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

/// Decodes a file, and appends the numbers of the value, little-endian. The error says what is wrong.
pub(crate) fn decode(bytes: &[u8], form: &Form, out: &mut Vec<u8>) -> Result<(), String> {
    check_chunks(bytes)?;
    let room = 4 * form.bytes();
    if room > DECODER_BYTES && !allocation::can_allocate(room as u64) {
        return Err(format!("there is no memory for a picture of {} bytes", form.bytes()));
    }
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: DECODER_BYTES.max(room) });
    let info = decoder.read_header_info().map_err(|e| e.to_string())?;
    let found = Form { width: info.width, height: info.height, color: info.color_type, depth: info.bit_depth };
    if found != *form || info.interlaced {
        return Err(format!("expected {form:?}, found {found:?}{}", if info.interlaced { ", interlaced" } else { "" }));
    }
    let start = out.len();
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    out.resize(start + form.bytes(), 0);
    reader.next_frame(&mut out[start..]).map_err(|e| e.to_string())?;
    swap(&mut out[start..], form);
    Ok(())
}

/// Swaps the bytes of each number of 16 bits: PNG is big-endian.
fn swap(numbers: &mut [u8], form: &Form) {
    if form.depth == BitDepth::Sixteen {
        numbers.as_chunks_mut::<2>().0.iter_mut().for_each(|two| two.reverse());
    }
}

/// Checks that the chunks are those of a plain picture, so that readers need to know no others.
fn check_chunks(bytes: &[u8]) -> Result<(), String> {
    let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n").ok_or("it is not a PNG file")?;
    let mut number = 0;
    loop {
        let (head, after) = rest.split_first_chunk::<8>().ok_or("it ends in the middle")?;
        let [length, name] = [&head[..4], &head[4..]];
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        rest = length.checked_add(4).and_then(|n| after.get(n..)).ok_or("it ends in the middle")?;
        match (number, name) {
            (0, b"IHDR") | (1.., b"IDAT") => {}
            (2.., b"IEND") if rest.is_empty() => return Ok(()),
            _ => return Err(format!("chunk {number} is out of place: \"{}\"", name.escape_ascii())),
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::track::schema::TrackTiming;

    fn form(kind: TrackType, shape: &[u32]) -> Option<Form> {
        let (name, timing) = ("depth".into(), TrackTiming::Frames);
        Form::of(&TrackSchema { name, kind, shape: shape.to_vec(), timing, nan: false, list: false })
    }

    #[test]
    fn only_rows_and_columns_are_pictures() {
        assert_eq!(form(TrackType::U16, &[2, 3]), form(TrackType::U16, &[2, 3, 1]));
        assert!(form(TrackType::U8, &[2, 3, 4]).is_some());
        for (kind, shape) in [
            (TrackType::I16, &[2, 3][..]),
            (TrackType::U16, &[2]),
            (TrackType::U8, &[2, 3, 5]),
            (TrackType::U8, &[1; 4]),
        ] {
            assert_eq!(form(kind, shape), None);
        }
    }

    #[test]
    fn other_chunks_and_other_sizes_are_refused() {
        let two = form(TrackType::U16, &[1, 2]).unwrap();
        let png = encode(&[1, 2, 3, 4], &two).unwrap();
        let error = |bytes: &[u8], form: &Form| decode(bytes, form, &mut Vec::new()).unwrap_err();
        assert!(error(&png, &form(TrackType::U16, &[2, 1]).unwrap()).contains("expected"));
        assert!(error(&png, &form(TrackType::U8, &[1, 2]).unwrap()).contains("Sixteen"));
        assert!(error(&png[..png.len() - 1], &two).contains("middle"));
        assert!(error(&[&png[..], &[0]].concat(), &two).contains("IEND"));
        let text = [&png[..33], &[0, 0, 0, 0], b"tEXt", &[0; 4], &png[33..]].concat();
        assert!(error(&text, &two).contains("chunk 1 is out of place: \"tEXt\""));
    }

    proptest! {
        #[test]
        fn numbers_come_back(
            (height, width, channels) in (1u32..9, 1u32..9, 1u32..5), wide: bool, seed in prop::collection::vec(any::<u8>(), 1..99),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        ) {
            let kind = if wide { TrackType::U16 } else { TrackType::U8 };
            let form = form(kind, &[height, width, channels]).unwrap();
            let value: Vec<u8> = seed.iter().copied().cycle().take(form.bytes()).collect();
            let mut png = encode(&value, &form).unwrap();
            let mut out = vec![7];
            decode(&png, &form, &mut out).unwrap();
            prop_assert_eq!(&out[1..], &value[..]);
            for (at, byte) in changes {
                let at = at.index(png.len());
                png[at] = byte;
            }
            // Whatever it says, it does not panic, and gives as many numbers or none.
            out.clear();
            prop_assert!(decode(&png, &form, &mut out).is_err() || out.len() == value.len());
        }
    }
}
