//! Damaged data sets: what damage did not touch is saved, what it did is never passed off as intact.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::common::names::file;
use crate::common::rich::{Rich, assert_verifies, clips, describe, files};
use proptest::prelude::*;
use serde_json::Value;
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
        let out = self.path("out");
        let options = RepairOptions { output: Some(out.clone()), overwrite: true, ..RepairOptions::default() };
        let _ = fs::remove_dir_all(&out);
        let report = match repair(&dir, &options, &mut vidrec::no_progress) {
            Ok(report) => report,
            // Nothing tells a header with several damages, one of them in its version, from one of a newer version.
            Err(e) if damages.len() > 1 && e.rule() == Some("index-version") => return RepairReport::default(),
            Err(e) => panic!("{damages:?}: {e}"),
        };
        let dry = RepairOptions { dry_run: true, ..RepairOptions::default() };
        let dry = repair(&dir, &dry, &mut vidrec::no_progress).unwrap();
        assert_eq!((&dry.lost, &dry.partly_lost, dry.salvaged), (&report.lost, &report.partly_lost, report.salvaged));
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
        assert_eq!(report.salvaged + lost, report.clips, "{damages:?}: {report:#?}");
        let now: BTreeMap<_, _> = files(&dir).into_iter().collect();
        let same = |name: &str| now.get(name) == self.files.get(name);
        // That list may end without its line end.
        let all_same = self.files.keys().all(|name| same(name) || (report.whole && name == "dataset.json"));
        assert_eq!(report.whole, all_same, "{damages:?}: {report:#?}");
        report
    }

    /// Every saved clip is one of the original ones; which ones were saved.
    fn check_saved(&self, out: &Path, report: &RepairReport, damages: &[(String, Damage)]) -> BTreeSet<usize> {
        let mut saved = BTreeSet::new();
        if report.salvaged == 0 {
            assert!(report.written.is_empty());
            return saved;
        }
        assert_verifies(out);
        let set = Dataset::open(out).unwrap();
        assert_eq!(set.len(), report.salvaged);
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

/// Each bit of the heads and tails of all files, and with `VIDREC_SOAK_CASES` of all bytes.
#[test]
fn a_flip_of_any_byte() {
    let original = Original::new(Rich { shards: &[2, 1], ..Rich::default() });
    let soak = std::env::var_os("VIDREC_SOAK_CASES").is_some();
    for (file, bytes) in &original.files {
        let step = if soak { 1 } else { 149 };
        for at in (0..bytes.len()).step_by(step) {
            original.check(&[(file.clone(), Damage::Flip { at, bit: (at % 8) as u8 })]);
        }
    }
}

#[test]
fn a_whole_set_is_left_alone() {
    let original = Original::new(Rich::default());
    let report = repair(original.path("original"), &RepairOptions::default(), &mut vidrec::no_progress).unwrap();
    assert!(report.whole && report.written.is_empty() && report.salvaged == 7, "{report:#?}");
    assert_eq!(files(&original.path("original")), original.files.clone().into_iter().collect::<Vec<_>>());
    let copied = original.check(&[]);
    assert!(copied.whole);
    assert_eq!(files(&original.path("out")), original.files.clone().into_iter().collect::<Vec<_>>());
}

#[test]
fn an_index_that_is_damaged_where_nothing_is_lost_is_rebuilt_byte_for_byte() {
    let original = Original::new(Rich::default());
    let name = original.name("shard-00000.vidx");
    let length = original.files[&name].len();
    // Header, section table and footer.
    for at in [0, 9, 33, 45, 62, length - 24 - 100, length - 30, length - 20, length - 1] {
        let (dir, _) = original.damaged(&[("shard-00000.vidx".into(), Damage::Flip { at, bit: 2 })]);
        let report = repair(&dir, &RepairOptions::default(), &mut vidrec::no_progress).unwrap();
        assert!(report.lost_nothing() && !report.whole, "{at}: {report:#?}");
        assert_eq!(report.written.len(), 1, "{report:#?}");
        let now: BTreeMap<_, _> = files(&dir).into_iter().collect();
        assert_eq!(now[&name], original.files[&name], "{at}");
        assert!(now.contains_key(&format!("{name}.broken")));
        assert_verifies(&dir);
    }
}

/// A file of a newer version is no damaged one: repair would drop what only a newer vidrec knows.
#[test]
fn files_of_a_newer_version_are_left_alone() {
    let original = Original::new(Rich::default());
    let sealed = |head: &mut Vec<u8>, at: usize, value: u8| {
        head[at] = value;
        let crc = crc32fast::hash(&head[..60]);
        head[60..64].copy_from_slice(&crc.to_le_bytes());
    };
    let index = original.name("shard-00001.vidx");
    for (rule, at, value) in [("index-version", 8, 2), ("index-flags", 12, 1)] {
        let (dir, _) = original.damaged(&[]);
        let mut bytes = original.files[&index].clone();
        sealed(&mut bytes, at, value);
        fs::write(dir.join(&index), bytes).unwrap();
        refused(&dir, rule);
    }
    let (dir, _) =
        original.damaged(&[("shard-00000.vidx".into(), Damage::Remove), ("shard-00001.vidx".into(), Damage::Remove)]);
    let listing = fs::read_to_string(dir.join("dataset.json")).unwrap();
    let newer = listing.replacen(r#""format_version": 1"#, r#""format_version": 2"#, 1);
    assert_ne!(newer, listing);
    fs::write(dir.join("dataset.json"), &newer).unwrap();
    let e = repair(&dir, &RepairOptions::default(), &mut vidrec::no_progress).unwrap_err();
    assert_eq!(e.rule(), Some("dataset-version"), "{e}");
    // An intact index says that only the list is damaged.
    let (dir, _) = original.damaged(&[]);
    fs::write(dir.join("dataset.json"), &newer).unwrap();
    let report = repair(&dir, &RepairOptions::default(), &mut vidrec::no_progress).unwrap();
    assert!(report.lost_nothing() && report.written.len() == 1, "{report:#?}");
    assert_verifies(&dir);
}

/// Repair refuses `dir` by a rule, in each of its ways, and writes nothing.
fn refused(dir: &Path, rule: &str) {
    let before = files(dir);
    let out = dir.with_extension("out");
    let ways = [(None, false), (None, true), (Some(out.clone()), false)];
    for (output, dry_run) in ways {
        let options = RepairOptions { output, dry_run, ..RepairOptions::default() };
        let e = repair(dir, &options, &mut vidrec::no_progress).unwrap_err();
        assert_eq!(e.rule(), Some(rule), "{e}");
        assert!(e.to_string().contains("use a newer version"), "{e}");
    }
    assert!(files(dir) == before && !out.exists());
    let report = vidrec::verify(dir, vidrec::VerifyOptions::default(), &mut vidrec::no_progress).unwrap();
    assert!(!report.ok && !report.hints.contains(&vidrec::Hint::Repair), "{report:#?}");
}

#[test]
fn a_lost_index_is_rebuilt_beside_its_record_file() {
    let original = Original::new(Rich::default());
    let (dir, _) = original.damaged(&[("shard-00001.vidx".into(), Damage::Remove)]);
    let report = repair(&dir, &RepairOptions::default(), &mut vidrec::no_progress).unwrap();
    assert_eq!((report.salvaged, report.lost.len(), report.partly_lost.len()), (7, 0, 3), "{report:#?}");
    // dataset.json has the SHA-256 of the record file, which proves what the index did.
    assert!(report.partly_lost.iter().all(|p| p.repair.get::<bool>("unproven").unwrap().is_none()), "{report:#?}");
    assert_verifies(&dir);
    let set = Dataset::open(&dir).unwrap();
    let clip = set.clip(5).unwrap();
    assert_eq!((clip.label(), &*clip.class().unwrap(), &*clip.source().unwrap()), (Some(2), "jump", ""));
    assert_eq!((clip.width(), clip.height()), (24, 16));
    assert_eq!(clip.frame(0).unwrap().jpeg(), original.clips[5].jpegs[0]);
    assert_eq!(clips(&dir)[..4], original.clips[..4].iter().map(|c| c.all.clone()).collect::<Vec<_>>());
    let again = repair(&dir, &RepairOptions::default(), &mut vidrec::no_progress).unwrap();
    assert!(again.whole && again.written.is_empty(), "{again:#?}");
}

#[test]
fn a_lost_list_of_shards_is_made_anew() {
    let original = Original::new(Rich::default());
    for damage in [Damage::Remove, Damage::Cut { at: 100 }, Damage::Zero { at: 0, length: 5 }] {
        let (dir, _) = original.damaged(&[("dataset.json".into(), damage)]);
        let report = repair(&dir, &RepairOptions::default(), &mut vidrec::no_progress).unwrap();
        assert!(report.lost_nothing() && report.written.len() == 1, "{report:#?}");
        assert_eq!(fs::read(dir.join("dataset.json")).unwrap(), original.files["dataset.json"]);
    }
}

#[test]
fn record_files_are_never_changed_in_place() {
    let original = Original::new(Rich::default());
    let (dir, _) = original.damaged(&[("shard-00000.rec".into(), Damage::Flip { at: 500, bit: 1 })]);
    let before = files(&dir);
    let report = repair(&dir, &RepairOptions::default(), &mut vidrec::no_progress).unwrap();
    assert!(report.needs_output && report.written.is_empty(), "{report:#?}");
    assert_eq!((report.salvaged, report.lost.len()), (6, 1));
    let lost = &report.lost[0];
    assert_eq!((lost.clip, lost.source.as_deref(), &lost.frames[..]), (0, Some("dir/é0.mp4"), &[0][..]));
    assert_eq!(files(&dir), before);
    let same = RepairOptions { output: Some(dir.clone()), overwrite: true, ..RepairOptions::default() };
    assert!(repair(&dir, &same, &mut vidrec::no_progress).is_err());
    assert_eq!(files(&dir), before);
}

#[test]
fn without_any_checksum_clips_are_marked_or_left_out() {
    let original = Original::new(Rich::default());
    let damages = [
        ("shard-00000.vidx".to_owned(), Damage::Remove),
        ("shard-00000.rec".to_owned(), Damage::Flip { at: 5, bit: 0 }),
    ];
    let report = original.check(&damages);
    assert!(report.lost[0].clip == 0 && report.salvaged == 6, "{report:#?}");
    assert_eq!(report.partly_lost.iter().filter(|p| p.repair.get("unproven").unwrap() == Some(true)).count(), 3);
    let (dir, _) = original.damaged(&damages);
    let out = original.path("proven");
    let options = RepairOptions { output: Some(out.clone()), proven_only: true, ..RepairOptions::default() };
    let report = repair(&dir, &options, &mut vidrec::no_progress).unwrap();
    assert_eq!(report.salvaged, 3, "{report:#?}");
    assert_eq!(clips(&out), original.clips[4..].iter().map(|c| c.all.clone()).collect::<Vec<_>>());
}

#[test]
fn class_names_that_no_checksum_proves_are_put_right_by_the_clips() {
    let original = Original::new(Rich::default());
    let place = |file: &str, text: &str| {
        let bytes = &original.files[&original.name(file)];
        bytes.windows(text.len()).rposition(|window| window == text.as_bytes()).unwrap()
    };
    let meta = |file: &str| (file.to_owned(), Damage::Flip { at: place(file, "\"classes\""), bit: 0 });
    let name = Damage::Flip { at: place("dataset.json", "walk"), bit: 4 };
    let damages = [meta("shard-00000.vidx"), meta("shard-00001.vidx"), ("dataset.json".to_owned(), name)];
    let report = original.check(&damages);
    assert!(report.salvaged == 7 && report.lost_nothing(), "{report:#?}");
    assert_eq!(Dataset::open(original.path("out")).unwrap().classes(), ["run", "walk", "jump"]);
}

#[test]
fn a_label_without_a_class_costs_its_clip() {
    let original = Original::new(Rich { classes: &["a", "b", "c", "d", "e"], ..Rich::default() });
    let clip = &original.clips[3];
    assert_eq!((clip.label, clip.jpegs.len()), (Some(3), 1));
    // The highest byte of the label: 12 instead of 3.
    let label = (clip.shard.clone(), Damage::Flip { at: clip.records.start + 8 + 7, bit: 0 });
    let report = original.check(&[("shard-00000.vidx".into(), Damage::Remove), label]);
    assert!(report.salvaged == 6 && report.lost[0].label == Some(12), "{report:#?}");
}

#[test]
fn a_missing_record_file_costs_its_clips_by_name() {
    let original = Original::new(Rich::default());
    let report = original.check(&[("shard-00001.rec".into(), Damage::Remove)]);
    let sources: Vec<_> = report.lost.iter().map(|l| l.source.as_deref().unwrap()).collect();
    assert_eq!(sources, ["dir/é4.mp4", "dir/é5.mp4", "dir/é6.mp4"]);
}

#[test]
fn a_lost_draw_takes_the_others_of_its_video_along() {
    let draws = Rich { shards: &[6], draws: Some(2), ..Rich::default() };
    let original = Original::new(draws);
    let at = original.clips[2].records.start + 40;
    let (dir, _) = original.damaged(&[("shard-00000.rec".into(), Damage::Flip { at, bit: 1 })]);
    let options = RepairOptions { output: Some(original.path("out")), ..RepairOptions::default() };
    let report = repair(&dir, &options, &mut vidrec::no_progress).unwrap();
    assert_eq!(report.lost.iter().map(|l| l.clip).collect::<Vec<_>>(), [2, 3], "{report:#?}");
    assert_eq!(clips(&original.path("out")).len(), 4);
}

#[test]
fn what_is_no_data_set_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let dry = RepairOptions { dry_run: true, ..RepairOptions::default() };
    for path in [temp.path().to_owned(), temp.path().join("no"), temp.path().join("no.rec")] {
        assert!(repair(&path, &dry, &mut vidrec::no_progress).is_err(), "{}", path.display());
    }
    fs::write(temp.path().join("a.rec"), b"").unwrap();
    let report = repair(temp.path(), &dry, &mut vidrec::no_progress).unwrap();
    assert_eq!((report.clips, report.salvaged, report.whole), (0, 0, false), "{report:#?}");
}

/// Checksums made to fit, but counts that no file of this size can have.
#[test]
fn counts_that_cannot_be_cost_one_clip_and_no_memory() {
    use vidrec::raw::{clip_entry, crc32, frame_entry, header};
    let original = Original::new(Rich::default());
    let (dir, _) = original.damaged(&[]);
    let path = file(&dir, "shard-00000.vidx");
    let mut index = fs::read(&path).unwrap();
    let frames = u64::from_le_bytes(index[48..56].try_into().unwrap()) as usize;
    index[48..56].copy_from_slice(&(1u64 << 31).to_le_bytes());
    let crc = crc32(&index[..60]);
    index[60..64].copy_from_slice(&crc.to_le_bytes());
    let clip = &mut index[header::BYTES + frames * frame_entry::BYTES..][..clip_entry::BYTES];
    clip[8..12].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    let crc = crc32(&[&clip[..76], &0u64.to_le_bytes()].concat());
    clip[76..80].copy_from_slice(&crc.to_le_bytes());
    fs::remove_file(&path).unwrap();
    fs::write(&path, &index).unwrap();
    let dry = RepairOptions { dry_run: true, ..RepairOptions::default() };
    let report = repair(&dir, &dry, &mut vidrec::no_progress).unwrap();
    assert_eq!((report.salvaged, report.lost[0].clip), (6, 0), "{report:#?}");
    assert!(report.lost[0].reason.contains("that many frames"), "{report:#?}");
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
        let options = RepairOptions { output: Some(temp.path().join("fixed")), overwrite: true, ..Default::default() };
        let report = repair(&copy, &options, &mut vidrec::no_progress).unwrap();
        let fixed = clips(&temp.path().join("fixed"));
        match lost {
            None => assert_eq!(fixed, whole),
            // Its records say what it is, but for its names.
            Some(1) => {
                assert_eq!((report.salvaged, &fixed[0], &fixed[2..]), (5, &whole[0], &whole[2..]));
                assert!(fixed[1].contains("\"\" Some(7)"), "{}", fixed[1]);
            }
            Some(lost) => assert_eq!(fixed, [&whole[..lost], &whole[lost + 1..]].concat()),
        }
    }
}
