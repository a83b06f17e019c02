//! Damaged data sets: what damage did not touch is saved, what it did is never passed off as intact.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::common::names::file;
use crate::common::rich::{Rich, assert_verifies, clips, describe, files};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use vidrec::{Dataset, RepairOptions, RepairReport, repair};

/// What was done to one file.
#[derive(Debug, Clone)]
enum Damage {
    Flip { at: usize, bit: u8 },
    Cut { at: usize },
    Zero { at: usize, length: usize },
    Remove,
}

impl Damage {
    /// Damages `bytes`; the range that is not what it was.
    fn apply(&self, bytes: &mut Vec<u8>) -> Range<usize> {
        if bytes.is_empty() {
            return 0..0;
        }
        let place = |at: usize| at % bytes.len();
        match *self {
            Damage::Flip { at, bit } => {
                let at = place(at);
                bytes[at] ^= 1 << bit;
                at..at + 1
            }
            Damage::Cut { at } => {
                let (at, end) = (place(at), bytes.len());
                bytes.truncate(at);
                at..end
            }
            Damage::Zero { at, length } => {
                let at = place(at);
                let end = (at + length).min(bytes.len());
                bytes[at..end].fill(0);
                at..end
            }
            Damage::Remove => 0..bytes.len(),
        }
    }
}

/// A data set, and what was true of it before anything happened to it.
struct Original {
    temp: TempDir,
    files: BTreeMap<String, Vec<u8>>,
    clips: Vec<Known>,
}

/// A clip as it was.
struct Known {
    all: String,
    label: Option<u32>,
    jpegs: Vec<Vec<u8>>,
    shard: String,
    records: Range<usize>,
}

impl Original {
    fn new(rich: Rich<'_>) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("original");
        rich.write(&dir);
        let set = Dataset::open(&dir).unwrap();
        let shards: Vec<String> = set.to_json().shards.iter().map(|s| s.record_file.to_string()).collect();
        let counts: Vec<u64> = set.to_json().shards.iter().map(|s| s.clips).collect();
        let mut known = Vec::new();
        let mut ordinal = 0;
        for (shard, count) in shards.iter().zip(counts) {
            let length = fs::metadata(dir.join(shard)).unwrap().len() as usize;
            for i in 0..count {
                let clip = set.clip(ordinal).unwrap();
                let begin = |clip: u64| set.clip(clip).unwrap().frame(0).unwrap().offset() as usize;
                let end = if i + 1 == count { length } else { begin(ordinal + 1) };
                known.push(Known {
                    all: describe(&clip),
                    label: clip.label(),
                    jpegs: clip.frames().map(|f| f.unwrap().jpeg().to_vec()).collect(),
                    shard: shard.clone(),
                    records: begin(ordinal)..end,
                });
                ordinal += 1;
            }
        }
        Original { files: files(&dir).into_iter().collect(), temp, clips: known }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// A file's name with the digits of its digest, by its name without them.
    fn name(&self, name: &str) -> String {
        file(self.path("original"), name).file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// A copy with some damage; the ranges that are not what they were, by file.
    fn damaged(&self, damages: &[(String, Damage)]) -> (PathBuf, BTreeMap<String, Vec<Range<usize>>>) {
        let dir = self.path("damaged");
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).unwrap();
        let mut touched: BTreeMap<String, Vec<Range<usize>>> = BTreeMap::new();
        let mut now = self.files.clone();
        for (file, damage) in damages {
            let file = self.name(file);
            let Some(bytes) = now.get_mut(&file) else { continue };
            touched.entry(file.clone()).or_default().push(damage.apply(bytes));
            if matches!(damage, Damage::Remove) {
                now.remove(&file);
            }
        }
        now.iter().for_each(|(name, bytes)| fs::write(dir.join(name), bytes).unwrap());
        (dir, touched)
    }

    /// The clip that a saved one was: it must be one of them, picture by picture, with its label.
    fn find(&self, clip: &vidrec::Clip<'_>) -> Option<usize> {
        let jpegs: Vec<Vec<u8>> = clip.frames().map(|f| f.unwrap().jpeg().to_vec()).collect();
        self.clips.iter().position(|known| known.label == clip.label() && known.jpegs == jpegs)
    }

    /// Repairs a damaged copy and holds the outcome against the truth.
    fn check(&self, damages: &[(String, Damage)]) -> RepairReport {
        let (dir, touched) = self.damaged(damages);
        let (out, before) = (self.path("out"), files(&dir));
        let _ = fs::remove_dir_all(&out);
        let report = run(&dir, Some(&out)).unwrap_or_else(|e| panic!("{damages:?}: {e}"));
        let listed = run(&dir, None).unwrap();
        assert_eq!(files(&dir), before, "{damages:?}: the damaged files were changed");
        assert_eq!(RepairReport { output: report.output.clone(), ..listed }, report);
        let saved = self.check_saved(&out, &report, damages);
        let one_file = touched.len() <= 1;
        for (i, known) in self.clips.iter().enumerate() {
            let hit = touched.get(&known.shard).is_some_and(|ranges| ranges.iter().any(|r| overlap(r, &known.records)));
            assert!(
                !one_file || hit || saved.contains(&i),
                "{damages:?}: clip {i} was not touched but lost: {report:#?}"
            );
        }
        let lost: u64 = report.lost.iter().map(|l| l.clips).sum();
        assert_eq!(report.saved + lost, report.clips, "{damages:?}: {report:#?}");
        report
    }

    /// Every saved clip is one of the original ones; which ones were saved.
    fn check_saved(&self, out: &Path, report: &RepairReport, damages: &[(String, Damage)]) -> BTreeSet<usize> {
        let mut saved = BTreeSet::new();
        if report.saved == 0 {
            assert!(report.output.is_none() && !out.join("dataset.json").exists());
            return saved;
        }
        assert_verifies(out);
        let set = Dataset::open(out).unwrap();
        assert_eq!(set.len(), report.saved);
        let mut last = None;
        for clip in set.clips() {
            let clip = clip.unwrap();
            let repaired = clip.attributes().unwrap().get::<Value>("repair").unwrap();
            let Some(i) = self.find(&clip) else {
                let unproven = repaired.is_some_and(|r| r["unproven"] == true);
                assert!(unproven, "{damages:?}: a damaged clip was passed off as intact: {report:#?}");
                continue;
            };
            assert!(last < Some(i), "{damages:?}: order");
            last = Some(i);
            saved.insert(i);
            let is_whole = describe(&clip) == self.clips[i].all;
            assert_eq!(
                repaired.is_none(),
                is_whole,
                "{damages:?}: clip {i}: {}",
                describe(&clip).split(" [").next().unwrap()
            );
        }
        saved
    }
}

fn run(damaged: &Path, output: Option<&Path>) -> vidrec::Result<RepairReport> {
    let options = RepairOptions { output: output.map(Path::to_owned), overwrite: true };
    repair(damaged, &options, &mut vidrec::no_progress)
}

/// What a saved clip has lost.
fn losses(report: &RepairReport, key: &str) -> Vec<Value> {
    report.partly_lost.iter().map(|clip| clip.what[key].clone()).collect()
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

const FILES: [&str; 5] = ["shard-00000.rec", "shard-00000.vidx", "shard-00001.rec", "shard-00001.vidx", "dataset.json"];

fn damage() -> impl Strategy<Value = (String, Damage)> {
    let at = || any::<prop::sample::Index>().prop_map(|i| i.index(1 << 20));
    let kinds = prop_oneof![
        6 => (at(), 0u8..8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        2 => at().prop_map(|at| Damage::Cut { at }),
        3 => (at(), 1usize..3000).prop_map(|(at, length)| Damage::Zero { at, length }),
        1 => Just(Damage::Remove),
    ];
    (prop::sample::select(FILES.to_vec()).prop_map(str::to_owned), kinds)
}

/// Cases of each property: few in the suite, many on demand.
fn cases() -> u32 {
    std::env::var("VIDREC_SOAK_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn damage_of_one_file_costs_what_it_touches_and_no_more(damage in damage()) {
        Original::new(Rich::default()).check(&[damage]);
    }

    #[test]
    fn nothing_damaged_is_passed_off_as_intact(damages in prop::collection::vec(damage(), 1..5)) {
        let removed = damages.iter().filter(|(_, d)| matches!(d, Damage::Remove)).count();
        prop_assume!(removed < 3);
        Original::new(Rich::default()).check(&damages);
    }
}

#[test]
fn a_whole_set_is_copied_byte_for_byte() {
    let original = Original::new(Rich::default());
    let report = original.check(&[]);
    assert!(report.lost_nothing() && report.damage.is_empty() && report.saved == 7, "{report:#?}");
    assert_eq!(files(&original.path("out")), original.files.clone().into_iter().collect::<Vec<_>>());
    // The same where the entries of an index prove themselves: header, section table, footer, or a file that is cut there.
    let length = original.files[&original.name("shard-00000.vidx")].len();
    for at in [0, 8, 9, 12, 33, 45, 62, length - 24 - 100, length - 30, length - 20, length - 1] {
        for damage in [Damage::Flip { at, bit: 2 }, Damage::Cut { at: at.max(length - 200) }] {
            let report = original.check(&[("shard-00000.vidx".into(), damage.clone())]);
            assert!(report.lost_nothing() && report.damage.len() == 1, "{damage:?}: {report:#?}");
            assert_eq!(files(&original.path("out")), original.files.clone().into_iter().collect::<Vec<_>>());
        }
    }
    for damage in [Damage::Remove, Damage::Cut { at: 100 }, Damage::Zero { at: 0, length: 5 }] {
        let report = original.check(&[("dataset.json".into(), damage)]);
        assert!(report.lost_nothing() && report.damage[0].contains("dataset.json cannot be used"), "{report:#?}");
        assert_eq!(files(&original.path("out")), original.files.clone().into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_lost_index_costs_what_only_it_had() {
    let original = Original::new(Rich::default());
    let lost = [("shard-00001.vidx".to_owned(), Damage::Remove)];
    // The digits in its name have the SHA-256 of the record file, too, which proves what the index did.
    for damages in [&lost[..], &[&lost[..], &[("dataset.json".into(), Damage::Remove)]].concat()] {
        let report = original.check(damages);
        assert_eq!((report.saved, report.lost.len()), (7, 0), "{report:#?}");
        assert_eq!(losses(&report, "lost"), vec![json!(["source", "attributes", "times"]); 3]);
        assert_eq!(losses(&report, "unproven"), vec![Value::Null; 3]);
        let set = Dataset::open(original.path("out")).unwrap();
        let clip = set.clip(5).unwrap();
        assert_eq!((clip.label(), &*clip.class().unwrap(), &*clip.source().unwrap()), (Some(2), "jump", ""));
        assert_eq!((clip.width(), clip.height()), (24, 16));
        let saved = clips(&original.path("out"));
        assert_eq!(saved[..4], original.clips[..4].iter().map(|c| c.all.clone()).collect::<Vec<_>>());
    }
}

#[test]
fn without_any_checksum_clips_are_marked() {
    let original = Original::new(Rich::default());
    let record = Damage::Flip { at: 5, bit: 0 };
    let damages = [("shard-00000.vidx".to_owned(), Damage::Remove), ("shard-00000.rec".to_owned(), record)];
    let report = original.check(&damages);
    assert!(report.lost[0].clip == 0 && report.saved == 6, "{report:#?}");
    assert_eq!(losses(&report, "unproven"), vec![json!(true); 3]);
    assert_eq!(
        clips(&original.path("out"))[3..],
        original.clips[4..].iter().map(|c| c.all.clone()).collect::<Vec<_>>()
    );
}

#[test]
fn a_label_without_a_class_costs_its_clip() {
    let original = Original::new(Rich { classes: &["a", "b", "c", "d", "e"], ..Rich::default() });
    let clip = &original.clips[3];
    assert_eq!((clip.label, clip.jpegs.len()), (Some(3), 1));
    // The highest byte of the label: 12 instead of 3.
    let label = (clip.shard.clone(), Damage::Flip { at: clip.records.start + 8 + 7, bit: 0 });
    let report = original.check(&[("shard-00000.vidx".into(), Damage::Remove), label]);
    let reason = report.lost[0].what.as_str().unwrap();
    assert!(report.saved == 6 && reason.contains("a label without a class: 12"), "{report:#?}");
}

#[test]
fn a_missing_record_file_costs_its_clips_by_name() {
    let original = Original::new(Rich::default());
    let report = original.check(&[("shard-00001.rec".into(), Damage::Remove)]);
    let sources: Vec<_> = report.lost.iter().map(|l| &*l.source).collect();
    assert_eq!(sources, ["dir/é4.mp4", "dir/é5.mp4", "dir/é6.mp4"]);
}

#[test]
fn a_lost_draw_takes_the_others_of_its_video_along() {
    let draws = Rich { shards: &[6], draws: Some(2), ..Rich::default() };
    let original = Original::new(draws);
    let at = original.clips[2].records.start + 40;
    let (dir, _) = original.damaged(&[("shard-00000.rec".into(), Damage::Flip { at, bit: 1 })]);
    let report = run(&dir, Some(&original.path("out"))).unwrap();
    assert_eq!(report.lost.iter().map(|l| l.clip).collect::<Vec<_>>(), [2, 3], "{report:#?}");
    assert_eq!(clips(&original.path("out")).len(), 4);
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
    fs::write(temp.path().join("a-0123456789ab.rec"), b"").unwrap();
    let e = run(temp.path(), None).unwrap_err().to_string();
    assert!(e.contains("a-0123456789ab.rec and a.rec") && e.contains("move the one away"), "{e}");
}

/// Checksums made to fit, but counts that no file of this size can have.
#[test]
fn counts_that_cannot_be_cost_no_memory() {
    use vidrec::raw::crc32;
    let original = Original::new(Rich::default());
    for at in [40, 48] {
        let (dir, _) = original.damaged(&[]);
        let path = file(&dir, "shard-00000.vidx");
        let mut index = original.files[path.file_name().unwrap().to_str().unwrap()].clone();
        index[at..at + 8].copy_from_slice(&(1u64 << 31).to_le_bytes());
        let crc = crc32(&index[..60]);
        index[60..64].copy_from_slice(&crc.to_le_bytes());
        fs::remove_file(&path).unwrap();
        fs::write(&path, &index).unwrap();
        let report = run(&dir, None).unwrap();
        assert!(report.saved >= 3 && report.lost.len() < 100, "{report:#?}");
        assert_eq!(report.saved + report.lost.iter().map(|lost| lost.clips).sum::<u64>(), report.clips);
    }
}

/// Clips without frames between clips with some: each is saved if its entry is intact, and costs no other one.
#[test]
fn clips_without_frames_are_saved_by_their_entries() {
    let temp = tempfile::tempdir().unwrap();
    let (set, copy) = (temp.path().join("set"), temp.path().join("copy"));
    let mut writer = vidrec::Writer::create(&set, vidrec::WriterOptions::default()).unwrap();
    let picture = crate::common::jpeg((16, 16), 1);
    for (i, frames) in [0, 2, 0, 1, 0].into_iter().enumerate() {
        let (width, height) = if frames > 0 { (16, 16) } else { (0, 0) };
        let info = vidrec::ClipInfo { source: i.to_string(), label: Some(7), width, height, ..Default::default() };
        let frame = vidrec::FrameData { jpeg: &picture, pts: 0, source_index: None };
        writer.append(&info, &vec![frame; frames]).unwrap();
    }
    writer.finish().unwrap();
    assert_verifies(&set);
    let whole = clips(&set);
    let index = file(&set, "shard-00000.vidx").file_name().unwrap().to_owned();
    let clip_table = 64 + 3 * 32;
    // The header, and the entry of each clip.
    for (at, lost) in [(41, None), (clip_table, Some(0)), (clip_table + 80, Some(1)), (clip_table + 160, Some(2))] {
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir(&copy).unwrap();
        for (name, mut bytes) in files(&set) {
            if index == *name {
                bytes[at] ^= 1;
            }
            fs::write(copy.join(name), bytes).unwrap();
        }
        let report = run(&copy, Some(&temp.path().join("fixed"))).unwrap();
        let fixed = clips(&temp.path().join("fixed"));
        match lost {
            None => assert_eq!(fixed, whole),
            // Its records say what it is, but for its names.
            Some(1) => {
                assert_eq!((report.saved, &fixed[0], &fixed[2..]), (5, &whole[0], &whole[2..]));
                assert!(fixed[1].contains("\"\" Some(7)"), "{}", fixed[1]);
            }
            Some(lost) => assert_eq!(fixed, [&whole[..lost], &whole[lost + 1..]].concat()),
        }
    }
}
