//! Data sets that are packed for a test.

// Each test program uses some of this.
#![allow(dead_code)]

pub mod allocations;
pub mod data_set_server;
pub mod fake_hugging_face_hub;
pub mod ffmpeg_videos;
pub mod hostile;
pub mod names;
pub mod own_process;
pub mod program_runs;
pub mod rich;
pub mod s3_storage;
pub mod sample_data_sets;
pub mod shim;
pub mod skip;
#[cfg(unix)]
pub mod small_disk;
pub mod until;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use vidrec::jpeg::Encoder;
use vidrec::{Batch, ClipInfo, Crop, Dataset, FrameData, Loader, LoaderOptions, Planes, Result, Writer, WriterOptions};

/// A picture that no other `seed` gives.
pub fn jpeg((width, height): (u32, u32), seed: u32) -> Vec<u8> {
    let mut picture = Planes::new(width, height).unwrap();
    let wave = |i: usize, row: u32, a: u32| {
        let (x, y) = (f64::from(i as u32 % row), f64::from(i as u32 / row));
        let s = f64::from(seed + a);
        (128.0 + 100.0 * ((x / 7.0 + s).sin() * (y / 9.0 - 2.0 * s).cos())) as u8
    };
    let chroma_width = picture.chroma_width();
    picture.y.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i, width, 0));
    picture.cb.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i, chroma_width, 1));
    picture.cr.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i, chroma_width, 2));
    let mut jpeg = Vec::new();
    Encoder::new(90).unwrap().encode(&picture, &mut jpeg).unwrap();
    jpeg
}

/// Writes clips, each a list of JPEGs; clip `i` has label `i`, but clip 1 has none.
pub fn write(clips: &[Vec<Vec<u8>>], size: (u32, u32)) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
    for (i, frames) in clips.iter().enumerate() {
        let label = (i != 1).then_some(i as u32);
        let info = ClipInfo { label, width: size.0, height: size.1, ..ClipInfo::default() };
        let frames: Vec<_> = frames.iter().map(|jpeg| FrameData { jpeg, pts: 0, source_index: None }).collect();
        writer.append(&info, &frames).unwrap();
    }
    writer.finish().unwrap();
    (folder, dir)
}

/// `clips` clips of `frames` frames, all different.
pub fn set(clips: u32, frames: u32, size: (u32, u32)) -> (TempDir, PathBuf) {
    let clip = |c| (0..frames).map(|t| jpeg(size, c * 100 + t)).collect();
    write(&(0..clips).map(clip).collect::<Vec<_>>(), size)
}

pub fn loader(dir: &Path, options: LoaderOptions) -> Loader {
    Loader::new(&Dataset::open(dir).unwrap(), options).unwrap()
}

/// The sources of all clips.
pub fn sources(set: &Dataset) -> Vec<String> {
    set.clips().map(|clip| clip.unwrap().source().unwrap()).collect()
}

/// The clips of a batch that count.
pub fn counted(batch: &Batch) -> Vec<u64> {
    batch.clips.iter().zip(&batch.mask).filter(|(_, counts)| **counts).map(|(&clip, _)| clip).collect()
}

/// The batches of an epoch, each made when it is asked for.
pub fn one_by_one(loader: &Loader, epoch: u64) -> impl Iterator<Item = Result<Batch>> + use<> {
    let loader = loader.clone();
    (0..loader.batches_in(epoch)).map(move |k| loader.batch(epoch, k))
}

/// Options for small tests: two threads.
pub fn options(batch_size: u32, size: (u32, u32)) -> LoaderOptions {
    LoaderOptions { batch_size, threads: Some(2), crop: Crop::center(size), ..LoaderOptions::default() }
}

/// Changes a bit in the JPEG of a frame.
pub fn damage(dir: &Path, clip: u64, frame: u32) {
    let (shard, offset, length) = {
        let set = Dataset::open(dir).unwrap();
        let shards = set.to_json().shards;
        let is_before = |n: &usize| shards[..=*n].iter().map(|shard| shard.clips).sum::<u64>() <= clip;
        let clip = set.clip(clip).unwrap();
        let frame = clip.frame(frame).unwrap();
        ((0..shards.len()).take_while(is_before).count(), frame.offset() as usize, frame.jpeg().len())
    };
    let path = names::file(dir, &format!("shard-{shard:05}.rec"));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[offset + 32 + length / 2] ^= 4;
    std::fs::write(&path, bytes).unwrap();
}

/// The files below a folder, by their paths in it; none if there is no folder.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() {
            found.extend(tree(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// The head of a request, with the empty line at its end; `None` if the client closes the connection before that.
pub fn head(client: &mut impl Read) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// Checks that an error, with its causes, says all of this, and no secret.
#[track_caller]
pub fn says(what: &str, e: &vidrec::Error, words: &[&str]) {
    let text = format!("{e:#}");
    for word in words {
        assert!(text.contains(word), "{what}: no {word:?} in: {text}");
    }
    assert!(!text.contains("hunter2"), "{text}");
}
