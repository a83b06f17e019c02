//! Stores JPEGs as a video: Motion JPEG in MP4. Nothing is encoded, and every frame is a key frame.
//!
//! ```text
//! ftyp | moov: mvhd, trak: tkhd, mdia: mdhd, hdlr, minf: vmhd, dinf, stbl | mdat: JPEG × frames
//! ```
//!
//! Sources: ISO/IEC 14496-12 (the boxes), 14496-14 (`mp4v`, `esds`), 14496-1, 7.2.6 (its descriptors; object type
//! 0x6C is JPEG, as at mp4ra.org).

use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::Rate;

/// The fewest units of time in a second, as in FFmpeg's own files.
const MIN_TIMESCALE: u32 = 10_000;

/// Returns everything before the JPEGs. The JPEGs follow one after another.
pub(super) fn head(lengths: &[u32], size: (u32, u32), rate: Rate) -> Result<Vec<u8>> {
    let sides = u16::try_from(size.0).ok().zip(u16::try_from(size.1).ok());
    let sides = sides.ok_or_else(|| Error::limit("the frames are too large for MP4").found(format!("{size:?}")))?;
    let frames = u32::try_from(lengths.len()).map_err(|_| Error::limit("a video has too many frames"))?;
    let bytes: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let video = Video { lengths, frames, sides, time: Time::of(rate, frames) };
    let file = full_box(b"ftyp", &[b"isom", &512u32.to_be_bytes(), b"isomiso2mp41"]);
    // The offset of the first JPEG depends on the length of the data before it. That length is always the same.
    let before = (file.len() + video.movie(0).len() + 16) as u64;
    let mut head = file;
    head.extend(video.movie(before));
    // A length of 1 means that the real length follows the name, with 64 bits.
    head.extend([&1u32.to_be_bytes()[..], b"mdat", &(16 + bytes).to_be_bytes()].concat());
    Ok(head)
}

/// The units of time: a frame takes `frame` units, and a second has `scale` units.
struct Time {
    scale: u32,
    frame: u32,
    whole: u64,
}

impl Time {
    fn of(rate: Rate, frames: u32) -> Self {
        let (seconds, per) = rate.frame_seconds();
        // Both products are below 2^20 * 2^14.
        let factor = MIN_TIMESCALE.div_ceil(per);
        let (scale, frame) = (per.saturating_mul(factor), seconds.saturating_mul(factor));
        Time { scale, frame, whole: u64::from(frame) * u64::from(frames) }
    }

    /// Returns the fields of version 1: creation, modification, units per second, and length.
    fn fields(&self) -> [Vec<u8>; 3] {
        [vec![0; 16], self.scale.to_be_bytes().to_vec(), self.whole.to_be_bytes().to_vec()]
    }
}

struct Video<'a> {
    lengths: &'a [u32],
    frames: u32,
    sides: (u16, u16),
    time: Time,
}

/// The matrix without rotation: 1 and 1 as 16.16, and 1 as 2.30.
const MATRIX: [u32; 9] = [1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30];

impl Video<'_> {
    fn movie(&self, first_jpeg: u64) -> Vec<u8> {
        let [dates, scale, length] = self.time.fields();
        let rate_and_volume = [&(1u32 << 16).to_be_bytes()[..], &0x0100u16.to_be_bytes(), &[0; 10]].concat();
        let rest = [&rate_and_volume[..], &words(&MATRIX), &[0; 24], &2u32.to_be_bytes()].concat();
        let header = versioned_box(b"mvhd", 1, 0, &[&dates, &scale, &length, &rest]);
        full_box(b"moov", &[&header, &self.track(first_jpeg)])
    }

    fn track(&self, first_jpeg: u64) -> Vec<u8> {
        let [dates, _, length] = self.time.fields();
        let sides = [u32::from(self.sides.0) << 16, u32::from(self.sides.1) << 16];
        // Track 1; layer, group and volume are 0.
        let number = words(&[1, 0]);
        let parts: [&[u8]; 6] = [&dates, &number, &length, &[0; 16], &words(&MATRIX), &words(&sides)];
        // The track is enabled and part of the movie.
        let header = versioned_box(b"tkhd", 1, 3, &parts);
        full_box(b"trak", &[&header, &self.media(first_jpeg)])
    }

    fn media(&self, first_jpeg: u64) -> Vec<u8> {
        let [dates, scale, length] = self.time.fields();
        // 0x55C4 means that the language is unknown.
        let header = versioned_box(b"mdhd", 1, 0, &[&dates, &scale, &length, &[0x55, 0xC4, 0, 0]]);
        let handler = versioned_box(b"hdlr", 0, 0, &[&[0; 4], b"vide", &[0; 12], b"VideoHandler\0"]);
        let video = versioned_box(b"vmhd", 0, 1, &[&[0; 8]]);
        // The frames are in this file.
        let here = versioned_box(b"url ", 0, 1, &[]);
        let reference = versioned_box(b"dref", 0, 0, &[&1u32.to_be_bytes(), &here]);
        let data = full_box(b"dinf", &[&reference]);
        let information = full_box(b"minf", &[&video, &data, &self.samples(first_jpeg)]);
        full_box(b"mdia", &[&header, &handler, &information])
    }

    /// Returns the sample tables. There is no `stss`, because every frame is a key frame.
    fn samples(&self, first_jpeg: u64) -> Vec<u8> {
        let described = versioned_box(b"stsd", 0, 0, &[&1u32.to_be_bytes(), &self.description()]);
        let times = versioned_box(b"stts", 0, 0, &[&words(&[1, self.frames, self.time.frame])]);
        // All frames are in one chunk.
        let chunks = versioned_box(b"stsc", 0, 0, &[&words(&[1, 1, self.frames, 1])]);
        let lengths = versioned_box(b"stsz", 0, 0, &[&words(&[0, self.frames]), &words(self.lengths)]);
        let places = versioned_box(b"co64", 0, 0, &[&1u32.to_be_bytes(), &first_jpeg.to_be_bytes()]);
        full_box(b"stbl", &[&described, &times, &chunks, &lengths, &places])
    }

    fn description(&self) -> Vec<u8> {
        let sides = [self.sides.0.to_be_bytes(), self.sides.1.to_be_bytes()].concat();
        // 72 dots per inch, one frame per sample, no name, 24 bits.
        let rest = [&words(&[72 << 16, 72 << 16, 0])[..], &[0, 1], &[0; 32], &[0, 24, 0xFF, 0xFF]].concat();
        // Primaries and transfer are unspecified. Matrix 6 is BT.601, which JPEG uses. All values are used.
        let colors = full_box(b"colr", &[b"nclx", &[0, 2, 0, 2, 0, 6, 0x80]]);
        let start: [&[u8]; 5] = [&[0; 6], &[0, 1], &[0; 16], &sides, &rest];
        full_box(b"mp4v", &[&start.concat(), &self.decoder(), &colors])
    }

    /// Returns the descriptors that declare JPEG.
    fn decoder(&self) -> Vec<u8> {
        let longest = self.lengths.iter().copied().max().unwrap_or(0).min(0xFF_FFFF).to_be_bytes();
        // The object type is JPEG, and the stream is visual.
        let config = [&[4, 13, 0x6C, 0x11][..], &longest[1..], &[0; 8]].concat();
        let stream = [&[3, 3 + config.len() as u8 + 3, 0, 1, 0][..], &config, &[6, 1, 2]].concat();
        versioned_box(b"esds", 0, 0, &[&stream])
    }
}

fn full_box(name: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let length = 8 + parts.iter().map(|part| part.len()).sum::<usize>();
    // The length is below 2^32, because a frame takes 4 bytes and the JPEGs of a video are within the limits of a
    // file.
    [&(length as u32).to_be_bytes()[..], name, &parts.concat()].concat()
}

fn versioned_box(name: &[u8; 4], version: u8, flags: u8, parts: &[&[u8]]) -> Vec<u8> {
    full_box(name, &[&[version, 0, 0, flags], &parts.concat()])
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the length of each box is the sum of the boxes in it.
    fn walk(bytes: &[u8], found: &mut Vec<String>) {
        let mut rest = bytes;
        while let Some((head, _)) = rest.split_first_chunk::<8>() {
            let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
            let name = String::from_utf8(head[4..].to_vec()).unwrap();
            let inside = &rest[8..length];
            if ["moov", "trak", "mdia", "minf", "dinf", "stbl"].contains(&name.as_str()) {
                walk(inside, found);
            }
            found.push(name);
            rest = &rest[length..];
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn boxes_add_up_and_the_first_jpeg_is_where_they_say() {
        let head = head(&[100, 7, 9], (96, 64), Rate::new(30_000, 1001).unwrap()).unwrap();
        let (boxes, data) = head.split_at(head.len() - 16);
        assert_eq!(data, [&[0, 0, 0, 1][..], b"mdat", &(16u64 + 116).to_be_bytes()].concat());
        let mut found = Vec::new();
        walk(boxes, &mut found);
        let names = "ftyp mvhd tkhd mdhd hdlr vmhd dref dinf stsd stts stsc stsz co64 stbl minf mdia trak moov";
        assert_eq!(found.join(" "), names);
        let place = memchr::memmem::find(&head, b"co64").unwrap() + 12;
        assert_eq!(head[place..place + 8], (head.len() as u64).to_be_bytes());
    }
}
