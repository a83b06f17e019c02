//! The bad vectors of tracks.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use vidrec::raw::crc32;
use vidrec::raw::data_binding::{DataBinding, edge_crc32, hex};
use vidrec::raw::track::coding::encode;
use vidrec::raw::track::flac;

use crate::vectors::make::{Bad, Files, When, base, good_folder, pretty};
use crate::vectors::shard::{self, Shard};
use crate::vectors::tracks::{File, Seal, Track, Tracks, le, texts, timed};

fn schema(tracks: &[Value]) -> String {
    json!({ "tracks": tracks }).to_string()
}

fn track(name: &str, kind: &str, shape: &[u32], timing: &str) -> Value {
    json!({"name": name, "type": kind, "shape": shape, "timing": timing})
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    le(numbers, f32::to_le_bytes)
}

/// Two tracks for two clips: what most of the broken vectors are made from.
fn two() -> Tracks {
    let schema = schema(&[track("state", "f32", &[], "frames"), track("caption", "utf-8", &[], "spans")]);
    let new = |number, count, bytes| Track { number, count, bytes, ..Track::default() };
    let first = vec![new(0, 2, floats(&[1.0, 2.0])), new(1, 2, timed(texts(&["up", "ü"]), &[0, 5, 5, 9]))];
    Tracks { schema, clips: vec![first, vec![new(0, 1, floats(&[3.0]))]], gap: 0 }
}

/// Sound that is coded, of one channel and of two, and the same track as it is in another clip.
fn coded() -> Tracks {
    let schema = schema(&[track("sound", "i16", &[], "rate"), track("stereo", "i16", &[2], "rate")]);
    let new = |number: u32, channels: usize, numbers: &[i16]| {
        let bytes = encode(numbers, channels).unwrap();
        Track {
            number: number | (1 << 16),
            count: (numbers.len() / channels) as u64,
            bytes,
            rate: [8000, 1],
            first_ns: 7,
        }
    };
    let wave = |i: i32| (i % 97 * (i % 31) * 8 - 9000 + i) as i16;
    let mono: Vec<i16> = (0..4100).map(wave).collect();
    let stereo: Vec<i16> = (0..64).flat_map(|i| [wave(i), wave(i) / 2 + 3]).collect();
    let raw = Track { rate: [8000, 1], count: 2, bytes: le(&[5i16, -5], i16::to_le_bytes), ..Track::default() };
    Tracks { schema, clips: vec![vec![new(0, 1, &mono), new(1, 2, &stereo)], vec![raw, new(1, 2, &[])]], gap: 0 }
}

/// A block of Opus at 48 kHz: two packets, for the 20 ms before a tone and for its first 700 values.
const OPUS: &str = "7832800908422d14daf5d3a270242da37b097a1b7c567753329f683dd3f8a7fb39c906573afda1cecce1f2f002d463e52bcb25b8783b830713fb5313971e8dc148e6abe3c343326e61b1f08af6fa3139bc12f92699de376fdb2d970811eac8527e9e6067e6acfcdc571b4fdf2dda8696c2";

/// Sound in Opus, and the same track as it is in another clip.
fn in_opus() -> Tracks {
    let schema = schema(&[track("sound", "i16", &[], "rate")]);
    let rate = [48_000, 1];
    let raw = Track { rate, count: 2, bytes: le(&[5i16, -5], i16::to_le_bytes), ..Track::default() };
    Tracks { schema, clips: vec![vec![opus_track(700, &opus_block())], vec![raw]], gap: 0 }
}

fn opus_block() -> Vec<u8> {
    (0..OPUS.len() / 2).map(|i| u8::from_str_radix(&OPUS[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn opus_track(count: u64, block: &[u8]) -> Track {
    let list = [block.len() as u32, crc32(block)].map(u32::to_le_bytes).concat();
    Track { number: 2 << 16, count, bytes: [&list, block].concat(), rate: [48_000, 1], first_ns: 7 }
}

/// A PNG file with these chunks beside `IHDR` and `IEND`. Its rows are not compressed.
fn png(head: &[u8], chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", head)].iter().chain(chunks).chain(&[(b"IEND", &[][..])]) {
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend([&name[..], data].concat());
        bytes.extend(crc32(&[&name[..], data].concat()).to_be_bytes());
    }
    bytes
}

/// Rows as a stream of zlib.
fn stored(rows: &[u8]) -> Vec<u8> {
    let (mut a, mut b) = (1u32, 0u32);
    rows.iter().for_each(|&byte| (a, b) = ((a + u32::from(byte)) % 65_521, (a + u32::from(byte) + b) % 65_521));
    let length = rows.len() as u16;
    let head = [&[0x78, 1, 1][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
    [&head, rows, &((b << 16) | a).to_be_bytes()].concat()
}

/// The header of a PNG file of three columns and two rows.
fn head(bits: u8, color: u8) -> Vec<u8> {
    vec![0, 0, 0, 3, 0, 0, 0, 2, bits, color, 0, 0, 0]
}

/// Depth and colors of two frames, the colors with times.
fn pictures() -> Tracks {
    let schema = schema(&[track("depth", "u16", &[2, 3], "frames"), track("color", "u8", &[2, 3, 3], "times")]);
    let list = |blocks: &[Vec<u8>], times: &[i64]| {
        let ends = (0..blocks.len()).map(|i| blocks[..=i].concat().len() as u32);
        let list: Vec<u8> =
            ends.zip(blocks).flat_map(|(end, block)| [end, crc32(block)]).flat_map(u32::to_le_bytes).collect();
        [list, le(times, i64::to_le_bytes), blocks.concat()].concat()
    };
    // Each row after the first is filtered: by the one above, and by the number before.
    let deep = [vec![0, 1, 0, 0, 2, 255, 255, 2, 0, 1, 0, 1, 0, 1], vec![1, 9, 9, 0, 1, 0, 1, 4, 0, 1, 0, 1, 0, 1]];
    let depth: Vec<Vec<u8>> = deep.iter().map(|rows| png(&head(16, 0), &[(b"IDAT", &stored(rows))])).collect();
    let rows: Vec<u8> = [&[3][..], &[7; 9], &[0], &[200; 9]].concat();
    let (first, rest) = (stored(&rows)[..5].to_vec(), stored(&rows)[5..].to_vec());
    let color = png(&head(8, 2), &[(b"IDAT", &first), (b"IDAT", &rest)]);
    let new =
        |number: u32, bytes: Vec<u8>, count| Track { number: number | (3 << 16), count, bytes, ..Track::default() };
    let clip = vec![new(0, list(&depth, &[]), 2), new(1, list(&[color.clone(), color], &[-5, 7]), 2)];
    let raw = Track { count: 1, bytes: (0..12).collect(), ..Track::default() };
    Tracks { schema, clips: vec![clip, vec![raw, new(1, vec![], 0)]], gap: 0 }
}

/// The same shard with the tracks in `bytes`.
fn bound(mut shard: Shard, bytes: &[u8]) -> Shard {
    let sha256 = Sha256::digest(bytes).into();
    let binding = DataBinding { length: bytes.len() as u64, sha256, edge_crc32: edge_crc32(bytes) };
    shard.more.push((*b"TRKS", 0, binding.to_bytes().to_vec()));
    shard.version_minor = 1;
    shard
}

fn shards(shards: Vec<(Shard, Option<Vec<u8>>)>) -> Files {
    let (mut files, mut list) = (Files::new(), Vec::new());
    let classes = serde_json::from_slice::<Value>(&base().meta).unwrap()["classes"].clone();
    for (n, (mut shard, tracks)) in shards.into_iter().enumerate() {
        shard.meta = base().meta;
        if shard.clips.len() == 1 {
            shard.clips[0].label = 0;
        }
        let index = shard.index().0;
        let name = |bytes: &[u8], end: &str| format!("shard-{n:05}-{}.{end}", &hex(&Sha256::digest(bytes))[..12]);
        let mut listed = json!({
            "record_file": name(&shard.records, "rec"), "index_file": name(&index, "vidx"),
            "clips": shard.clips.len(), "frames": shard.frames.len(), "bytes": shard.records.len(),
            "sha256": hex(&Sha256::digest(&shard.records)),
            "index_crc32": u32::from_le_bytes(index[60..64].try_into().unwrap()),
        });
        files.insert(name(&shard.records, "rec"), shard.records.clone());
        files.insert(name(&index, "vidx"), index);
        if let Some(bytes) = tracks {
            let (file, sha256) = (name(&bytes, "vtrk"), hex(&Sha256::digest(&bytes)));
            listed["track_file"] = json!({"file": file, "bytes": bytes.len(), "sha256": sha256});
            files.insert(file, bytes);
        }
        list.push(listed);
    }
    let sum = |key: &str| list.iter().map(|s| s[key].as_u64().unwrap()).sum::<u64>();
    let listing = json!({
        "format": "vidrec", "format_version": 1, "clips": sum("clips"), "frames": sum("frames"), "bytes": sum("bytes"),
        "classes": classes, "shards": list, "tool": "make", "settings": {},
    });
    files.insert("dataset.json".into(), pretty(&listing));
    files
}

impl Bad {
    /// The base with these tracks beside it.
    fn tracks(&mut self, name: &str, when: When, bytes: Vec<u8>) {
        let shard = bound(base(), &bytes);
        self.with_tracks(name, when, &shard, &shard.index(), bytes);
    }

    fn with_tracks(&mut self, name: &str, when: When, shard: &Shard, index: &shard::Index, bytes: Vec<u8>) {
        self.files(name, when, shard, index);
        self.0.insert(format!("bad/{name}.vtrk"), bytes);
    }

    /// The two tracks with their file changed, checksums right from `seal` on.
    fn track_file(&mut self, name: &str, when: When, seal: Seal, change: impl FnOnce(&mut File)) {
        self.tracks(name, when, two().file().change(seal, change));
    }

    /// The two tracks changed before the file is made, so that all checksums fit.
    fn values(&mut self, name: &str, when: When, change: impl FnOnce(&mut Tracks)) {
        let mut tracks = two();
        change(&mut tracks);
        self.tracks(name, when, tracks.file().bytes);
    }
}

pub fn bad(bad: &mut Bad) {
    bad_files(bad);
    bad_ends(bad);
    bad_places(bad);
    bad_blocks(bad);
    bad_packets(bad);
    bad_pictures(bad);
    bad_values(bad);
}

fn bad_files(bad: &mut Bad) {
    let bytes = two().file().bytes;
    let shard = bound(base(), &bytes);
    for (name, change) in [
        ("track-length", (|b| b.truncate(b.len() - 8)) as fn(&mut Vec<u8>)),
        ("track-length.empty", Vec::clear),
        ("track-edges", |b| b[100] ^= 1),
    ] {
        let mut other = bytes.clone();
        change(&mut other);
        bad.with_tracks(name, When::Open, &shard, &shard.index(), other);
    }
    let digest = |index: &mut shard::Index| index.flip(index.section(5).start + 8);
    let index = shard.index().change(shard::Seal::Sections, digest);
    bad.with_tracks("track-digest", When::Verify, &shard, &index, bytes.clone());
    let index = shard.index().change(shard::Seal::Table, |index| index.flip(index.table_entry(5) + 24));
    bad.with_tracks("section-crc.trks", When::Open, &shard, &index, bytes.clone());
    let mut short = shard.clone();
    short.more[0].2.truncate(40);
    bad.with_tracks("section-size.trks", When::Open, &short, &short.index(), bytes);
    let tracks = "\"shard-00001-";
    bad.folder("dataset-json.tracks", When::Open, good_folder("tracks-of-a-shard"), |json| {
        let (head, tail) = json.split_once("track_file").unwrap();
        format!("{head}track_file{}", tail.replacen(tracks, "\"../shard-00001-", 1))
    });
    bad.folder("dataset-shard.tracks", When::Open, good_folder("tracks-of-a-shard"), |json| {
        let mut value: Value = serde_json::from_str(&json).unwrap();
        value["shards"][1]["track_file"]["sha256"] = hex(&[0; 32]).into();
        value.to_string()
    });
    bad.folder("dataset-shard.no-tracks", When::Open, good_folder("tracks-of-a-shard"), |json| {
        let mut value: Value = serde_json::from_str(&json).unwrap();
        value["shards"][0]["track_file"] = value["shards"][1]["track_file"].clone();
        value.to_string()
    });
    for (name, from, to) in [
        ("dataset-tracks", "\"f32\"", "\"i32\""),
        ("dataset-tracks.shape", "[]", "[1]"),
        ("dataset-tracks.timing", "\"spans\"", "\"times\""),
    ] {
        let mut other = two();
        other.schema = other.schema.replacen(from, to, 1);
        other.clips = vec![vec![], vec![]];
        let both = [two(), other].map(|tracks| tracks.file().bytes);
        bad.folder(name, When::Open, shards(both.map(|b| (bound(base(), &b), Some(b))).into()), |json| json);
    }
}

fn bad_ends(bad: &mut Bad) {
    bad.track_file("track-magic", When::Open, Seal::Ends, |file| file.bytes[0] = 9);
    bad.track_file("track-version", When::Open, Seal::Ends, |file| file.bytes[8] = 2);
    bad.track_file("track-header-crc", When::Open, Seal::Footer, |file| file.flip(20));
    bad.track_file("track-flags", When::Open, Seal::Ends, |file| file.u32(12, 1 << 31));
    let mut cut = two().file().bytes;
    let at = cut.len() - 20;
    cut[at] ^= 1;
    bad.tracks("track-footer", When::Open, cut);
    bad.track_file("track-footer.header", When::Open, Seal::Footer, |file| {
        let at = file.footer() + 40;
        file.flip(at);
    });
    for (name, at) in [("length", 0), ("clips", 8), ("table", 16), ("schema", 24), ("overflow", 24)] {
        bad.track_file(&format!("track-layout.{name}"), When::Open, Seal::Footer, |file| {
            file.add(file.footer() + at, if name == "overflow" { u64::MAX / 2 } else { 64 })
        });
    }
    bad.tracks("track-layout", When::Open, two().file().bytes[..63].to_vec());
    bad.values("track-layout.clip", When::Open, |tracks| tracks.clips.truncate(1));
    bad.track_file("track-schema", When::Open, Seal::Footer, |file| file.flip(file.footer() + 36));
    for (name, schema) in [
        ("json", "{\"tracks\":[".to_owned()),
        ("array", "[[]]".into()),
        ("missing", "{}".into()),
        ("type", schema(&[track("a", "f16", &[], "frames")])),
        ("timing", schema(&[track("a", "f32", &[], "always")])),
        ("name", schema(&[track("", "f32", &[], "frames")])),
        ("control", schema(&[track("a\n", "f32", &[], "frames")])),
        ("twice", schema(&[track("a", "f32", &[], "frames"), track("a", "f32", &[], "frames")])),
        ("shape", schema(&[track("a", "f32", &[0], "frames")])),
        ("large", schema(&[track("a", "f32", &[1 << 20, 1 << 20], "frames")])),
        ("text", schema(&[track("a", "utf-8", &[1], "frames")])),
        ("positions", schema(&[json!(["a", "f32", [], "frames"])])),
    ] {
        bad.values(&format!("track-schema.{name}"), When::Open, |tracks| tracks.schema = schema);
    }
}

fn bad_places(bad: &mut Bad) {
    use When::Use;
    bad.track_file("track-entry-crc", Use, Seal::Ends, |file| file.flip(file.table));
    bad.track_file("track-entry-crc.misplaced", Use, Seal::Ends, |file| {
        let (a, b) = file.bytes[file.table..file.table + 48].split_at_mut(24);
        a.swap_with_slice(b);
    });
    for (name, by) in [("track-block", 8), ("track-block.outside", 1 << 16), ("track-block.overflow", u64::MAX - 127)] {
        bad.track_file(name, Use, Seal::Entries, |file| file.add(file.table, by));
    }
    bad.track_file("track-block.short", Use, Seal::Entries, |file| file.add(file.table + 8, 0u64.wrapping_sub(200)));
    bad.track_file("track-block.room", Use, Seal::Entries, |file| file.u32(file.blocks[0].unwrap(), u32::MAX));
    bad.track_file("track-block.clip", Use, Seal::Directories, |file| file.u32(file.blocks[0].unwrap() + 4, 1));
    bad.track_file("track-directory", Use, Seal::Entries, |file| file.flip(file.entry(0, 0) + 24));
    let directory = |bad: &mut Bad, name: &str, i: usize, at: usize, value: u32| {
        bad.track_file(&format!("track-directory.{name}"), Use, Seal::Directories, |file| {
            let entry = file.entry(0, i) + at;
            file.u32(entry, value);
        });
    };
    directory(bad, "track", 1, 0, 2);
    directory(bad, "order", 1, 0, 0);
    directory(bad, "place", 1, 8, 256);
    directory(bad, "length", 0, 16, 4);
    directory(bad, "overflow", 0, 20, u32::MAX);
    directory(bad, "count", 0, 28, 1 << 30);
    directory(bad, "rate", 0, 40, 1);
    directory(bad, "coding", 0, 0, 3 << 16);
    directory(bad, "coded", 0, 0, 1 << 16);
    bad.track_file("track-directory.end", Use, Seal::Entries, |file| file.add(file.table + 8, 1));
    bad.track_file("track-crc", Use, Seal::Directories, |file| file.flip(file.track(0, 0)));
}

fn bad_blocks(bad: &mut Bad) {
    let last = coded().file().change(Seal::Directories, |file| file.flip(file.track(0, 1) - 65));
    bad.tracks("track-crc.block", When::Use, last);
    let ends = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut tracks = coded();
        change(&mut tracks.clips[0][0].bytes);
        tracks.file().bytes
    };
    bad.tracks("track-coding", When::Use, ends(&|bytes| bytes[1] |= 0x80));
    bad.tracks("track-coding.end", When::Use, ends(&|bytes| bytes.extend([0; 3])));
    // Frames whose checksums match: of another place, with another number of values, cut, and with numbers of more bits.
    let framed = |count: u64, frame: &[u8]| {
        let mut tracks = coded();
        let list = [frame.len() as u32, crc32(frame)].map(u32::to_le_bytes).concat();
        tracks.clips[0][0] = Track { count, bytes: [&list, frame].concat(), ..tracks.clips[0][0].clone() };
        tracks.file().bytes
    };
    let numbers: Vec<i16> = (0..40).map(|i| i * 9).collect();
    let frame = flac::encode(&numbers, 1, 0);
    bad.tracks("track-coding.place", When::Use, framed(40, &flac::encode(&numbers, 1, 1)));
    bad.tracks("track-coding.count", When::Use, framed(41, &frame));
    bad.tracks("track-coding.cut", When::Use, framed(40, &frame[..frame.len() - 4]));
    bad.tracks("track-coding.long", When::Use, framed(40, &[&frame[..], &[0; 2]].concat()));
    // A header of one value, a channel of the unknown kind 2, and of kind 0 that says that it ends in 17 zeros.
    let head = &flac::encode(&[5], 1, 0)[..8];
    bad.tracks("track-coding.kind", When::Use, framed(1, &[head, &[2 << 1, 0, 5, 0, 0]].concat()));
    bad.tracks("track-coding.bits", When::Use, framed(1, &[head, &[1, 0, 0, 0x80, 5, 0, 0]].concat()));
}

fn bad_packets(bad: &mut Bad) {
    let changed = |count: u64, change: &dyn Fn(&mut Vec<u8>)| {
        let (mut tracks, mut block) = (in_opus(), opus_block());
        change(&mut block);
        tracks.clips[0][0] = opus_track(count, &block);
        tracks.file().bytes
    };
    bad.tracks("track-coding.opus-count", When::Use, changed(961, &|_| {}));
    bad.tracks("track-coding.opus-cut", When::Use, changed(700, &|block| block.truncate(block.len() - 1)));
    bad.tracks("track-coding.opus-long", When::Use, changed(700, &|block| block.push(0)));
    bad.tracks("track-coding.opus-frames", When::Use, changed(700, &|block| block[0] |= 1));
    bad.tracks("track-coding.opus-10-ms", When::Use, changed(700, &|block| block[0] ^= 8));
    let mut tracks = in_opus();
    tracks.clips[0][0].rate = [44_100, 1];
    bad.tracks("track-directory.opus-rate", When::Use, tracks.file().bytes);
}

fn bad_pictures(bad: &mut Bad) {
    let of = |png: Vec<u8>| {
        let mut tracks = pictures();
        let list = [png.len() as u32, crc32(&png)].map(u32::to_le_bytes).concat();
        tracks.clips[1][0] = Track { number: 3 << 16, count: 1, bytes: [list, png].concat(), ..Track::default() };
        tracks.file().bytes
    };
    let rows = stored(&[0; 14]);
    for (name, png) in [
        ("chunk", png(&head(16, 0), &[(b"gAMA", &[0, 0, 0, 1]), (b"IDAT", &rows)])),
        ("size", png(&[&head(16, 0)[..3], &[4], &head(16, 0)[4..]].concat(), &[(b"IDAT", &stored(&[0; 18]))])),
        ("depth", png(&head(8, 0), &[(b"IDAT", &stored(&[0; 8]))])),
        ("interlaced", png(&[&head(16, 0)[..12], &[1]].concat(), &[(b"IDAT", &rows)])),
        ("rows", png(&head(16, 0), &[(b"IDAT", &stored(&[0; 13]))])),
        ("filter", png(&head(16, 0), &[(b"IDAT", &stored(&[5; 14]))])),
    ] {
        bad.tracks(&format!("track-coding.{name}"), When::Use, of(png));
    }
}

fn bad_values(bad: &mut Bad) {
    use When::{Use, Verify};
    bad.values("track-frames", Use, |tracks| {
        tracks.clips[1][0] = Track { count: 2, bytes: floats(&[1.0, 2.0]), ..Track::default() };
    });
    bad.values("track-bool", Use, |tracks| {
        tracks.schema = tracks.schema.replacen("f32", "bool", 1);
        tracks.clips[0][0].bytes = vec![1, 2];
        tracks.clips[1][0].bytes = vec![1];
    });
    let caption = |bytes: Vec<u8>| move |tracks: &mut Tracks| tracks.clips[0][1].bytes = bytes;
    bad.values("track-times", Use, caption(timed(texts(&["up", "ü"]), &[5, 0, 9, 9])));
    bad.values("track-times.span", Use, caption(timed(texts(&["up", "ü"]), &[0, 5, 5, 4])));
    bad.values("track-times.rate", Use, |tracks| {
        tracks.schema = tracks.schema.replace("spans", "rate");
        tracks.clips[0][1].bytes = texts(&["up", "ü"]);
        tracks.clips[0][1].rate = [25, 0];
    });
    for (name, offsets) in [("track-text", [1, 2, 4]), ("track-text.order", [0, 4, 2]), ("track-text.end", [0, 2, 9])] {
        let bytes = [le(&offsets, u32::to_le_bytes), "upü".into()].concat();
        bad.values(name, Use, caption(timed(bytes, &[0, 5, 5, 9])));
    }
    let cut = [le(&[0u32, 3, 4], u32::to_le_bytes), "upü".into()].concat();
    bad.values("track-text.cut", Use, caption(timed(cut, &[0, 5, 5, 9])));
    let mut wrong = texts(&["up", "ü"]);
    *wrong.last_mut().unwrap() = b'x';
    bad.values("track-text.utf8", Use, caption(timed(wrong, &[0, 5, 5, 9])));
    bad.values("track-finite", Verify, |tracks| tracks.clips[1][0].bytes = floats(&[f32::NEG_INFINITY]));
    bad.values("track-order", Verify, |tracks| tracks.gap = 64);
    bad.track_file("track-padding", Verify, Seal::Ends, |file| file.flip(file.track(0, 1) - 1));
    bad.track_file("track-padding.block", Verify, Seal::Ends, |file| file.flip(file.blocks[1].unwrap() - 1));
    bad.track_file("track-padding.table", Verify, Seal::Ends, |file| file.flip(file.table - 1));
    let mut padded = timed(texts(&["u", "ü"]), &[0, 5, 5, 9]);
    padded[15] = 1;
    bad.values("track-padding.times", Verify, caption(padded));
}
