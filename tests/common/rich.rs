//! Data sets with everything in them that a clip can have, and comparing them clip by clip.

// Each test program uses some of this.
#![allow(dead_code)]

use std::path::Path;

use serde_json::json;
use vidrec::{Clip, ClipInfo, Dataset, FrameData, JsonObject, VerifyOptions, Writer, WriterOptions, verify};

use super::jpeg;

/// What a set is to be like.
pub struct Rich<'a> {
    pub classes: &'a [&'a str],
    /// Clips in each shard.
    pub shards: &'a [u32],
    /// Added to the names of sources and the seeds of pictures.
    pub from: u32,
    /// More settings than `frames`.
    pub settings: serde_json::Value,
    /// Clips in a row that are draws of one video.
    pub draws: Option<u32>,
}

impl Default for Rich<'_> {
    fn default() -> Self {
        Rich { classes: &["run", "walk", "jump"], shards: &[4, 3], from: 0, settings: json!({}), draws: None }
    }
}

impl Rich<'_> {
    /// Clip `i` is of class `i` modulo the number of classes and has 1 to 3 frames; every fifth has no label.
    pub fn write(&self, dir: &Path) {
        let mut options = WriterOptions::default();
        options.meta.classes = self.classes.iter().map(|c| (*c).to_owned()).collect();
        options.meta.tool = "test".into();
        options.meta.settings = JsonObject::of(&self.settings).unwrap();
        options.meta.draws = self.draws;
        let mut writer = Writer::create(dir, options).unwrap();
        let mut i = self.from;
        for &clips in self.shards {
            for _ in 0..clips {
                self.append(&mut writer, i);
                i += 1;
            }
            writer.next_shard().unwrap();
        }
        writer.finish().unwrap();
    }

    fn append(&self, writer: &mut Writer, i: u32) {
        let label = if i % 5 == 4 { None } else { Some(i % self.classes.len() as u32) };
        let name = label.and_then(|l| self.classes.get(l as usize)).map_or("", |c| *c);
        let attributes = json!({
            "split": if i.is_multiple_of(3) { "test" } else { "train" },
            "score": f64::from(i) / 7.0 + 1e-9,
            "video": {"codec": "h264", "damaged_frames": i % 2},
        });
        let info = ClipInfo {
            label,
            source: format!("dir/é{i}.mp4"),
            class: name.into(),
            attributes: JsonObject::of(attributes).unwrap(),
            width: 24,
            height: 16,
            time_base: (1001, 30_000),
            short: i % 4 == 3,
        };
        let jpegs: Vec<_> = (0..=i % 3).map(|t| jpeg((24, 16), i * 10 + t)).collect();
        let frames: Vec<_> = (0..)
            .zip(&jpegs)
            .map(|(t, jpeg)| FrameData { jpeg, pts: i64::from(t) * 5 - 3, source_index: (t != 2).then_some(t) })
            .collect();
        writer.append(&info, &frames).unwrap();
    }
}

/// All that is known of a clip, as text that can be compared.
pub fn describe(clip: &Clip<'_>) -> String {
    let frames: Vec<_> =
        clip.frames().map(|f| f.map(|f| (f.pts(), f.source_index(), f.crc32(), f.jpeg().to_vec())).unwrap()).collect();
    format!(
        "{:?} {:?} {:?} {} {}x{} {} {:?} {frames:?}",
        clip.source().unwrap(),
        clip.label(),
        clip.class().unwrap(),
        clip.attributes_json().unwrap(),
        clip.width(),
        clip.height(),
        clip.is_short(),
        clip.time_base(),
    )
}

/// [`describe`] of every clip.
pub fn clips(dir: &Path) -> Vec<String> {
    let set = Dataset::open(dir).unwrap();
    set.clips().map(|clip| describe(&clip.unwrap())).collect()
}

pub fn assert_verifies(dir: &Path) {
    let report =
        verify(dir, VerifyOptions { deep: true, ..VerifyOptions::default() }, &mut vidrec::no_progress).unwrap();
    assert!(report.ok, "{}: {:#?}", dir.display(), report.problems);
}

/// Names and bytes of all files of a folder.
pub fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    super::tree(dir).into_iter().collect()
}

/// The same of packs of the same videos in different places: without what `dataset.json` says of these.
pub fn files_from_anywhere(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = files(dir);
    for (_, bytes) in files.iter_mut().filter(|(name, _)| name == "dataset.json") {
        let mut json: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        json.as_object_mut().unwrap().remove("packed_from").unwrap();
        *bytes = json.to_string().into_bytes();
    }
    files
}
