//! Tests of what is written and read back, and of hostile changes. `tests/vectors` compares bytes with the specification.

use proptest::prelude::*;

use super::assembly::Assembly;
use super::coding::{self, TrackCoding};
use super::directory::{self, NewTrack};
use super::file::{self, Footer, TableEntry};
use super::payload::{Facts, Payload, is_length, lists_to_bytes, numbers, push_times, texts_to_bytes};
use super::schema::{Schema, TrackSchema, TrackTiming, TrackType};
use crate::crc32;
use crate::error::Result;

/// A track of a clip, as plain values.
#[derive(Debug, Clone, PartialEq)]
struct Track {
    number: usize,
    /// Numbers as their bytes, one value after the other.
    numbers: Vec<u8>,
    texts: Vec<String>,
    count: usize,
    /// Of lists, how many items each has.
    lists: Vec<u32>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    first_ns: i64,
    rate: (u32, u32),
    coding: TrackCoding,
}

/// The frames and the tracks of a clip.
type Clip = (u32, Vec<Track>);

fn schema() -> Schema {
    let mut schema = Schema::default();
    let types = ["f32", "f64", "i16", "i32", "i64", "u8", "utf-8", "bool", "u16", "f16", "f32 lists"];
    let timings = ["frames", "times", "spans", "rate"];
    for (i, kind) in types.iter().enumerate() {
        for (j, timing) in timings.iter().enumerate() {
            let shape = match *kind {
                "utf-8" => vec![],
                "u16" => vec![2, 3],
                _ => [vec![], vec![3], vec![1, 2]][(i + j) % 3].clone(),
            };
            let list = kind.ends_with("lists");
            let (kind, timing) = (kind.split(' ').next().unwrap().parse().unwrap(), timing.parse().unwrap());
            schema.join(&TrackSchema { name: format!("{i}{j} ü"), kind, shape, timing, nan: true, list }).unwrap();
        }
    }
    schema
}

fn track(number: usize, frames: u32) -> impl Strategy<Value = Track> {
    let schema = schema().tracks()[number].clone();
    let counts = if schema.timing == TrackTiming::Frames { frames as usize..frames as usize + 1 } else { 0..6 };
    let is_list = schema.list;
    let sizes = counts
        .prop_flat_map(move |count| (Just(count), prop::collection::vec(0u32..4, if is_list { count } else { 0 })));
    sizes.prop_flat_map(move |(count, lists)| {
        let schema = schema.clone();
        let items = if schema.list { lists.iter().sum::<u32>() as usize } else { count };
        let bytes = schema.value_bytes().unwrap_or(0) as usize * items;
        let texts = if schema.kind == TrackType::Utf8 { count } else { 0 };
        let parts = (
            prop::collection::vec(any::<u8>(), bytes),
            prop::collection::vec(".{0,5}", texts),
            prop::collection::vec((any::<i64>(), 0..i64::MAX), count),
            any::<i64>(),
            (1u32.., 1u32..),
            prop_oneof![Just(TrackCoding::Raw), Just(TrackCoding::Flac), Just(TrackCoding::Png)],
        );
        parts.prop_map(move |(numbers, texts, mut times, first_ns, rate, coding)| {
            times.sort_unstable();
            let starts: Vec<i64> = times.iter().map(|t| t.0).collect();
            let ends = times.iter().map(|t| t.0.saturating_add(t.1)).collect();
            let is = |timing: &[TrackTiming]| timing.contains(&schema.timing);
            let numbers = match schema.kind {
                TrackType::Bool => numbers.into_iter().map(|byte| byte & 1).collect(),
                _ => numbers,
            };
            Track {
                number,
                numbers,
                texts,
                count,
                lists: lists.clone(),
                starts: if is(&[TrackTiming::Times, TrackTiming::Spans]) { starts } else { vec![] },
                ends: if is(&[TrackTiming::Spans]) { ends } else { vec![] },
                first_ns: if is(&[TrackTiming::Rate]) { first_ns } else { 0 },
                rate: if is(&[TrackTiming::Rate]) { rate } else { (0, 0) },
                coding: if coding.fits(&schema, rate) { coding } else { TrackCoding::Raw },
            }
        })
    })
}

fn clip() -> impl Strategy<Value = Clip> {
    (1u32..4, prop::collection::btree_set(0..44usize, 0..4)).prop_flat_map(|(frames, numbers)| {
        let tracks: Vec<_> = numbers.into_iter().map(|number| track(number, frames)).collect();
        (Just(frames), tracks)
    })
}

/// The bytes of a track, as the library encodes them.
fn payload(track: &Track) -> Vec<u8> {
    if track.coding == TrackCoding::Flac {
        let channels = schema().tracks()[track.number].numbers_per_value();
        return coding::encode(&numbers(&track.numbers), channels).unwrap();
    }
    let times: Vec<&[i64]> = match schema().tracks()[track.number].timing {
        TrackTiming::Times => vec![&track.starts],
        TrackTiming::Spans => vec![&track.starts, &track.ends],
        _ => vec![],
    };
    if track.coding == TrackCoding::Png {
        let (schema, mut blocks) = (schema(), coding::NewBlocks::default());
        let schema = &schema.tracks()[track.number];
        let values = track.numbers.chunks(schema.value_bytes().unwrap() as usize);
        values.for_each(|value| blocks.push(&super::coding::encode_picture(value, schema).unwrap()).unwrap());
        return blocks.into_bytes(&times);
    }
    let is_text = schema().tracks()[track.number].kind == TrackType::Utf8;
    let mut bytes = if is_text { texts_to_bytes(&track.texts).unwrap() } else { track.numbers.clone() };
    if schema().tracks()[track.number].list {
        bytes = lists_to_bytes(&track.lists, &bytes).unwrap();
    }
    push_times(&mut bytes, &times);
    bytes
}

fn write(clips: &[Clip]) -> Vec<u8> {
    let (mut assembly, head) = Assembly::begin();
    let mut file = head.to_vec();
    for (_, tracks) in clips {
        let (schema, bytes) = (schema(), tracks.iter().map(payload).collect::<Vec<_>>());
        let new = |(track, bytes): (&Track, _)| {
            let &Track { number, count, first_ns, rate, coding, .. } = track;
            let facts = Facts { count: count as u64, first_ns, rate, coding };
            NewTrack::of(number as u32, &Payload { schema: &schema.tracks()[number], facts, bytes })
        };
        file.extend(
            assembly.push(&tracks.iter().zip(bytes.iter().map(Vec::as_slice)).map(new).collect::<Vec<_>>()).unwrap(),
        );
    }
    file.extend(assembly.finish(&schema()).unwrap());
    file
}

/// Reads everything as a reader does that checks every rule.
fn read(file: &[u8], frames: &[u32]) -> Result<Vec<Vec<Track>>> {
    let none = || crate::error::Error::format("track-layout", "too short");
    let head = file::check_header(file.first_chunk().ok_or_else(none)?)?;
    let footer = Footer::from_bytes(file.last_chunk().ok_or_else(none)?, head)?;
    footer.check_layout(file.len() as u64, frames.len() as u64)?;
    let place = |at: u64, n: usize| at as usize..at as usize + n;
    let schema = &file[place(footer.schema_offset, footer.schema_length as usize)];
    if crc32(schema) != footer.schema_crc32 {
        return Err(none());
    }
    let schema = Schema::from_bytes(schema)?;
    let mut clips = Vec::new();
    for (ordinal, &frames) in (0..).zip(frames) {
        let at = footer.table_offset + ordinal * file::TABLE_ENTRY_BYTES as u64;
        let entry = TableEntry::from_bytes(file[place(at, file::TABLE_ENTRY_BYTES)].first_chunk().unwrap(), ordinal);
        let entry = entry.ok_or_else(none)?;
        let Some(range) = entry.range(footer.table_offset)? else {
            clips.push(Vec::new());
            continue;
        };
        let block = &file[range.start as usize..range.end as usize];
        let entries = directory::prove(block, entry.length, ordinal, entry.directory_crc32, &schema)?;
        let read = |entry: &directory::Entry| read_track(entry.track as usize, &entry.payload(block, &schema)?, frames);
        clips.push(entries.iter().map(read).collect::<Result<_>>()?);
    }
    Ok(clips)
}

fn read_track(number: usize, payload: &Payload<'_>, frames: u32) -> Result<Track> {
    payload.prove(frames)?;
    payload.prove_rest()?;
    let count = payload.facts.count as usize;
    let is_text = payload.schema.kind == TrackType::Utf8;
    assert!(payload.text(count).is_none());
    Ok(Track {
        number,
        numbers: match payload.blocks() {
            Some(blocks) => blocks.decode_all()?,
            None if is_text => vec![],
            None => payload.number_bytes().to_vec(),
        },
        texts: if is_text { (0..count).map(|i| payload.text(i).unwrap().to_owned()).collect() } else { vec![] },
        count,
        lists: (0..count).filter_map(|i| payload.items(i)).map(|items| items.len() as u32).collect(),
        starts: payload.starts().unwrap_or_default().into_owned(),
        ends: payload.ends().unwrap_or_default().into_owned(),
        first_ns: payload.facts.first_ns,
        rate: payload.facts.rate,
        coding: payload.facts.coding,
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(clips in prop::collection::vec(clip(), 0..5)) {
        let file = write(&clips);
        let frames: Vec<u32> = clips.iter().map(|clip| clip.0).collect();
        let tracks: Vec<_> = clips.into_iter().map(|clip| clip.1).collect();
        prop_assert_eq!(read(&file, &frames).unwrap(), tracks);
    }

    /// Bytes of a block and of a track whose checksums all match, as an attacker would write them.
    #[test]
    fn hostile_blocks_never_panic(
        clip in clip(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        frames in 0u32..4,
    ) {
        prop_assume!(!clip.1.is_empty());
        let file = write(&[clip]);
        let entry = TableEntry::from_bytes(&footer_entry(&file), 0).unwrap();
        let mut block = file[64..64 + entry.length as usize].to_vec();
        for (at, byte) in &changes {
            let at = at.index(block.len());
            block[at] = *byte;
        }
        let directory = 8usize.saturating_add((u32::from_le_bytes(block[..4].try_into().unwrap()) as usize).saturating_mul(48));
        let crc = crc32(&block[..directory.min(block.len())]);
        let Ok(entries) = directory::prove(&block, entry.length, 0, crc, &schema()) else { return Ok(()) };
        for entry in entries {
            // The bytes decide whether the track can be proven. If it can, it can be read.
            let _ = read_track(entry.track as usize, &entry.unproven(&block, &schema()).unwrap(), frames);
        }
    }

    #[test]
    fn hostile_payloads_never_panic(
        number in 0..44usize,
        count in prop_oneof![0..4u64, any::<u64>()],
        bytes in prop::collection::vec(prop_oneof![Just(0), 0..9u8, any::<u8>()], 256),
        coding in prop::sample::select(&[TrackCoding::Raw, TrackCoding::Flac, TrackCoding::Opus, TrackCoding::Png][..]),
    ) {
        let all = schema();
        let schema = &all.tracks()[number];
        let facts = Facts { count, first_ns: 0, rate: (8000, 1), coding };
        // Holds for every length that fits, at every position of the bytes.
        for length in (0..=bytes.len()).filter(|&n| is_length(schema, &facts, n as u64)) {
            for at in 0..(bytes.len() - length).min(9) {
                let _ = read_track(number, &Payload { schema, facts, bytes: &bytes[at..at + length] }, 3);
            }
        }
    }
}

fn footer_entry(file: &[u8]) -> [u8; file::TABLE_ENTRY_BYTES] {
    let at = Footer::from_bytes(file.last_chunk().unwrap(), file::check_header(&file::header()).unwrap()).unwrap();
    *file[at.table_offset as usize..].first_chunk().unwrap()
}

#[test]
fn numbers_at_any_place_are_the_same() {
    let bytes: Vec<u8> = (0..41).collect();
    for at in 0..8 {
        let found = numbers::<i32>(&bytes[at..at + 32]);
        let expected: Vec<i32> =
            bytes[at..at + 32].chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(&found[..], &expected[..]);
    }
}

#[test]
fn a_schema_takes_what_fits_and_names_what_does_not() {
    let mut all = schema();
    let known = all.tracks()[0].clone();
    assert_eq!(all.join(&known).unwrap(), 0);
    let other = TrackSchema { shape: vec![7], ..known.clone() };
    let error = all.join(&other).unwrap_err().to_string();
    assert!(error.contains("f32, frames") && error.contains("f32 [7], frames"), "{error}");
    let strict = TrackSchema { name: "x".into(), nan: false, ..known.clone() };
    assert_eq!((all.join(&strict).unwrap(), all.tracks()[44].nan), (44, false));
    all.join(&TrackSchema { nan: true, ..strict }).unwrap();
    assert!(all.tracks()[44].nan, "one that allows more allows it for both");
    for bad in [
        TrackSchema { name: String::new(), ..known.clone() },
        TrackSchema { name: "a\n".into(), ..known.clone() },
        TrackSchema { name: "a".repeat(256), ..known.clone() },
        TrackSchema { shape: vec![0], ..known.clone() },
        TrackSchema { shape: vec![1; 9], ..known.clone() },
        TrackSchema { shape: vec![u32::MAX; 8], ..known.clone() },
        TrackSchema { kind: TrackType::Utf8, shape: vec![1], ..known.clone() },
        TrackSchema { kind: TrackType::Utf8, shape: vec![], list: true, ..known.clone() },
    ] {
        assert!(Schema::default().join(&bad).is_err(), "{bad:?}");
        let json = serde_json::json!({ "tracks": [bad] }).to_string();
        assert_eq!(Schema::from_bytes(json.as_bytes()).unwrap_err().rule(), Some("track-schema"), "{json}");
    }
    let twice = serde_json::json!({ "tracks": [known, known] }).to_string();
    assert!(Schema::from_bytes(twice.as_bytes()).is_err());
}
