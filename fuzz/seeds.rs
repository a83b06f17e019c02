//! Writes inputs to begin with to `corpus/TARGET/`: the vectors of the format, and pictures that are made here.

use std::fs;
use std::path::Path;

use vidrec::fuzzing::{generated, originals};

use vidrec::raw::track::{ends, table_entry::{self, TableEntry}};
use vidrec::interop::{frames, gulp, mxnet, webdataset};
use vidrec::{ClipInfo, Dataset, FrameData, Planes, Track, TrackValues, Writer, WriterOptions};

#[path = "../tests/common/hostile.rs"]
#[allow(dead_code)]
mod hostile;
#[allow(dead_code)]
mod readers;

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = here.join("corpus").join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    };
    let pictures = originals().into_iter().chain((0..24).map(generated));
    for (i, jpeg) in pictures.enumerate() {
        write("segments", &format!("picture-{i}"), &jpeg);
        for scale in 0..4 {
            let wish = [4 * i as u8 | scale, 0, 0, 255, 255];
            write("decoders", &format!("picture-{i}-{scale}"), &[&wish, &jpeg[..]].concat());
        }
    }
    for (i, quality) in [0u8, 49, 74, 89, 99].into_iter().enumerate() {
        for smooth in [0, 3, 30] {
            let samples: Vec<u8> = (0..2000u32).map(|n| (n * n / 7 + n * smooth) as u8).collect();
            let wish = [quality, 16 * i as u8 + 15, 47, i as u8 % 2, smooth as u8];
            write("encoder", &format!("clip-{i}-{smooth}"), &[&wish, &samples[..]].concat());
        }
    }
    for folder in ["good", "bad", "good/two-shards"] {
        for entry in fs::read_dir(here.join("../format-spec/vectors").join(folder)).unwrap() {
            let index = entry.unwrap().path();
            if index.extension().is_none_or(|extension| extension != "vidx") {
                continue;
            }
            let record = fs::read(index.with_extension("rec")).unwrap_or_default();
            let name = format!("{}-{}", folder.replace('/', "-"), index.file_stem().unwrap().display());
            write("records", &name, &record);
            write("data_set", &name, &hostile::input(&fs::read(&index).unwrap(), &record));
        }
    }
    let set = small_set();
    for (target, name, bytes) in exports(&set).into_iter().chain(tracks()).chain(listings()).chain(arrays()) {
        write(target, name, &bytes);
    }
    for target in fs::read_dir(here.join("seeds")).unwrap() {
        let target = target.unwrap().path();
        for seed in fs::read_dir(&target).unwrap() {
            let seed = seed.unwrap().path();
            let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
            write(&name(&target), &name(&seed), &fs::read(&seed).unwrap());
        }
    }
}

type Seeds = Vec<(&'static str, &'static str, Vec<u8>)>;

/// Two clips with a track.
fn small_set() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut jpeg = Vec::new();
    vidrec::jpeg::Encoder::new(50).unwrap().encode(&Planes::new(16, 16).unwrap(), &mut jpeg).unwrap();
    let mut writer = Writer::create(&folder.path().join("set"), WriterOptions::default()).unwrap();
    for label in 0..2 {
        let source = format!("{label}.mp4");
        let clip = ClipInfo { label: Some(label), source, width: 16, height: 16, ..ClipInfo::default() };
        let track = Track { name: "a".into(), values: TrackValues::U8(vec![1, 2]), ..Track::default() };
        let frame = FrameData { jpeg: &jpeg, pts: 0, source_index: None };
        writer.append_with_tracks(&clip, &[frame; 2], &[track]).unwrap();
    }
    writer.finish().unwrap();
    folder
}

/// What importers read.
fn exports(folder: &tempfile::TempDir) -> Seeds {
    let (set, out) = (Dataset::open(folder.path().join("set")).unwrap(), |name: &str| folder.path().join(name));
    let progress = &mut vidrec::no_progress;
    gulp::export(&set, &out("gulp"), 10, progress).unwrap();
    webdataset::export(&set, &out("tar"), webdataset::WebdatasetOptions::default(), progress).unwrap();
    mxnet::export(&set, &out("mxnet"), false, progress).unwrap();
    frames::export(&set, &out("frames"), progress).unwrap();
    let ending = |folder: &str, ending: &str| {
        let mut files: Vec<_> = walk(&out(folder)).into_iter().filter(|path| path.ends_with(ending)).collect();
        files.sort();
        files.first().map_or(Vec::new(), |path| fs::read(path).unwrap())
    };
    let files = |folder: &str, endings: &[&str]| {
        let files: Vec<_> = endings.iter().map(|name| ending(folder, name)).collect();
        readers::of_files(&files.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    vec![
        ("import_gulp", "export", files("gulp", &[".gmeta", ".gulp"])),
        ("import_webdataset", "export", ending("tar", ".tar")),
        ("import_mxnet", "export", files("mxnet", &[".rec", ".idx", ".lst"])),
        ("import_frames", "export", files("frames", &["clip.json", "vidrec.json", ".jpg", ".npy"])),
    ]
}

/// All files of a folder.
fn walk(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths = entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path.to_str().unwrap().into()] });
    paths.collect()
}

/// The schema and the block of a clip of the format's vectors.
fn tracks() -> Seeds {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../format-spec/vectors/good");
    let file = fs::read(vectors.join("tracks.vtrk")).unwrap();
    let sum = ends::check_header(file.first_chunk().unwrap()).unwrap();
    let footer = ends::Footer::from_bytes(file.last_chunk().unwrap(), sum).unwrap();
    let schema = &file[footer.schema_offset as usize..][..footer.schema_length as usize];
    let mut clips = (0..footer.clip_count).filter_map(|clip| {
        let at = footer.table_offset as usize + clip as usize * table_entry::BYTES;
        let entry = TableEntry::from_bytes(file[at..].first_chunk().unwrap(), clip).unwrap();
        entry.range(footer.table_offset).unwrap()
    });
    let block = clips.next().unwrap();
    let length = (schema.len() as u16).to_le_bytes();
    let clip = [&length[..], schema, &file[block.start as usize..block.end as usize]].concat();
    vec![("tracks", "file", file), ("tracks", "clip", clip)]
}

/// Descriptions of data sets.
fn listings() -> Seeds {
    let read = |name: &str| {
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../format-spec/vectors/good");
        fs::read(vectors.join(name).join("dataset.json")).unwrap()
    };
    vec![
        ("dataset_json", "shards", read("two-shards")),
        ("dataset_json", "digests", read("named-by-digest")),
        ("dataset_json", "tracks", read("tracks-of-a-shard")),
    ]
}

fn arrays() -> Seeds {
    let header = b"\x93NUMPY\x01\0\x36\0{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}";
    let array = [&header[..], &[1, 2, 3]].concat();
    vec![("npy", "bytes", array)]
}
