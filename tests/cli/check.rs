//! `vidrec check` and the library behind it: what is planted is found, and what is ordinary is not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use vidrec::check::{CheckOptions, CheckReport, FindingKind, check};
use vidrec::jpeg::{Decoder, Encoder};
use vidrec::{ClipInfo, Dataset, FrameData, JsonObject, Planes, Writer, WriterOptions, no_progress};

use crate::common::program_runs::Place;
use crate::common::{damage, names};

/// How a picture is encoded.
#[derive(Clone, Copy)]
struct Look {
    size: (u32, u32),
    quality: u8,
    mirrored: bool,
}

const PLAIN: Look = Look { size: (160, 128), quality: 90, mirrored: false };
const SMALL: Look = Look { size: (96, 72), quality: 40, ..PLAIN };

/// A JPEG of a picture, given as the luma at each place from 0 to 1.
fn picture(look: Look, luma: impl Fn(f64, f64) -> f64) -> Vec<u8> {
    let (width, height) = look.size;
    let mut planes = Planes::new(width, height).unwrap();
    for (i, value) in planes.y.iter_mut().enumerate() {
        let x = (f64::from(i as u32 % width) + 0.5) / f64::from(width);
        let y = (f64::from(i as u32 / width) + 0.5) / f64::from(height);
        *value = luma(if look.mirrored { 1.0 - x } else { x }, y).clamp(0.0, 255.0) as u8;
    }
    let mut jpeg = Vec::new();
    Encoder::new(look.quality).unwrap().encode(&planes, &mut jpeg).unwrap();
    jpeg
}

/// A number from 0 to 1 that depends on both.
fn random(seed: u64, i: u64) -> f64 {
    let mut value = (seed << 32 | i).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    f64::from((value ^ value >> 27) as u32) / f64::from(u32::MAX)
}

/// A scene: eight blurred blobs on a sloping ground, which drift with time.
fn scene(seed: u64, time: f64) -> impl Fn(f64, f64) -> f64 {
    let blobs: Vec<[f64; 5]> = (0..8).map(|b| std::array::from_fn(|i| random(seed, b * 5 + i as u64))).collect();
    let slope = (random(seed, 98) - 0.5, random(seed, 99) - 0.5);
    move |x, y| {
        let ground = 120.0 + 80.0 * (slope.0 * x + slope.1 * y);
        let light = |blob: &[f64; 5]| {
            let (dx, dy) = (x - blob[0] - 0.02 * time * (blob[3] - 0.5), y - blob[1] - 0.02 * time * (blob[4] - 0.5));
            let radius = 0.03 + 0.15 * blob[2];
            (blob[3] - 0.5) * 240.0 * (-(dx * dx + dy * dy) / (radius * radius)).exp()
        };
        ground + blobs.iter().map(light).sum::<f64>()
    }
}

fn moving(seed: u64, look: Look) -> Vec<Vec<u8>> {
    (0..8).map(|t| picture(look, scene(seed, f64::from(t)))).collect()
}

/// Half of one scene and half of another.
fn cut() -> Vec<Vec<u8>> {
    moving(9, PLAIN).into_iter().take(5).chain(moving(11, PLAIN).into_iter().take(3)).collect()
}

fn black() -> Vec<Vec<u8>> {
    vec![picture(PLAIN, |_, _| 0.0); 8]
}

struct Made {
    source: &'static str,
    class: Option<u32>,
    frames: Vec<Vec<u8>>,
    attributes: Value,
    short: bool,
}

fn clip(source: &'static str, class: u32, frames: Vec<Vec<u8>>) -> Made {
    Made { source, class: Some(class), frames, attributes: json!({}), short: false }
}

const CLASSES: [&str; 3] = ["run", "walk", "jump"];

fn write(dir: &Path, clips: &[Made], draws: Option<u32>) {
    let mut options = WriterOptions { overwrite: true, ..WriterOptions::default() };
    options.meta.classes = CLASSES.map(str::to_owned).to_vec();
    options.meta.draws = draws;
    let mut writer = Writer::create(dir, options).unwrap();
    for made in clips {
        let first = Decoder::new().unwrap().decode_picture(&made.frames[0]).unwrap();
        let info = ClipInfo {
            label: made.class,
            width: first.width,
            height: first.height,
            source: made.source.into(),
            class: made.class.map_or(String::new(), |class| CLASSES[class as usize].into()),
            attributes: JsonObject::of(&made.attributes).unwrap(),
            time_base: (1, 8),
            short: made.short,
        };
        let pts = |t: usize| if made.short { 0 } else { t as i64 };
        let frames = made.frames.iter().enumerate();
        let frames: Vec<_> = frames.map(|(t, jpeg)| FrameData { jpeg, pts: pts(t), source_index: None }).collect();
        writer.append(&info, &frames).unwrap();
    }
    writer.finish().unwrap();
}

fn set(place: &Place, name: &str, clips: &[Made]) -> Dataset {
    write(&place.at(name), clips, None);
    Dataset::open(place.at(name)).unwrap()
}

fn report(sets: &[Dataset]) -> CheckReport {
    check(sets, &CheckOptions::default(), &mut no_progress).unwrap()
}

/// The clips of the findings of each kind, by set and number.
fn found(report: &CheckReport) -> BTreeMap<FindingKind, Vec<Vec<(usize, u64)>>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for finding in &report.findings {
        found.entry(finding.kind).or_default().push(finding.clips.iter().map(|clip| (clip.set, clip.clip)).collect());
    }
    found
}

/// Ordinary clips: movement, a still camera before which something small moves, text, line drawings, a flash, one frame,
/// a video of one frame that is repeated, a fast camera.
fn ordinary() -> Vec<Made> {
    let small = |t: u32| {
        picture(PLAIN, move |x, y| {
            let place = 0.3 + 0.01 * f64::from(t);
            if (x - place).abs() < 0.02 && (y - 0.5).abs() < 0.02 { 230.0 } else { scene(100, 0.0)(x, y) }
        })
    };
    let lines = |seed: u64, page: u64| {
        // A page of text: dark words of different length on white.
        picture(PLAIN, move |x, y| {
            let (line, word) = ((y * 20.0) as u64, (x * 12.0) as u64);
            let is_ink = (y * 20.0).fract() < 0.5 && (x * 12.0).fract() < random(seed + page, line * 12 + word);
            if is_ink { 20.0 } else { 240.0 }
        })
    };
    let typed = |t: u64| (0..8).map(|i| lines(200, t + i)).collect();
    let mut flash = moving(102, PLAIN);
    flash[4] = picture(PLAIN, |x, y| 130.0 + scene(102, 4.0)(x, y) / 2.0);
    vec![
        clip("moving.mp4", 0, moving(101, PLAIN)),
        clip("still.mp4", 1, (0..8).map(small).collect()),
        clip("text.mp4", 2, typed(0)),
        clip("more-text.mp4", 0, typed(50)),
        clip("flash.mp4", 1, flash),
        clip("one.jpg", 2, vec![picture(PLAIN, scene(103, 0.0))]),
        Made { short: true, ..clip("short.mp4", 2, vec![picture(PLAIN, scene(104, 0.0)); 8]) },
        clip("fast.mp4", 0, (0..8).map(|t| picture(PLAIN, scene(110 + t, 0.0))).collect()),
        Made { class: None, ..clip("unlabeled.mp4", 0, moving(105, Look { size: (24, 20), ..PLAIN })) },
    ]
}

#[test]
fn ordinary_clips_are_not_found() {
    let place = Place::new();
    let report = report(&[set(&place, "set", &ordinary())]);
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!((report.clips, report.frames), (9, 8 * 7 + 2));
    assert_eq!(report.counts.len(), FindingKind::ALL.len());
    assert!(place.text("check set", 0).starts_with("nothing found: 9 clips"));
}

#[test]
fn what_is_planted_in_a_clip_is_found() {
    let place = Place::new();
    let plain = |luma: f64| vec![picture(PLAIN, move |_, _| luma); 4];
    let noisy = |t: u64| {
        picture(PLAIN, move |x, y| {
            scene(7, 0.0)(x, y) + 2.0 * random(t, (x * 160.0) as u64 + 160 * (y * 128.0) as u64) - 1.0
        })
    };
    let mut stalled = moving(8, PLAIN);
    (3..6).for_each(|t| stalled[t] = stalled[2].clone());
    let bright = |t: u64| picture(PLAIN, move |x, y| if y < 0.7 { 255.0 } else { scene(16, t as f64)(x, y) });
    let night = |t: u64| picture(PLAIN, move |x, y| scene(12, t as f64)(x, y) / 8.0 + 12.0);
    let clips = [
        clip("black.mp4", 0, plain(5.0)),
        clip("gray.mp4", 0, plain(130.0)),
        clip("night.mp4", 0, (0..8).map(night).collect()),
        clip("bright.mp4", 0, (0..8).map(bright).collect()),
        clip("frozen.mp4", 0, (0..8).map(noisy).collect()),
        clip("stalled.mp4", 0, stalled),
        clip("cut.mp4", 0, cut()),
        Made {
            attributes: json!({"video": {"decode_errors": 2, "first_error": "no frame!"}}),
            ..clip("faulty.mp4", 0, moving(13, PLAIN))
        },
        clip("fine.mp4", 0, moving(14, PLAIN)),
        clip("damaged.mp4", 0, moving(15, PLAIN)),
    ];
    write(&place.at("set"), &clips, None);
    damage(&place.at("set"), 9, 3);
    let report = report(&[Dataset::open(place.at("set")).unwrap()]);
    let expected = [
        (FindingKind::Black, 0),
        (FindingKind::Uniform, 1),
        (FindingKind::Dark, 2),
        (FindingKind::BlownOut, 3),
        (FindingKind::Frozen, 4),
        (FindingKind::RepeatedFrames, 5),
        (FindingKind::SceneCut, 6),
        (FindingKind::Corrupt, 9),
        (FindingKind::Substituted, 7),
    ];
    let expected: BTreeMap<_, _> = expected.into_iter().map(|(kind, clip)| (kind, vec![vec![(0, clip)]])).collect();
    assert_eq!(found(&report), expected, "{:#?}", report.findings);
    let of = |kind| report.findings.iter().find(|finding| finding.kind == kind).unwrap();
    assert_eq!(of(FindingKind::SceneCut).frames, [5]);
    assert_eq!(of(FindingKind::RepeatedFrames).frames, [3, 4, 5]);
    assert_eq!(of(FindingKind::Corrupt).frames, [3]);
    assert!(of(FindingKind::Corrupt).text.contains("CRC-32"), "{}", of(FindingKind::Corrupt).text);
    assert!(of(FindingKind::Substituted).text.ends_with("2 decoding errors; first: no frame!"));
    let black = &of(FindingKind::Black).clips[0];
    assert_eq!((black.source.as_str(), black.class.as_deref()), ("black.mp4", Some("run")));
    assert_eq!(report.sets[0].found_clips, 9);
}

#[test]
fn duplicates_leaks_and_conflicting_labels_are_found() {
    let place = Place::new();
    let mirrored = Look { mirrored: true, quality: 75, ..PLAIN };
    let train = set(
        &place,
        "train",
        &[
            clip("a.mp4", 0, moving(1, PLAIN)),
            clip("b.mp4", 1, moving(2, PLAIN)),
            clip("a-again.mp4", 0, moving(1, SMALL)),
            clip("c.mp4", 2, moving(3, PLAIN)),
            clip("d.mp4", 2, moving(4, PLAIN)),
            // Black clips are found as such, and not as duplicates.
            clip("black.mp4", 0, black()),
            clip("black-too.mp4", 0, black()),
        ],
    );
    let val = set(
        &place,
        "val",
        &[
            clip("x.mp4", 1, moving(20, PLAIN)),
            clip("leaked.mp4", 2, moving(3, SMALL)),
            clip("mirrored.mp4", 1, moving(4, mirrored)),
            clip("y.mp4", 1, moving(21, PLAIN)),
        ],
    );
    let report = report(&[train, val]);
    let expected = BTreeMap::from([
        (FindingKind::Black, vec![vec![(0, 5)], vec![(0, 6)]]),
        (FindingKind::NearDuplicate, vec![vec![(0, 0), (0, 2)]]),
        (FindingKind::Leak, vec![vec![(0, 3), (1, 1)], vec![(0, 4), (1, 2)]]),
        (FindingKind::LabelConflict, vec![vec![(0, 4), (1, 2)]]),
    ]);
    assert_eq!(found(&report), expected, "{:#?}", report.findings);
    let texts: Vec<&str> = report.findings.iter().map(|finding| finding.text.as_str()).collect();
    assert!(
        texts.iter().any(|text| text.contains("mirrored")) && texts.iter().any(|text| text.contains("jump, walk")),
        "{texts:?}"
    );
}

#[test]
fn draws_and_moments_of_one_video_are_no_duplicates() {
    let place = Place::new();
    let twice = [clip("a.mp4", 0, moving(1, PLAIN)), clip("a.mp4", 0, moving(1, PLAIN))];
    write(&place.at("draws"), &twice, Some(2));
    assert!(report(&[Dataset::open(place.at("draws")).unwrap()]).is_clean());
    // The same moment of a video twice, with two labels.
    let listed = [clip("a.mp4", 0, moving(1, PLAIN)), clip("a.mp4", 1, moving(1, PLAIN))];
    let found = found(&report(&[set(&place, "listed", &listed)]));
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), [FindingKind::NearDuplicate, FindingKind::LabelConflict]);
}

#[test]
fn any_number_of_threads_gives_the_same_report() {
    let place = Place::new();
    let mut clips = ordinary();
    clips
        .extend((0..30).map(|i| clip("more.mp4", i as u32 % 3, moving(300 + i / 2, Look { size: (64, 48), ..PLAIN }))));
    let sets = [set(&place, "a", &clips), set(&place, "b", &ordinary())];
    let with = |threads: usize| {
        let options = CheckOptions { threads: Some(threads), ..CheckOptions::default() };
        check(&sets, &options, &mut no_progress).unwrap()
    };
    let one = with(1);
    assert!(one.findings.len() > 5);
    assert_eq!(one, with(2));
    assert_eq!(one, with(4));
}

#[test]
fn findings_make_the_round_trip_through_a_list() {
    let place = Place::new();
    set(
        &place,
        "train",
        &[
            clip("a.mp4", 0, moving(1, PLAIN)),
            clip("#3 b.mp4", 1, black()),
            clip(" c.mp4", 1, black()),
            clip("same.mp4", 1, moving(2, PLAIN)),
            clip("again.mp4", 1, moving(2, PLAIN)),
            clip("leaked.mp4", 0, moving(3, PLAIN)),
        ],
    );
    set(&place, "val", &[clip("d.mp4", 0, moving(3, PLAIN)), clip("e.mp4", 0, moving(4, PLAIN))]);
    let text = place.text("check train val --list bad.txt", 3);
    assert!(text.contains("black: 2 findings\n  train clip 1 #3 b.mp4 (walk): black"), "{text}");
    assert!(text.contains("leak: 1 finding\n"), "{text}");
    assert_eq!(fs::read_to_string(place.at("bad.txt")).unwrap(), "#1 #3 b.mp4\n#2\n#4 again.mp4\n#5 leaked.mp4\n");
    place.run("subset train -o clean --exclude bad.txt", 0);
    let clean = Dataset::open(place.at("clean")).unwrap();
    let sources: Vec<String> = clean.clips().map(|clip| clip.unwrap().source().unwrap()).collect();
    assert_eq!(sources, ["a.mp4", "same.mp4"]);
    assert!(place.text("check clean val", 0).starts_with("nothing found"));
    // With a list for each, one clip of a leak stays.
    place.run("check train val --list a.txt --list b.txt --only leak", 3);
    assert_eq!(["a.txt", "b.txt"].map(|name| fs::read_to_string(place.at(name)).unwrap()), ["", "#0 d.mp4\n"]);
}

#[test]
fn a_list_names_what_nobody_misses() {
    let place = Place::new();
    set(
        &place,
        "set",
        &[
            clip("cut.mp4", 0, cut()),
            clip("small.mp4", 0, moving(1, SMALL)),
            clip("large.mp4", 0, moving(1, PLAIN)),
            clip("run.mp4", 0, moving(2, PLAIN)),
            clip("walk.mp4", 1, moving(2, PLAIN)),
            clip("black.mp4", 0, black()),
        ],
    );
    let listed = |options: &str| {
        let run = place.run(&format!("check set --progress none --list bad.txt{options}"), 3);
        (fs::read_to_string(place.at("bad.txt")).unwrap(), String::from_utf8(run.stderr).unwrap())
    };
    // The best of the copies stays, whichever is the first. A cut, and labels that contradict each other, are for a person.
    let (list, told) = listed("");
    assert_eq!(list, "#1 small.mp4\n#5 black.mp4\n");
    assert!(
        told.contains("a person should look first: 3 findings (scene-cut, near-duplicate, label-conflict)"),
        "{told}"
    );
    // Whoever names a kind wants it.
    assert_eq!(listed(" --only scene-cut"), ("#0 cut.mp4\n".into(), String::new()));
    assert_eq!(listed(" --only label-conflict"), ("#3 run.mp4\n#4 walk.mp4\n".into(), String::new()));
    assert_eq!(listed(" --only near-duplicate").0, "#1 small.mp4\n");
}

#[test]
fn the_program_says_what_it_found_and_its_status_is_for_pipelines() {
    let place = Place::new();
    let black = || vec![picture(PLAIN, |_, _| 0.0); 2];
    let clips: Vec<Made> = (0..8).map(|_| clip("dark/ness.mp4", 2, black())).collect();
    set(&place, "set", &clips);
    let text = place.text("check set", 3);
    assert!(text.contains("black: 8 findings\n  clip 0 dark/ness.mp4 (jump): black: 98 % of each frame"), "{text}");
    assert!(text.contains("  and 3 more findings (--all shows them)\n8 findings in 8 clips, 16 frames\n"), "{text}");
    assert!(place.text("check set --all", 3).contains("clip 7 dark/ness.mp4"));
    place.run("check set --fail-on leak,corrupt", 0);
    place.run("check set --skip black", 0);
    place.run("check set --only black,frozen --fail-on black", 3);
    let report = place.json("check set", 3);
    assert_eq!((&report["counts"]["black"], &report["counts"]["leak"]), (&json!(8), &json!(0)));
    assert_eq!(
        report["findings"][0]["clips"][0],
        json!({"set": 0, "clip": 0, "source": "dark/ness.mp4", "class": "jump"})
    );
    assert!(place.error("check set --list a --list b", 1).contains("more --list than data sets"));
    assert!(String::from_utf8(place.run("check set --only blue", 2).stderr).unwrap().contains("blown-out"));
}

/// Writes clips of a video of 30 frames a second, given as the frames of each, and the ticks of a second.
fn at_a_rate(place: &Place, name: &str, tool: &str, settings: Value, clips: &[(&[u32], u32)]) {
    let mut options = WriterOptions::default();
    options.meta.tool = tool.into();
    options.meta.settings = JsonObject::of(&settings).unwrap();
    let mut writer = Writer::create(place.at(name), options).unwrap();
    let jpeg = picture(SMALL, |x, _| 255.0 * x);
    for (frames, ticks) in clips {
        let pts = |i: u32| i64::from((i * ticks * 2 + 30) / 60);
        let frame = |&i: &u32| FrameData { jpeg: &jpeg, pts: pts(i), source_index: Some(i) };
        let (width, height) = SMALL.size;
        let source = format!("{ticks}.video");
        let info = ClipInfo { width, height, source, time_base: (1, *ticks), ..ClipInfo::default() };
        writer.append(&info, &frames.iter().map(frame).collect::<Vec<_>>()).unwrap();
    }
    writer.finish().unwrap();
}

/// What older versions packed of Matroska is found, and nothing that is right: not what they packed of MP4, at no rate, or of
/// Matroska where no frame met a tick, nor what newer versions pack.
#[test]
fn frames_that_older_versions_chose_by_rounded_times_are_found() {
    let place = Place::new();
    let (wrong, right) = ([0, 1, 1, 3, 4, 4, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]);
    let clips: &[(&[u32], u32)] = &[(&right, 1000), (&wrong, 1000), (&right, 15_360), (&[0, 1, 4, 6, 7], 1000)];
    let (own, half) = (&clips[..3], &clips[3..]);
    at_a_rate(&place, "old", "vidrec 0.1.0", json!({"frames": "fps:30"}), own);
    at_a_rate(&place, "half", "vidrec 0.9.12", json!({"sample": "fps:15", "max_frames": 6}), half);
    at_a_rate(&place, "thinned", "vidrec 0.1.0", json!({"frames": "fps:4", "max_frames": 5}), half);
    at_a_rate(&place, "cut", "vidrec 0.1.0", json!({"frames": "fps:30", "max_frames": 8, "cut": true}), &own[..1]);
    at_a_rate(&place, "new", "vidrec 1.0.0", json!({"frames": "fps:30"}), own);
    at_a_rate(&place, "newer", "vidrec 1.10.0", json!({"frames": "fps:15"}), half);
    at_a_rate(&place, "all", "vidrec 0.1.0", json!({"frames": "all"}), own);
    at_a_rate(&place, "other", "somebody 0.1", json!({"frames": "fps:30"}), own);
    place.run("merge old new -o merged", 0);
    let sets = "check old half thinned cut new newer all other merged --only rounded-times";
    let report = place.json(sets, 3);
    let found: Vec<_> = report["findings"].as_array().unwrap().iter().map(|finding| finding["clips"].clone()).collect();
    let places = |clips: &Value| {
        clips.as_array().unwrap().iter().map(|clip| (clip["set"].as_u64(), clip["clip"].as_u64())).collect::<Vec<_>>()
    };
    let (one, two) = (|set, clip| (Some(set), Some(clip)), found.iter().map(places).collect::<Vec<_>>());
    // Nothing says which clips of a merged data set are of which version.
    assert_eq!(two, [vec![one(0, 1)], vec![one(1, 0)], vec![one(2, 0)], vec![one(8, 1), one(8, 4)]], "{report}");
    assert_eq!((&report["frames"], &report["findings"][0]["value"]), (&json!(0), &json!(1.0)));
    let text = place.text(sets, 3);
    let said = "rounded-times: 4 findings\n  old clip 1 1000.video: frames are missing, others are repeated: vidrec 0.1.0 packed at 30 frames/s";
    assert!(text.contains(said), "{text}");
    place.run("check old --only rounded-times --list again.txt", 3);
    assert_eq!(fs::read_to_string(place.at("again.txt")).unwrap(), "#1 1000.video\n");
    assert!(place.text("check new all", 3).contains("frozen"), "and no rounded times");
}

#[test]
fn damage_anywhere_is_a_finding_and_a_remote_data_set_gives_the_same() {
    let place = Place::new();
    set(&place, "set", &ordinary());
    damage(&place.at("set"), 3, 7);
    damage(&place.at("set"), 3, 1);
    let local = place.json("check set", 3);
    assert_eq!((&local["findings"][0]["kind"], &local["findings"][0]["frames"]), (&json!("corrupt"), &json!([1, 7])));
    assert_eq!(local["findings"].as_array().unwrap().len(), 1);
    let server = fault_proxy::Origin::serve(place.0.path()).unwrap();
    let remote = place.json(&format!("check {}/set", server.url()), 3);
    assert_eq!(remote["counts"], local["counts"]);
    assert_eq!(remote["findings"][0]["frames"], json!([1, 7]));
    // A bit in the entry of a clip.
    let index = names::file(place.at("set"), "shard-00000.vidx");
    let mut bytes = fs::read(&index).unwrap();
    let offset = bytes.len() / 2;
    bytes[offset..offset + 200].iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::write(&index, bytes).unwrap();
    let broken = place.json("check set", 3);
    assert!(broken["counts"]["corrupt"].as_u64().unwrap() >= 1, "{broken}");
}
