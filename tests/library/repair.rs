//! Damaged data sets: what damage did not touch is saved, and what it did is never passed off as intact.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::common::names::file;
use crate::common::rich::{Rich, assert_verifies, clips, describe, files};
use proptest::prelude::*;
use tempfile::TempDir;
use vidrec::{Dataset, RepairOptions, RepairReport, repair};

/// What becomes of the bytes of a file; none if it is removed.
type Change<'a> = dyn Fn(&[u8]) -> Option<Vec<u8>> + 'a;

/// A data set, and what was true of it before anything happened to it.
struct Original {
    temp: TempDir,
    files: BTreeMap<String, Vec<u8>>,
    clips: Vec<Known>,
}

/// A clip as it was.
struct Known {
    all: String,
    shard: usize,
    /// Its records, the entries of its frames and its own entry, in the files of its shard.
    records: Range<usize>,
    entries: [Range<usize>; 2],
}

impl Original {
    fn new(rich: Rich<'_>) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("original");
        rich.write(&dir);
        let (set, mut known) = (Dataset::open(&dir).unwrap(), Vec::new());
        for (at, shard) in set.to_json().shards.iter().enumerate() {
            let (first, mut frame) = (known.len() as u64, 0);
            for i in 0..shard.clips as usize {
                let clip = set.clip(first + i as u64).unwrap();
                let begin = clip.frame(0).unwrap().offset() as usize;
                let next = set.clip(first + i as u64 + 1).and_then(|next| Ok(next.frame(0)?.offset() as usize));
                let is_last = i + 1 == shard.clips as usize;
                let end = if is_last { shard.bytes as usize } else { next.unwrap() };
                let frames = frame..frame + clip.frame_count() as usize;
                frame = frames.end;
                let table = 64 + 32 * shard.frames as usize + 80 * i;
                let entries = [64 + 32 * frames.start..64 + 32 * frames.end, table..table + 80];
                known.push(Known { all: describe(&clip), shard: at, records: begin..end, entries });
            }
        }
        Original { files: files(&dir).into_iter().collect(), temp, clips: known }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// A file's name with the digits of its digest, by its name without them.
    fn name(&self, name: &str) -> String {
        match name {
            "dataset.json" => name.to_owned(),
            _ => file(self.path("original"), name).file_name().unwrap().to_str().unwrap().to_owned(),
        }
    }

    /// A copy with some changes, by names without digits.
    fn damaged(&self, changes: &[(&str, &Change<'_>)]) -> PathBuf {
        let dir = self.path("damaged");
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).unwrap();
        let mut now = self.files.clone();
        for (name, change) in changes {
            let name = self.name(name);
            let changed = change(&now.remove(&name).unwrap());
            now.extend(changed.map(|bytes| (name, bytes)));
        }
        now.iter().for_each(|(name, bytes)| fs::write(dir.join(name), bytes).unwrap());
        dir
    }

    /// The clips that a changed byte may cost.
    fn touched(&self, name: &str, at: usize) -> Vec<usize> {
        let of = |is: &dyn Fn(&Known) -> bool| -> Vec<usize> {
            self.clips.iter().enumerate().filter(|(_, clip)| is(clip)).map(|(i, _)| i).collect()
        };
        let Some(shard) = name.strip_prefix("shard-0000").map(|rest| rest[..1].parse::<usize>().unwrap()) else {
            return Vec::new();
        };
        if name.ends_with(".rec") {
            return of(&|clip| clip.shard == shard && clip.records.contains(&at));
        }
        let found = of(&|clip| clip.shard == shard && clip.entries.iter().any(|entry| entry.contains(&at)));
        if found.is_empty() { of(&|clip| clip.shard == shard) } else { found }
    }

    /// Repairs a damaged copy. Everything but `touched` must be saved as it was, and nothing that never was.
    fn check(&self, dir: &Path, touched: &[usize]) -> RepairReport {
        let (out, before) = (self.path("out"), files(dir));
        let _ = fs::remove_dir_all(&out);
        let report = run(dir, Some(&out)).unwrap();
        assert_eq!(files(dir), before, "the damaged files were changed");
        assert_eq!(RepairReport { output: report.output.clone(), ..run(dir, None).unwrap() }, report);
        assert_eq!(report.output.is_some(), report.saved > 0);
        assert_eq!(out.exists(), report.saved > 0);
        let saved = if report.saved > 0 { clips(&out) } else { Vec::new() };
        assert_eq!(saved.len() as u64, report.saved);
        let find = |clip: &String| self.clips.iter().position(|known| known.all == *clip);
        let found: Vec<usize> =
            saved.iter().map(|clip| find(clip).unwrap_or_else(|| panic!("never was: {clip}: {report:#?}"))).collect();
        assert!(found.is_sorted_by(|a, b| a < b), "{found:?}");
        let is_saved = |i: &usize| touched.contains(i) || found.contains(i);
        assert!((0..self.clips.len()).all(|i| is_saved(&i)), "not touched but lost: {report:#?}");
        assert_eq!(report.saved + report.lost.iter().map(|lost| lost.clips).sum::<u64>(), report.clips);
        assert_eq!(report.lost_nothing(), found.len() == self.clips.len(), "{report:#?}");
        if report.saved > 0 {
            assert_verifies(&out);
        }
        report
    }
}

fn run(damaged: &Path, output: Option<&Path>) -> vidrec::Result<RepairReport> {
    let options = RepairOptions { output: output.map(Path::to_owned), overwrite: true };
    repair(damaged, &options, &mut vidrec::no_progress)
}

const GONE: &Change<'_> = &|_| None;

fn cut(at: usize) -> impl Fn(&[u8]) -> Option<Vec<u8>> {
    move |bytes| Some(bytes[..at].to_vec())
}

const FILES: [&str; 5] = ["shard-00000.rec", "shard-00000.vidx", "shard-00001.rec", "shard-00001.vidx", "dataset.json"];

/// Cases of the property: few in the suite, many on demand.
fn cases() -> u32 {
    std::env::var("VIDREC_SOAK_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn a_changed_byte_costs_what_it_touches_and_no_more(
        bytes in prop::collection::vec((prop::sample::select(FILES.to_vec()), any::<prop::sample::Index>(), 1u8..), 1..4),
    ) {
        let original = Original::new(Rich::default());
        let (mut changes, mut touched) = (Vec::new(), Vec::new());
        for (name, at, change) in &bytes {
            let at = at.index(original.files[&original.name(name)].len());
            touched.extend(original.touched(name, at));
            changes.push((*name, move |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                bytes[at] ^= change;
                Some(bytes)
            }));
        }
        let changes: Vec<(&str, &Change<'_>)> =
            changes.iter().map(|(name, change)| (*name, change as _)).collect();
        original.check(&original.damaged(&changes), &touched);
    }
}

#[test]
fn a_whole_set_is_copied_byte_for_byte_without_its_dataset_json_too() {
    let original = Original::new(Rich::default());
    let whole: Vec<_> = original.files.clone().into_iter().collect();
    let report = original.check(&original.damaged(&[]), &[]);
    assert!(report.damage.is_empty() && report.saved == 7, "{report:#?}");
    assert_eq!(files(&original.path("out")), whole);
    for change in [GONE, &cut(100), &cut(0), &|_| Some(b"{}".to_vec())] {
        let report = original.check(&original.damaged(&[("dataset.json", change)]), &[]);
        let said = &report.damage[0];
        assert!(said.contains("dataset.json cannot be used") && !said.contains("repair"), "{said}");
        assert_eq!(files(&original.path("out")), whole);
    }
}

#[test]
fn a_lost_file_costs_its_shard() {
    let original = Original::new(Rich::default());
    let shard = [4, 5, 6];
    for name in ["shard-00001.vidx", "shard-00001.rec"] {
        let report = original.check(&original.damaged(&[(name, GONE)]), &shard);
        let lost = &report.lost[0];
        assert_eq!((report.lost.len(), &lost.shard, lost.clips), (1, &original.name("shard-00001.rec"), 3));
        assert!(lost.what.contains(&original.name(name)), "{lost:?}");
    }
    original.check(&original.damaged(&[("shard-00001.vidx", &cut(100))]), &shard);
    let all_indexes = [("shard-00000.vidx", GONE), ("shard-00001.vidx", GONE)];
    original.check(&original.damaged(&all_indexes), &[0, 1, 2, 3, 4, 5, 6]);
    // Nothing says how many clips there were.
    let changes = [("shard-00001.vidx", GONE), ("dataset.json", GONE)];
    let report = run(&original.damaged(&changes), Some(&original.path("out"))).unwrap();
    assert_eq!((report.clips, report.lost[0].clips, &*report.lost[0].what), (4, 0, "its index is missing"));
    assert!(!report.lost_nothing() && clips(&original.path("out")).len() == 4);
}

#[test]
fn a_record_file_that_is_cut_costs_the_clips_behind_the_cut() {
    let original = Original::new(Rich::default());
    let end = original.clips[2].records.end;
    let report = original.check(&original.damaged(&[("shard-00000.rec", &cut(end))]), &[3]);
    assert!(report.saved == 6 && report.lost[0].source == "dir/é3.mp4", "{report:#?}");
    assert!(report.damage[0].contains("length does not match"), "{report:#?}");
}

#[test]
fn a_lost_draw_takes_the_others_of_its_video_along() {
    let original = Original::new(Rich { shards: &[6], draws: Some(2), ..Rich::default() });
    let change = |bytes: &[u8]| {
        let (mut bytes, at) = (bytes.to_vec(), original.clips[2].records.start + 40);
        bytes[at] ^= 1;
        Some(bytes)
    };
    let report = original.check(&original.damaged(&[("shard-00000.rec", &change)]), &[2, 3]);
    assert_eq!(report.lost.iter().map(|lost| lost.clip).collect::<Vec<_>>(), [2, 3], "{report:#?}");
    assert!(report.lost[1].what.contains("another draw"), "{report:#?}");
}

#[test]
fn what_is_no_data_set_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    for path in [temp.path().to_owned(), temp.path().join("no")] {
        assert!(run(&path, None).is_err(), "{}", path.display());
    }
    fs::write(temp.path().join("a.rec"), b"").unwrap();
    let report = run(temp.path(), None).unwrap();
    assert!(report.clips == 0 && report.saved == 0 && !report.lost_nothing(), "{report:#?}");
    // Without a list, nothing says which of two files is that of the shard.
    ["a.vidx", "a-0123456789ab.vidx"].iter().for_each(|name| fs::write(temp.path().join(name), b"").unwrap());
    let e = run(temp.path(), None).unwrap_err().to_string();
    assert!(e.contains("a-0123456789ab.vidx and a.vidx") && e.contains("move the one away"), "{e}");
}

/// Checksums made to fit, but counts that no file of this size can have.
#[test]
fn counts_that_cannot_be_cost_no_memory() {
    let original = Original::new(Rich::default());
    for at in [40, 48] {
        let change = |bytes: &[u8]| {
            let mut index = bytes.to_vec();
            index[at..at + 8].copy_from_slice(&(1u64 << 31).to_le_bytes());
            let crc = vidrec::raw::crc32(&index[..60]);
            index[60..64].copy_from_slice(&crc.to_le_bytes());
            Some(index)
        };
        let report = original.check(&original.damaged(&[("shard-00000.vidx", &change)]), &[0, 1, 2, 3]);
        assert_eq!((report.saved, report.lost.len()), (3, 1), "{report:#?}");
    }
}
