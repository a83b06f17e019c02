//! Names, texts and answers that would command a terminal: no command prints them as they are.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;
use vidrec::{ClipInfo, FrameData, JsonObject, Track, TrackTimes, TrackValues, Writer, WriterOptions};

use crate::common::jpeg;

/// A title for the window, a cleared screen, a control character of eight bits, a line of its own, reversed text, a
/// separator of lines.
const EVIL: &str = "e\x1b]0;owned\x07\x1b[2J\u{9b}31m\nvidrec: all is well\r\u{202e}gpj\u{2028}l";

fn vidrec(dir: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vidrec")).args(words).current_dir(dir).env("HOME", dir).output().unwrap()
}

/// What a command printed has nothing that a terminal obeys, but the ends of lines.
fn is_harmless(what: &str, run: &Output) -> String {
    let text = String::from_utf8_lossy(&[&run.stdout[..], &run.stderr].concat()).into_owned();
    let is_obeyed = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{2028}');
    assert!(!text.contains(is_obeyed), "{what}: {text:?}");
    assert!(!text.lines().any(|line| line == "vidrec: all is well"), "{what}: a line of somebody else: {text}");
    text
}

/// A data set whose every text is hostile. Clips 0 and 1 are the same.
fn write(dir: &Path) {
    let mut options = WriterOptions::default();
    options.meta.classes = vec![EVIL.into(), format!("other {EVIL}")];
    options.meta.tool = EVIL.into();
    options.meta.ffmpeg = Some(EVIL.into());
    options.meta.settings = JsonObject::of(json!({EVIL: EVIL, "frames": EVIL})).unwrap();
    let mut writer = Writer::create(dir, options).unwrap();
    for c in 0..4u32 {
        let attributes = JsonObject::of(json!({"caption": EVIL, EVIL: EVIL, "video": {"codec": EVIL}})).unwrap();
        let label = c % 2;
        let class = [EVIL.to_owned(), format!("other {EVIL}")][label as usize].clone();
        let source = format!("{c} {EVIL}.mp4");
        let info =
            ClipInfo { source, class, attributes, label: Some(label), width: 96, height: 64, ..ClipInfo::default() };
        let jpegs: Vec<_> = (0..2).map(|t| jpeg((96, 64), c / 2 * 10 + t)).collect();
        let frames: Vec<_> = (0..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
        let values = TrackValues::Texts(vec![EVIL.into(); 2]);
        let track = Track { name: "words".into(), values, times: TrackTimes::Frames, ..Track::default() };
        writer.append_with_tracks(&info, &frames, &[track]).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn texts_of_a_data_set_are_shown_and_not_obeyed() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    write(&dir.join("set"));
    fs::write(dir.join("list.csv"), format!("source\n\"{}\"\n", EVIL.replace('\n', " "))).unwrap();
    for line in [
        "inspect set",
        "inspect set --clip 1",
        "inspect set --clip 1 --json",
        "inspect set --stats",
        "verify set --deep",
        "check set",
        "check set --all",
        "view set -o sheet.png",
        "browse set --export browse.html",
        "subset set -o some --list list.csv",
        "split set -o parts --ratio 0.5,0.5",
        "merge set set -o merged",
        "subset set -o relabeled --changes list.csv",
        "subset set -o resharded --shards 2",
        "export frames set -o exported",
        "bench set batch_size=1 --seconds 0.1",
    ] {
        let run = vidrec(dir, &line.split(' ').collect::<Vec<_>>());
        is_harmless(line, &run);
    }
    let shown = is_harmless("inspect", &vidrec(dir, &["inspect", "set", "--clip", "0"]));
    assert!(shown.contains(r"\u{1b}]0;owned\u{7}") && shown.contains(r"\nvidrec: all is well"), "{shown}");
    let found = is_harmless("check", &vidrec(dir, &["check", "set"]));
    assert!(found.contains(r"\u{1b}"), "the copies are named: {found}");
}

#[test]
#[ignore = "full: damage of each field"]
fn damage_is_told_without_the_texts_of_what_is_damaged() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    write(&dir.join("set"));
    let ending = |ending: &str| {
        let mut files = fs::read_dir(dir.join("set")).unwrap().map(|file| file.unwrap().path());
        files.find(|file| file.extension().is_some_and(|e| e == ending)).unwrap()
    };
    let all = |what: &str| {
        for line in ["verify set", "inspect set --clip 0", "repair set", "check set"] {
            is_harmless(&format!("{what}: {line}"), &vidrec(dir, &line.split(' ').collect::<Vec<_>>()));
        }
    };
    for (name, at) in [("rec", 300), ("vidx", 300)] {
        let file = ending(name);
        let whole = fs::read(&file).unwrap();
        let mut wrong = whole.clone();
        wrong[at] ^= 1;
        fs::write(&file, wrong).unwrap();
        all(name);
        fs::write(&file, whole).unwrap();
    }
    let listing = fs::read_to_string(dir.join("set/dataset.json")).unwrap();
    let name = ending("rec").file_name().unwrap().to_str().unwrap().to_owned();
    let evil = serde_json::to_string(EVIL).unwrap();
    let names = [
        listing.replace(&format!("\"{name}\""), &evil),
        listing.replace("\"format_version\"", &format!("{evil}: 1, \"format_version\"")),
        format!("{listing}{EVIL}"),
        listing.replace("\"clips\": 4", &format!("\"clips\": {evil}")),
    ];
    for text in names {
        assert_ne!(text, listing);
        fs::write(dir.join("set/dataset.json"), text).unwrap();
        all("dataset.json");
    }
    // What the caller says is shown as well.
    for words in [["inspect", EVIL], ["verify", EVIL]] {
        is_harmless("a path", &vidrec(dir, &words));
    }
}

#[test]
fn what_a_server_says_is_shown_and_not_obeyed() {
    let temp = tempfile::tempdir().unwrap();
    let one_line = EVIL.replace(['\n', '\r'], "");
    let xml = format!("<?xml version=\"1.0\"?><Error><Code>{EVIL}</Code><Message>{EVIL}</Message></Error>");
    let answer = |head: &str, body: &str| format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let answers = [
        answer(&format!("403 {one_line}"), &xml),
        answer(&format!("404 {one_line}"), &xml),
        answer(&format!("400 {one_line}"), EVIL),
        answer(&format!("302 Found\r\nLocation: http://{one_line}/"), ""),
        answer(&format!("302 Found\r\nLocation: /{one_line}"), ""),
        answer(&format!("200 OK\r\nContent-Encoding: {one_line}"), "{}"),
        answer(&format!("200 OK\r\nETag: {one_line}"), EVIL),
        answer("200 OK", &format!("{{\"{EVIL}\": 1}}")),
        format!("{EVIL}\r\n\r\n"),
    ];
    std::thread::scope(|scope| {
        for reply in &answers {
            scope.spawn(|| says_nothing_that_is_obeyed(reply, temp.path()));
        }
    });
}

/// Commands that a server answers with this.
fn says_nothing_that_is_obeyed(reply: &str, dir: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let sent = reply.to_owned();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(sent.as_bytes());
        }
    });
    // The answers of S3 are read as XML.
    let (set, endpoint) = (format!("{server}/set"), format!("endpoint={server}"));
    let s3 = ["inspect", "s3://bucket/set", "--storage", &endpoint, "--storage", "skip_signature=true"];
    for words in [&["inspect", &set][..], &s3] {
        let run = vidrec(dir, &[words, &["--storage", "timeout=0.3"]].concat());
        is_harmless(reply, &run);
        assert!(!run.status.success(), "{reply}");
    }
}

#[test]
#[cfg(all(unix, feature = "pack"))]
fn names_of_videos_are_shown_and_not_obeyed() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    let videos = dir.join("videos").join(EVIL);
    fs::create_dir_all(&videos).unwrap();
    let name = EVIL.replace('/', " ");
    fs::write(videos.join(format!("{name}.mp4")), EVIL).unwrap();
    fs::write(videos.join(format!("file.{name}")), EVIL).unwrap();
    fs::write(dir.join("videos.csv"), format!("path,{EVIL:?},label\n\"{name}.mp4\",1,\"{name}\"\n")).unwrap();
    for line in [
        "pack videos -o packed -n 2",
        "pack videos -o packed2 -n 2 --dry-run",
        "pack videos.csv -o packed3 -n 2",
        "pack videos.csv -o packed3 -n 2 --dry-run",
        "plan videos -o plan --shards 1 -n 2",
        "pack plan --part 0",
        "status plan",
        "publish plan",
    ] {
        is_harmless(line, &vidrec(dir, &line.split(' ').collect::<Vec<_>>()));
    }
    let said = is_harmless("pack", &vidrec(dir, &["pack", "videos", "-o", "again", "-n", "2"]));
    assert!(said.contains("skipped (stage") && said.contains(r"\u{1b}"), "{said}");
}
