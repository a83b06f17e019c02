//! The bad vectors of the format: one or more for each rule, that break it and nothing else. They are made from the good ones,
//! which never change.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use vidrec::raw::clip_entry::{ClipEntry, StringRef};
use vidrec::raw::crc32;
use vidrec::raw::data_binding::hex;
use vidrec::raw::frame_entry::FrameEntry;
use vidrec::raw::recordio;
use vidrec::raw::recordio::RecordHeader;

use crate::vectors::shard::{Index, NewFrame, Seal, Shard};
use crate::vectors::{make_tracks, root};

/// 16x16 gray pixels. Made once, by Pillow: `Image.new("L", (16, 16), 128).save("gray.jpg", optimize=True)`.
pub const GRAY: &[u8] = include_bytes!("../../format-spec/vectors/gray.jpg");

/// Files by their path in `format-spec/vectors/`.
pub type Files = BTreeMap<String, Vec<u8>>;

const META: &str = r#"{"classes":["run","jump"],"tool":"make","settings":{}}"#;

const NO_CLASSES: &str = r#"{"classes":[],"tool":"make","settings":{}}"#;

const CLIP: ClipEntry = ClipEntry {
    first_frame: 0,
    frame_count: 0,
    label: 0,
    width: 16,
    height: 16,
    flags: 0,
    time_base: (1, 25),
    source: StringRef { offset: 0, length: 0 },
    class: StringRef { offset: 0, length: 0 },
    attributes: StringRef { offset: 0, length: 0 },
    strings_crc32: 0,
};

fn gray(pts: i64, source_index: u32) -> NewFrame<'static> {
    NewFrame { jpeg: GRAY, pts, source_index }
}

fn pair(files: &mut Files, name: &str, shard: &Shard, index: &Index) {
    files.insert(format!("{name}.rec"), shard.records.clone());
    files.insert(format!("{name}.vidx"), index.0.clone());
}

/// The files of a good vector that is a folder.
pub fn good_folder(name: &str) -> Files {
    let entries = fs::read_dir(root().join("vectors/good").join(name)).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

/// One clip of one frame.
pub fn minimal() -> Shard {
    let mut shard = Shard::new(NO_CLASSES);
    shard.push(CLIP, [b"a.mp4", b"", b""], &[gray(0, 0)]);
    shard
}

/// Two clips, of two frames and of one: what most of the broken vectors are made from.
pub fn base() -> Shard {
    let mut shard = Shard::new(META);
    shard.push(CLIP, [b"run/a.mp4", b"run", b""], &[gray(0, 0), gray(5, 5)]);
    shard.push(ClipEntry { label: 1, ..CLIP }, [b"jump/b.mp4", b"jump", br#"{"id":7}"#], &[gray(0, 0)]);
    shard
}

/// A directory of two shards with its listing; the class names of each are given.
fn two_shards(first: &str, second: &str) -> Files {
    let mut files = Files::new();
    let (mut one, mut two) = (minimal(), base());
    one.meta = first.into();
    two.meta = second.into();
    let mut shards = Vec::new();
    for (n, shard) in [one, two].iter().enumerate() {
        let name = format!("shard-{n:05}");
        pair(&mut files, &name, shard, &shard.index());
        let digest = <[u8; 32]>::try_from(&shard.index().0[shard.index().section(3)][8..40]).unwrap();
        shards.push(json!({
            "record_file": format!("{name}.rec"), "index_file": format!("{name}.vidx"),
            "clips": shard.clips.len(), "frames": shard.frames.len(), "bytes": shard.records.len(),
            "sha256": hex(&digest),
        }));
    }
    let mut listing: Value = serde_json::from_str(first).unwrap();
    for (key, value) in [("format", json!("vidrec")), ("format_version", json!(1)), ("clips", json!(3))] {
        listing[key] = value;
    }
    listing["frames"] = json!(4);
    listing["bytes"] = shards.iter().map(|s| s["bytes"].as_u64().unwrap()).sum::<u64>().into();
    listing["shards"] = shards.into();
    files.insert("dataset.json".into(), pretty(&listing));
    files
}

/// JSON as it stands in a file.
pub fn pretty(value: &Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap();
    bytes.push(b'\n');
    bytes
}

/// When a rule must be found broken.
#[derive(Clone, Copy)]
pub enum When {
    Open,
    Use,
    Verify,
    Deep,
}

/// Collects the broken vectors. A name is a rule's identifier, or that with a dot and what is particular behind it.
pub struct Bad(pub Files);

impl Bad {
    fn expect(&mut self, name: &str, when: When) {
        let rule = name.split('.').next().unwrap();
        let when = match when {
            When::Open => "open",
            When::Use => "use",
            When::Verify => "verify",
            When::Deep => "deep",
        };
        self.0.insert(format!("bad/{name}.json"), pretty(&json!({"rule": rule, "when": when})));
    }

    pub fn files(&mut self, name: &str, when: When, shard: &Shard, index: &Index) {
        self.expect(name, when);
        pair(&mut self.0, &format!("bad/{name}"), shard, index);
    }

    /// The base with its index file changed, checksums right from `seal` on.
    fn index(&mut self, name: &str, when: When, seal: Seal, change: impl FnOnce(&mut Index)) {
        self.files(name, when, &base(), &base().index().change(seal, change));
    }

    /// The base with its index file changed and nothing made right.
    fn damaged(&mut self, name: &str, when: When, change: impl FnOnce(&mut Vec<u8>)) {
        let mut index = base().index();
        change(&mut index.0);
        self.files(name, when, &base(), &index);
    }

    /// The base with something in it changed before the index is made, so that all checksums fit.
    fn shard(&mut self, name: &str, when: When, change: impl FnOnce(&mut Shard)) {
        let mut shard = base();
        change(&mut shard);
        self.files(name, when, &shard, &shard.index());
    }

    pub fn folder(&mut self, name: &str, when: When, mut files: Files, change: impl FnOnce(String) -> String) {
        self.expect(name, when);
        let listing = String::from_utf8(files["dataset.json"].clone()).unwrap();
        files.insert("dataset.json".into(), change(listing).into_bytes());
        self.0.extend(files.into_iter().map(|(file, bytes)| (format!("bad/{name}/{file}"), bytes)));
    }
}

/// The vectors that break a rule, each with the rule and the time at which it must be found.
pub fn bad() -> Files {
    let mut bad = Bad(Files::new());
    bad_index(&mut bad);
    bad_sections(&mut bad);
    bad_binding(&mut bad);
    bad_folders(&mut bad);
    bad_clips(&mut bad);
    bad_records(&mut bad);
    bad_order(&mut bad);
    bad_pictures(&mut bad);
    make_tracks::bad(&mut bad);
    bad.0
}

fn bad_index(bad: &mut Bad) {
    bad.damaged("index-length", When::Open, |b| b.truncate(87));
    bad.damaged("index-length.empty", When::Open, Vec::clear);
    bad.damaged("index-magic", When::Open, |b| b[0] = 0x09);
    bad.index("index-version", When::Open, Seal::Header, |index| index.0[8] = 2);
    bad.damaged("index-header-crc", When::Open, |b| b[16] ^= 1);
    bad.index("index-flags", When::Open, Seal::Header, |index| index.u32(12, 1 << 31));
    bad.damaged("index-file-length", When::Open, |b| b.extend([0; 8]));
    bad.damaged("index-file-length.cut", When::Open, |b| b.truncate(b.len() - 8));
    bad.damaged("index-footer", When::Open, |b| {
        let magic = b.len() - 8;
        b[magic] = 0x09;
    });
    // The footer of another index of the same length.
    bad.damaged("index-footer.other", When::Open, |b| {
        let other = base().index().change(Seal::Header, |index| index.u32(16, 1)).0;
        let footer = b.len() - 24;
        b[footer..].copy_from_slice(&other[footer..]);
    });
    bad.index("index-table-bounds", When::Open, Seal::Header, |index| index.add(24, 8));
    bad.index("index-table-bounds.overflow", When::Open, Seal::Header, |index| index.add(24, u64::MAX - 63));
    bad.damaged("index-table-crc", When::Open, |b| {
        let reserved = b.len() - 24 - 4;
        b[reserved] = 1;
    });
}

fn bad_sections(bad: &mut Bad) {
    use Seal::Table;
    bad.index("section-bounds", When::Open, Table, |index| index.add(index.table_entry(1) + 8, 8));
    bad.index("section-bounds.end", When::Open, Table, |index| index.add(index.table_entry(4) + 16, 8));
    bad.index("section-bounds.overflow", When::Open, Table, |index| index.add(index.table_entry(4) + 16, u64::MAX / 2));
    bad.shard("section-unknown", When::Open, |s| s.more.push((*b"x-no", 1, b"needed".to_vec())));
    bad.shard("section-duplicate", When::Open, |s| s.more.push((*b"META", 0, META.into())));
    for (n, id) in ["frms", "clps", "strs", "data", "meta"].into_iter().enumerate() {
        // A required section under the name of an optional one.
        bad.index(&format!("section-missing.{id}"), When::Open, Table, |index| {
            let entry = index.table_entry(n);
            index.0[entry..entry + 8].copy_from_slice(b"x-no\0\0\0\0");
        });
    }
    bad.index("section-size.frms", When::Open, Seal::Header, |index| index.add(48, 1));
    bad.index("section-size.clps", When::Open, Seal::Header, |index| index.add(40, 1));
    bad.index("section-size.data", When::Open, Table, |index| index.add(index.table_entry(3) + 16, u64::MAX));
    for (n, id) in ["frms", "clps", "strs", "data", "meta"].into_iter().enumerate() {
        let when = if n < 3 { When::Verify } else { When::Open };
        bad.index(&format!("section-crc.{id}"), when, Table, |index| index.flip(index.table_entry(n) + 24));
    }
    bad.index("section-padding", When::Verify, Seal::Header, |index| index.flip(index.section(2).end));
    for (name, meta) in [
        ("meta-json", &b"{\"classes\":["[..]),
        ("meta-json.array", b"[[\"run\",\"jump\"],\"make\",\"\",{}]"),
        ("meta-json.type", b"{\"classes\":[1,2]}"),
        ("meta-json.nan", b"{\"settings\":{\"quality\":NaN}}"),
        ("meta-json.utf8", b"{\"tool\":\"\xff\"}"),
        ("meta-json.draws", b"{\"draws\":-1}"),
    ] {
        bad.shard(name, When::Open, |s| s.meta = meta.to_vec());
    }
}

fn bad_binding(bad: &mut Bad) {
    let shard = base();
    for (name, change) in [
        ("data-length", (|r| r.truncate(r.len() - 4)) as fn(&mut Vec<u8>)),
        ("data-length.longer", |r| r.extend([0; 4])),
        ("data-length.empty", Vec::clear),
        ("data-edges", |r| r[100] ^= 1),
    ] {
        let mut other = shard.clone();
        change(&mut other.records);
        bad.files(name, When::Open, &other, &shard.index());
    }
    bad.index("data-digest", When::Verify, Seal::Sections, |index| index.flip(index.section(3).start + 8));
}

fn bad_folders(bad: &mut Bad) {
    let files = || good_folder("two-shards");
    bad.folder("dataset-json", When::Open, files(), |json| json[..json.len() / 2].into());
    bad.folder("dataset-json.array", When::Open, files(), |json| {
        let value: Value = serde_json::from_str(&json).unwrap();
        let keys = ["format", "format_version", "clips", "frames", "bytes", "classes", "shards"];
        Value::from(keys.map(|key| value[key].clone()).to_vec()).to_string()
    });
    bad.folder("dataset-json.shard", When::Open, files(), |json| {
        let mut value: Value = serde_json::from_str(&json).unwrap();
        let keys = ["record_file", "index_file", "clips", "frames", "bytes", "sha256"];
        let shard = keys.map(|key| value["shards"][0][key].clone()).to_vec();
        value["shards"][0] = shard.into();
        value.to_string()
    });
    bad.folder("dataset-json.empty", When::Open, files(), |json| {
        let mut value: Value = serde_json::from_str(&json).unwrap();
        value["shards"] = json!([]);
        value.to_string()
    });
    bad.folder("dataset-json.type", When::Open, files(), |json| json.replace(r#""clips": 3"#, r#""clips": "3""#));
    let elsewhere = "../dataset-json/shard-00000.vidx";
    bad.folder("dataset-json.path", When::Open, files(), |json| json.replace("shard-00000.vidx", elsewhere));
    bad.folder("dataset-json.count", When::Open, files(), |json| json.replace(r#""clips": 3"#, r#""clips": 4"#));
    bad.folder("dataset-json.classes", When::Verify, files(), |json| json.replace("jump", "leap"));
    bad.folder("dataset-shard", When::Open, files(), |json| json.replace("8d486eb4", "8d486eb5"));
    bad.folder("dataset-shard.index", When::Open, good_folder("named-by-digest"), |json| {
        let mut value: Value = serde_json::from_str(&json).unwrap();
        value["shards"][1]["index_crc32"] = json!(1);
        value.to_string()
    });
    bad.folder("dataset-shard.order", When::Open, files(), |json| {
        let mut value: Value = serde_json::from_str(&json).unwrap();
        for key in ["record_file", "index_file"] {
            let other = value["shards"][0][key].take();
            value["shards"][0][key] = std::mem::replace(&mut value["shards"][1][key], other);
        }
        value.to_string()
    });
    bad.folder("dataset-json.failures", When::Open, good_folder("named-by-digest"), |json| {
        json.replace("\"failures-", "\"../failures-")
    });
    bad.folder("dataset-json.name", When::Open, good_folder("named-by-digest"), |json| {
        let mut value: Value = serde_json::from_str(&json).unwrap();
        value["failures"]["file"] = ".bashrc".into();
        value.to_string()
    });
    for (which, name) in [("option", "-rf.rec"), ("command", "$(id).rec"), ("space", "a b.rec")] {
        bad.folder(&format!("dataset-json.{which}"), When::Open, files(), |json| json.replace("shard-00000.rec", name));
    }
    bad.folder("dataset-json.kind", When::Open, files(), |json| {
        json.replace(r#""index_file": "shard-00000.vidx""#, r#""index_file": "shard-00001.rec""#)
    });
    bad.folder("failures-digest", When::Verify, good_folder("named-by-digest"), |json| {
        let mut value: Value = serde_json::from_str(&json).unwrap();
        value["failures"]["sha256"] = hex(&[0; 32]).into();
        value.to_string()
    });
    bad.folder("dataset-version", When::Open, files(), |json| json.replace(r#"version": 1"#, r#"version": 2"#));
    bad.folder("dataset-classes", When::Open, two_shards(NO_CLASSES, META), |json| json);
}

fn bad_clips(bad: &mut Bad) {
    bad.index("clip-crc", When::Use, Seal::Sections, |index| index.flip(index.section(1).start + 12));
    bad.index("clip-crc.misplaced", When::Use, Seal::Sections, |index| index.swap_entries(1, 80));
    bad.shard("clip-frames", When::Use, |s| s.clips[1].frame_count = 2);
    bad.shard("clip-frames.overflow", When::Use, |s| s.clips[1].first_frame = u64::MAX);
    bad.shard("clip-label", When::Use, |s| s.clips[1].label = -2);
    bad.shard("clip-label.large", When::Use, |s| s.clips[1].label = (1 << 24) + 1);
    bad.shard("clip-time-base", When::Use, |s| s.clips[1].time_base = (0, 25));
    bad.shard("clip-time-base.denominator", When::Use, |s| s.clips[1].time_base = (1, 0));
    bad.shard("clip-string", When::Use, |s| s.clips[1].strings_crc32 ^= 1);
    bad.shard("clip-string.pool", When::Use, |s| s.clips[1].source.offset = s.strings.len() as u64);
    bad.shard("clip-string.overflow", When::Use, |s| s.clips[1].source.offset = u64::MAX);
    let attributes = |s: &mut Shard, text: &[u8]| {
        s.clips.pop();
        s.frames.pop();
        s.records.truncate(s.records.len() / 3 * 2);
        s.push(ClipEntry { label: 1, ..CLIP }, [b"jump/b.mp4", b"jump", text], &[gray(0, 0)]);
    };
    bad.shard("clip-string.utf8", When::Use, |s| attributes(s, b"{\"a\":\"\xff\"}"));
    bad.shard("clip-attributes", When::Verify, |s| attributes(s, b"{\"a\":"));
    bad.shard("clip-attributes.array", When::Verify, |s| attributes(s, b"[1]"));
    bad.shard("clip-draws", When::Verify, |s| s.meta = br#"{"draws":3}"#.to_vec());
    bad.shard("clip-draws.none", When::Verify, |s| s.meta = br#"{"draws":0}"#.to_vec());
    bad.shard("clip-class", When::Verify, |s| {
        s.clips[0].class = s.clips[1].class;
        s.clips[0].strings_crc32 = crc32(b"run/a.mp4jump");
    });
    bad.shard("clip-class.label", When::Verify, |s| {
        s.meta = br#"{"classes":["run"]}"#.to_vec();
        s.clips[1].class = StringRef::default();
        s.clips[1].strings_crc32 = crc32(br#"jump/b.mp4{"id":7}"#);
    });
}

fn bad_records(bad: &mut Bad) {
    bad.index("frame-crc", When::Use, Seal::Sections, |index| index.flip(index.section(0).start + 8));
    bad.index("frame-crc.misplaced", When::Use, Seal::Sections, |index| index.swap_entries(0, 32));
    bad.shard("record-bounds", When::Use, |s| s.frames[2].record_offset = s.records.len() as u64 - 4);
    bad.shard("record-bounds.overflow", When::Use, |s| s.frames[2].record_offset = u64::MAX - 3);
    bad.shard("record-bounds.length", When::Use, |s| lrec(s, 2, |word| word + 4));
    bad.shard("record-magic", When::Use, |s| s.records[0] ^= 1);
    bad.shard("record-parts", When::Use, |s| lrec(s, 1, |word| word | 2 << 29));
    bad.shard("record-parts.reserved", When::Use, |s| lrec(s, 1, |word| word | 4 << 29));
    bad.shard("record-parts.interrupted", When::Use, |s| lrec(s, 1, |word| word | 1 << 29));
    bad.shard("record-bounds.unfinished", When::Use, |s| lrec(s, 2, |word| word | 1 << 29));
    bad.shard("record-padding", When::Use, |s| *s.records.last_mut().unwrap() = 1);
    bad.shard("record-header", When::Use, |s| {
        s.frames[2].record_offset = s.records.len() as u64;
        recordio::append(&[0; 23], &[], &mut s.records).unwrap();
    });
    bad.shard("record-header.labels", When::Use, |s| flag(s, 2, 41));
    bad.shard("record-header.overflow", When::Use, |s| flag(s, 2, 1 << 30));
    bad.shard("record-length", When::Use, |s| s.frames[2].jpeg_length -= 1);
    bad.shard("jpeg-crc", When::Use, |s| s.records[100] ^= 1);
}

/// Offset of frame `ordinal`'s record.
fn at(shard: &Shard, ordinal: usize) -> usize {
    shard.frames[ordinal].record_offset as usize
}

fn lrec(shard: &mut Shard, ordinal: usize, change: impl Fn(u32) -> u32) {
    let at = at(shard, ordinal) + 4;
    let word = u32::from_le_bytes(shard.records[at..at + 4].try_into().unwrap());
    shard.records[at..at + 4].copy_from_slice(&change(word).to_le_bytes());
}

fn flag(shard: &mut Shard, ordinal: usize, value: u32) {
    let at = at(shard, ordinal) + 8;
    shard.records[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Everything can be read; only a pass over all of it finds what is wrong.
fn bad_order(bad: &mut Bad) {
    let orphan = |s: &mut Shard| recordio::append(&[0; 24], GRAY, &mut s.records).unwrap();
    bad.shard("clip-order", When::Verify, |s| {
        s.clips.push(ClipEntry { first_frame: 1, frame_count: 0, source: StringRef::default(), ..s.clips[0] });
        s.clips[2].strings_crc32 = crc32(b"run");
    });
    bad.shard("clip-order.rest", When::Verify, |s| s.clips.truncate(1));
    bad.shard("record-order", When::Verify, |s| {
        let frame = s.frames.pop().unwrap();
        orphan(s);
        let record = s.records[frame.record_offset as usize..].to_vec();
        let length = record.len() / 2;
        s.records.truncate(frame.record_offset as usize);
        s.records.extend_from_slice(&record[length..]);
        s.frames.push(FrameEntry { record_offset: s.records.len() as u64, ..frame });
        s.records.extend_from_slice(&record[..length]);
    });
    bad.shard("record-trailing", When::Verify, orphan);
    bad.shard("record-trailing.bytes", When::Verify, |s| s.records.extend([0; 4]));
    bad.shard("record-id", When::Verify, |s| s.records[8 + 8] ^= 1);
    bad.shard("record-id.clip", When::Verify, |s| s.records[8 + 20] ^= 1);
    bad.shard("record-label", When::Verify, |s| s.records[8 + 4..8 + 8].copy_from_slice(&1.0f32.to_le_bytes()));
    // A label vector, as MXNet writes it. A reader must skip it; vidrec has one label for a clip, so it is not right.
    bad.shard("record-label.vector", When::Verify, |s| {
        s.frames.pop();
        s.records.truncate(s.records.len() / 3 * 2);
        let header = RecordHeader { flag: 2, ..RecordHeader::new(0, 2, 1, 0) };
        let labels = [1.0f32.to_le_bytes(), 0.5f32.to_le_bytes()].concat();
        s.push_record(&[&header.to_bytes()[..], &labels].concat(), &gray(0, 0));
    });
}

fn bad_pictures(bad: &mut Bad) {
    bad.shard("clip-size", When::Deep, |s| s.clips[1].width = 32);
    let picture = |s: &mut Shard, jpeg: &[u8]| {
        s.frames.pop();
        s.records.truncate(s.records.len() / 3 * 2);
        let header = RecordHeader::new(1, 2, 1, 0);
        s.push_record(&header.to_bytes(), &NewFrame { jpeg, pts: 0, source_index: 0 });
    };
    bad.shard("jpeg-decode", When::Deep, |s| picture(s, &[&GRAY[..2], &[0xff, 0xd9]].concat()));
    bad.shard("jpeg-decode.cut", When::Deep, |s| picture(s, &GRAY[..GRAY.len() - 3]));
}
