//! `vidrec browse --export` from outside: what is in the page, and how large it gets. `tests/python/test_report.py` opens pages in
//! a browser.

use std::fs;

use serde_json::{Value, json};
use vidrec::{ClipInfo, FrameData, JsonObject, Writer, WriterOptions};

use crate::cli::remote::Served;
use crate::common;
use crate::common::program_runs::Place;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

/// A clip of `frames` frames, all different.
struct Made {
    source: String,
    label: u32,
    frames: u32,
    seed: u32,
}

fn made(source: impl Into<String>, label: u32, frames: u32, seed: u32) -> Made {
    Made { source: source.into(), label, frames, seed }
}

const CLASSES: [&str; 3] = ["run", "walk", HOSTILE];

fn write(place: &Place, size: (u32, u32), clips: &[Made]) {
    let mut options = WriterOptions::default();
    options.meta.classes = CLASSES.map(str::to_owned).to_vec();
    let mut writer = Writer::create(place.at("set"), options).unwrap();
    for clip in clips {
        let jpegs: Vec<_> = (0..clip.frames).map(|t| common::jpeg(size, clip.seed * 100 + t)).collect();
        let frames: Vec<_> =
            (0..).zip(&jpegs).map(|(t, jpeg)| FrameData { jpeg, pts: t * 40, source_index: None }).collect();
        let attributes = json!({
            "caption": format!("{HOSTILE} & \u{2028} {}", clip.source),
            "score": f64::from(clip.seed) / 4.0,
            "video": {"codec": "h264", "damaged_frames": clip.seed % 2},
        });
        let info = ClipInfo {
            source: clip.source.clone(),
            label: Some(clip.label),
            class: CLASSES[clip.label as usize].to_owned(),
            width: size.0,
            height: size.1,
            time_base: (1, 1000),
            attributes: JsonObject::of(&attributes).unwrap(),
            ..ClipInfo::default()
        };
        writer.append(&info, &frames).unwrap();
    }
    writer.finish().unwrap();
}

/// The JSON in the page's element `id`.
fn embedded(page: &str, id: &str) -> Value {
    let start = page.find(&format!("id=\"{id}\">")).unwrap_or_else(|| panic!("no {id}")) + id.len() + 6;
    serde_json::from_str(page[start..].split("</script>").next().unwrap()).unwrap()
}

#[test]
fn the_page_loads_nothing_and_what_is_hostile_stays_text() {
    let place = Place::new();
    let clips: Vec<_> = (0..9).map(|i| made(format!("{HOSTILE}/{i}.mp4"), i % 3, 3, i)).collect();
    write(&place, (160, 120), &clips);
    let told = place.text("browse set --export page.html --title <b>x</b>&", 0);
    assert!(told.starts_with("wrote page.html: 9 clips, "), "{told}");
    let page = fs::read_to_string(place.at("page.html")).unwrap();
    assert!(page.contains("<title>&lt;b&gt;x&lt;/b&gt;&amp;</title>") && page.contains("default-src 'none'"));
    assert!(!page.contains("<img") && !page.contains("onerror=alert(1)>") && !page.contains('\u{2028}'));
    // The namespace of SVG is a name, and nothing that is loaded.
    let others = page.replace("\"http://www.w3.org/2000/svg\"", "");
    assert!(others.split('<').all(|tag| !tag.split('>').next().unwrap_or_default().contains("src=")));
    for loads in ["http:", "https:", "@import", "url(", "//cdn", "fetch(", "XMLHttpRequest"] {
        assert!(!others.contains(loads), "{loads}");
    }
    // Only the elements of the page and of the strips end.
    assert_eq!(page.matches("</script>").count(), page.matches("<script").count());
    assert_eq!(page.matches("id=\"strip-").count(), 9);
    let list = embedded(&page, "clip-list");
    assert_eq!(list[5]["source"], json!(format!("{HOSTILE}/5.mp4")));
    assert_eq!((&list[5]["class"], &list[5]["strip"]["times"]), (&json!(HOSTILE), &json!([0.0, 0.04, 0.08])));
    assert_eq!(embedded(&page, "data")["classes"]["classes"][0]["clips"], json!([3]));
}

#[test]
fn clips_are_counted_by_the_year_of_their_containers_if_there_is_one() {
    let place = Place::new();
    let of_years = |name: &str, years: &[Value]| {
        let mut writer = Writer::create(place.at(name), WriterOptions::default()).unwrap();
        for year in years {
            let attributes = JsonObject::of(json!({"video": {"codec": "h264", "creation_year": year}})).unwrap();
            let frame = FrameData { jpeg: &common::jpeg((64, 48), 1), pts: 0, source_index: None };
            writer.append(&ClipInfo { attributes, ..ClipInfo::default() }, &[frame]).unwrap();
        }
        writer.finish().unwrap();
        let told = place.json(&format!("browse {name} --export page.html"), 0);
        let all = told["sets"][0]["stats"]["distributions"].as_array().unwrap().clone();
        all.into_iter().find(|one| one["title"].as_str().unwrap().starts_with("Year"))
    };
    let years =
        of_years("some", &[2019.into(), 2019.into(), 2004.into(), Value::Null, "2020".into(), 1e9.into(), (-5).into()]);
    let years = years.unwrap();
    let bins = json!([{"from": 2004.0, "below": 2004.0, "clips": 1}, {"from": 2019.0, "below": 2019.0, "clips": 2}]);
    assert_eq!((&years["bins"], &years["without"], &years["unit"]), (&bins, &json!(4), &json!("year")));
    assert_eq!(of_years("none", &[Value::Null]), None);
}

#[test]
#[ignore = "full: many reports"]
fn figures_are_those_of_stats_and_pages_are_the_same_for_any_threads() {
    let place = Place::new();
    let clips: Vec<_> = (0..30).map(|i| made(format!("{i}.mp4"), i % 3, 1 + i % 4, i)).collect();
    write(&place, (96, 64), &clips);
    let stats = place.json("inspect set --stats", 0);
    let one = place.json("browse set --export one.html --threads 1 --clips 20 --seed 3", 0);
    let four = place.json("browse set --export four.html --threads 4 --clips 20 --seed 3", 0);
    assert_eq!((&one["sets"][0]["stats"], &one), (&stats, &four));
    let bytes = |name: &str| fs::read(place.at(name)).unwrap();
    assert!(bytes("one.html") == bytes("four.html"));
    assert_eq!(one["page_bytes"], json!(bytes("one.html").len()));
    place.json("browse set --export other.html --clips 20 --seed 4", 0);
    assert!(bytes("one.html") != bytes("other.html"));
    for distribution in stats["distributions"].as_array().unwrap() {
        let clips: u64 =
            distribution["bins"].as_array().unwrap().iter().map(|bin| bin["clips"].as_u64().unwrap()).sum();
        assert_eq!(clips + distribution["without"].as_u64().unwrap(), 30, "{}", distribution["title"]);
    }
}

#[test]
fn a_page_keeps_its_budget_and_says_what_it_left_out() {
    let place = Place::new();
    let clips: Vec<_> = (0..80).map(|i| made(format!("{i}.mp4"), u32::from(i > 70), 8, i)).collect();
    write(&place, (160, 120), &clips);
    let page = |line: &str| {
        let told = place.json(&format!("browse set --export page.html --no-check{line}"), 0);
        (told, fs::read_to_string(place.at("page.html")).unwrap())
    };
    let (whole, text) = page("");
    assert_eq!((&whole["shown"]["clips"], text.matches("id=\"strip-").count()), (&json!(80), 80));
    assert!(text.contains("All 80 clips are shown."));
    let (smaller, text) = page(" --budget 1MB");
    assert!(text.len() <= 1_000_000 && smaller["shown"]["clips"] == 80, "{} {}", text.len(), smaller["shown"]);
    assert!(smaller["shown"]["height"].as_u64() < whole["shown"]["height"].as_u64(), "{}", smaller["shown"]);
    let (fewer, text) = page(" --budget 250kB");
    let shown = fewer["shown"]["clips"].as_u64().unwrap();
    assert!(text.len() <= 250_000 && (15..80).contains(&shown), "{} {}", text.len(), fewer["shown"]);
    assert!(text.contains(&format!("A sample: {shown} of 80 clips are shown")), "{}", fewer["notes"]);
    // Of the small class, all are shown.
    let list = embedded(&text, "clip-list");
    let rare = list.as_array().unwrap().iter().filter(|clip| clip["class"] == "walk").count();
    assert_eq!((rare, list.as_array().unwrap().len() as u64), (9, shown));
    assert!(place.error("browse set --export page.html --no-check --budget 10kB", 1).contains("give a larger budget"));
}

#[test]
fn a_damaged_frame_is_shown_as_such() {
    let place = Place::new();
    let clips: Vec<_> = (0..20).map(|i| made(format!("{i}.mp4"), 0, 3, i)).collect();
    write(&place, (160, 120), &clips);
    common::damage(&place.at("set"), 10, 2);
    let told = place.json("browse set --export page.html", 0);
    assert_eq!(told["findings"]["corrupt"], 1);
    let page = fs::read_to_string(place.at("page.html")).unwrap();
    let list = embedded(&page, "clip-list");
    assert_eq!((&list[9]["strip"]["damaged"], &list[10]["strip"]["damaged"]), (&json!([]), &json!([2])));
}

#[test]
#[ignore = "full: many reports"]
fn a_remote_data_set_is_checked_on_demand() {
    let served = Served::new();
    let page = |line: &str| {
        let told = served.json(&format!("browse {line} --export page.html --clips 5 --json"));
        (told, fs::read_to_string(served.path("page.html")).unwrap())
    };
    let (local, plain) = page("set --no-check");
    let (remote, text) = page("U/set");
    assert_eq!(local["sets"][0]["stats"], remote["sets"][0]["stats"]);
    assert_eq!(embedded(&plain, "clip-list"), embedded(&text, "clip-list"));
    assert_eq!(remote["checked"], Value::Null);
    assert!(remote["notes"].as_array().unwrap().last().unwrap().as_str().unwrap().starts_with("Not checked"));
    let (all, whole) = (page("U/set --check").0, page("set").0);
    assert_eq!((&all["findings"], &all["checked"]), (&whole["findings"], &whole["checked"]));
    assert_eq!(whole["checked"]["clips"], 24);
}
