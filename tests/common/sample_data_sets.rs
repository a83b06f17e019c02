//! Data sets for these tests.

use std::path::Path;

use vidrec::jpeg::Encoder;
use vidrec::{
    ClipInfo, FrameData, JsonObject, Planes, SoundCoding, Track, TrackTimes, TrackValues, Writer, WriterOptions,
};

/// Bytes that do not compress: xorshift32 (Marsaglia, 2003).
fn noise(mut state: u32) -> impl Iterator<Item = u8> {
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    })
}

/// JPEGs that do not compress, all different: some 25 KB for 160x120 pixels.
fn noisy(count: u32, size: (u32, u32)) -> Vec<Vec<u8>> {
    let mut noise = noise(1);
    let jpeg = |_| {
        let mut picture = Planes::new(size.0, size.1).unwrap();
        for plane in [&mut picture.y, &mut picture.cb, &mut picture.cr] {
            plane.iter_mut().zip(&mut noise).for_each(|(value, byte)| *value = byte);
        }
        let mut jpeg = Vec::new();
        Encoder::new(90).unwrap().encode(&picture, &mut jpeg).unwrap();
        jpeg
    };
    (0..count).map(jpeg).collect()
}

/// Small pictures with comments of noise of `bytes` bytes, more or less: large to read, fast to decode. Another `version`
/// has others.
fn commented(version: u32, bytes: u32) -> Vec<Vec<u8>> {
    let mut noise = noise(version);
    let jpeg = |seed: u32| {
        let picture = crate::common::jpeg((16, 16), seed + version * 1000);
        let bytes = bytes * 4 / 5 + bytes * 2 / 5 * seed / PICTURES;
        let length = u16::try_from(bytes + 2).unwrap().to_be_bytes();
        let comment: Vec<u8> = (&mut noise).take(bytes as usize).collect();
        [&picture[..2], &[0xff, 0xfe], &length, &comment, &picture[2..]].concat()
    };
    (0..PICTURES).map(jpeg).collect()
}

/// So many are different.
const PICTURES: u32 = 61;

/// A set of so many clips in each shard, which `append` writes by their numbers.
fn write_shards(dir: &Path, shards: &[u32], append: impl Fn(&mut Writer, u32)) {
    let mut writer = Writer::create(dir, WriterOptions::default()).unwrap();
    let mut first = 0;
    for &clips in shards {
        (first..first + clips).for_each(|c| append(&mut writer, c));
        first += clips;
        writer.next_shard().unwrap();
    }
    writer.finish().unwrap();
}

/// A set of clips with frames out of `jpegs`: of each clip its number of frames, in shards of so many clips.
fn write(dir: &Path, shards: &[u32], frames: impl Fn(u32) -> u32, jpegs: &[Vec<u8>], (width, height): (u32, u32)) {
    write_shards(dir, shards, |writer, c| {
        let attributes = JsonObject::of(serde_json::json!({"score": f64::from(c) / 3.0})).unwrap();
        let (label, source) = (Some(c % 5), format!("videos/{c}.mp4"));
        let info = ClipInfo { label, source, attributes, width, height, ..ClipInfo::default() };
        let jpeg = |t: u32| &*jpegs[(c * 7 + t * 3) as usize % jpegs.len()];
        let frame = |t: u32| FrameData { jpeg: jpeg(t), pts: i64::from(t), source_index: None };
        writer.append(&info, &(0..frames(c)).map(frame).collect::<Vec<_>>()).unwrap();
    });
}

/// Clips of 4 frames, of some 100 KB each.
pub fn large(shards: &[u32]) -> impl Fn(&Path) {
    move |dir| write(dir, shards, |_| 4, &noisy(16, (160, 120)), (160, 120))
}

/// Clips of 16 frames, of some 50 KB each.
pub fn long(shards: &[u32]) -> impl Fn(&Path) {
    move |dir| write(dir, shards, |_| 16, &noisy(16, (240, 160)), (240, 160))
}

/// Clips of 3 frames of 48x32 pixels, all different: some 4 KB each.
pub fn small(shards: &[u32]) -> impl Fn(&Path) {
    move |dir| write(dir, shards, |_| 3, &pictures(), (48, 32))
}

/// As [`small`], but with 1 to 6 frames.
pub fn uneven(shards: &[u32]) -> impl Fn(&Path) {
    move |dir| write(dir, shards, |c| 1 + c * 5 % 6, &pictures(), (48, 32))
}

/// Clips of `frames` frames of 16x16 pixels and about `bytes` bytes.
pub fn padded(shards: &[u32], frames: u32, bytes: u32, version: u32) -> impl Fn(&Path) {
    move |dir| write(dir, shards, |_| frames, &commented(version, bytes), (16, 16))
}

/// Clips of one frame of 8x8 pixels.
pub fn tiny(shards: &[u32]) -> impl Fn(&Path) {
    move |dir| write(dir, shards, |_| 1, &[crate::common::jpeg((8, 8), 1)], (8, 8))
}

fn pictures() -> Vec<Vec<u8>> {
    (0..PICTURES).map(|seed| crate::common::jpeg((48, 32), seed)).collect()
}

const SIZE: (u32, u32) = (48, 32);
const MS: i64 = 1_000_000;

/// Shards of so many clips of 3 frames, two cameras of each episode in turn. Every third clip has no caption.
pub fn tracked(shards: &[u32]) -> impl Fn(&Path) {
    move |dir| {
        write_shards(dir, shards, |writer, c| {
            let camera = ["front", "wrist"][c as usize % 2];
            let attributes = JsonObject::of(serde_json::json!({"episode": c / 2, "camera": camera})).unwrap();
            let (width, height) = SIZE;
            let (label, source) = (Some(c % 5), format!("dir/é{c}.mp4"));
            let time_base = (1, 10);
            let info = ClipInfo { attributes, label, source, width, height, time_base, ..ClipInfo::default() };
            let jpegs: Vec<_> = (0..3).map(|t| crate::common::jpeg(SIZE, c * 10 + t)).collect();
            let frames: Vec<_> =
                (0..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
            writer.append_with_tracks(&info, &frames, &tracks(c)).unwrap();
        });
    }
}

fn tracks(c: u32) -> Vec<Track> {
    let named = |name: &str, values, times| Track { name: name.into(), values, times, ..Track::default() };
    let state = (0..20).map(|i| (c * 100 + i) as f32 * 0.3).collect();
    let mut tracks = vec![
        Track {
            shape: vec![2],
            ..named("state", TrackValues::F32(state), TrackTimes::Times((0..10).map(|i| i * 37 * MS).collect()))
        },
        Track {
            coding: SoundCoding::Raw,
            ..named("sound", TrackValues::I16(sound(c)), TrackTimes::Rate { first_ns: 0, rate: (10_000, 1) })
        },
    ];
    if c % 3 != 2 {
        let texts = vec![format!("up {c}"), "down".into()];
        let times = TrackTimes::Spans { starts: vec![0, 100 * MS], ends: vec![100 * MS, 400 * MS] };
        tracks.push(named("caption", TrackValues::Texts(texts), times));
    }
    tracks
}

/// Numbers that no other clip has, so many that the ends of a file are not all of it.
pub fn sound(c: u32) -> Vec<i16> {
    (0..3000).map(|i| ((i * 37 + c * 1013) % 30_011) as i16).collect()
}
