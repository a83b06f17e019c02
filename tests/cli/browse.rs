//! `vidrec browse` from outside: who gets what from its server. `tests/python/test_browse.py` opens its page in a browser, and
//! `report.rs` looks at what it exports.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use vidrec::{ClipInfo, Dataset, FrameData, JsonObject, Track, TrackTimes, TrackValues, Writer, WriterOptions};

use crate::cli::remote::Served;
use crate::common;
use crate::common::program_runs::vidrec;
use crate::common::rich::Rich;

/// A running server. It ends with the test.
struct Server {
    child: Child,
    port: u16,
    token: String,
}

struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Server {
    fn of(words: &[&str], dir: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        let mut child = command
            .arg("browse")
            .args(words)
            .current_dir(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("{line:?}"));
        let (port, path) = address.split_once('/').unwrap();
        Server { port: port.parse().unwrap(), token: path.trim_end_matches('/').to_owned(), child }
    }

    /// The answer to a request with these lines, which end with the header `Connection`.
    fn ask(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(format!("{request}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
        let headers = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = headers[9..12].parse().unwrap();
        Answer { status, headers: headers.to_lowercase(), body: bytes[end + 4..].to_vec() }
    }

    /// The answer to a request for a file of the page, with more lines.
    fn get(&self, name: &str, more: &str) -> Answer {
        self.ask(&format!("GET /{}/{name} HTTP/1.1\r\nHost: 127.0.0.1:{}{more}", self.token, self.port))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already if that is what the test is about.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn clips_frames_and_figures_are_served() {
    let temp = tempfile::tempdir().unwrap();
    let set = temp.path().join("set");
    Rich::default().write(&set);
    let stored = Dataset::open(&set).unwrap();
    let server = Server::of(&["set"], temp.path());
    let page = server.get("", "");
    assert_eq!((page.status, page.body.starts_with(b"<!doctype html>")), (200, true));
    for header in [
        "content-type: text/html",
        "cache-control: no-store",
        "x-frame-options: deny",
        "content-security-policy: frame-ancestors 'none'",
        "cross-origin-opener-policy: same-origin",
    ] {
        assert!(page.headers.contains(header), "{header}: {}", page.headers);
    }
    let lines = server.get("0/clips/0", "");
    let lines: Vec<Value> = lines.body.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(lines.len() as u64, stored.len());
    for clip in stored.clips().map(Result::unwrap) {
        let i = clip.ordinal();
        let facts: Value = serde_json::from_slice(&server.get(&format!("0/{i}.json"), "").body).unwrap();
        assert_eq!((&facts["source"], &facts["clip"]), (&json!(clip.source().unwrap()), &json!(i)));
        assert_eq!(facts["attributes"], Value::Object(clip.attributes().unwrap().0));
        let times: Vec<f64> = clip.frames().map(|frame| frame.unwrap().pts_seconds()).collect();
        assert_eq!(facts["times"], json!(times));
        // A piece for a search has the same, but for what the entries of frames say.
        for (name, value) in lines[i as usize].as_object().unwrap() {
            assert_eq!(value, &facts[name], "{name}");
        }
        for (t, frame) in clip.frames().map(Result::unwrap).enumerate() {
            let found = server.get(&format!("0/{i}/{t}.jpg"), "");
            assert!(found.status == 200 && found.headers.contains("content-type: image/jpeg"), "{}", found.headers);
            assert!(found.body == frame.jpeg());
        }
    }
    let later = server.get("0/clips/1", "");
    assert_eq!(later.body.lines().count() as u64, stored.len() - 1);
    let overview: Value = serde_json::from_slice(&server.get("overview.json", "").body).unwrap();
    assert_eq!((&overview["sets"][0]["clips"], &overview["title"]), (&json!(stored.len()), &json!("set")));
    let head = server.ask(&format!("HEAD /{}/0/0/0.jpg HTTP/1.1\r\nHost: localhost", server.token));
    let length = stored.clip(0).unwrap().frame(0).unwrap().jpeg().len();
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert!(head.headers.contains(&format!("content-length: {length}")), "{}", head.headers);
}

#[test]
fn tracks_are_served_as_numbers_texts_sound_and_pictures() {
    let temp = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(temp.path().join("set"), WriterOptions::default()).unwrap();
    let info = ClipInfo { width: 96, height: 64, time_base: (1, 10), ..ClipInfo::default() };
    let jpeg = common::jpeg((96, 64), 1);
    let frame = |pts| FrameData { jpeg: &jpeg, pts, source_index: None };
    let rate = |rate| TrackTimes::Rate { first_ns: 500_000_000, rate: (rate, 1) };
    let sound: Vec<i16> = (0..8000).map(|i| (i % 99) as i16 - 50).collect();
    let many: Vec<f32> = (0..600_000u32).map(|i| if i == 0 { f32::NAN } else { i as f32 }).collect();
    let tracks = [
        Track { name: "audio".into(), values: TrackValues::I16(sound.clone()), times: rate(8000), ..Track::default() },
        Track {
            name: "depth".into(),
            shape: vec![2, 3],
            values: TrackValues::U16(vec![0, 100, 200, 300, 400, 500, 7, 7, 7, 7, 7, 7]),
            times: TrackTimes::Frames,
            ..Track::default()
        },
        Track {
            name: "boxes".into(),
            shape: vec![4],
            values: TrackValues::F32(vec![0.5; 12]),
            lists: Some(vec![3, 0]),
            ..Track::default()
        },
        Track { name: "many".into(), values: TrackValues::F32(many), times: rate(1000), nan: true, ..Track::default() },
        Track {
            name: "words".into(),
            values: TrackValues::Texts(vec!["reach".into()]),
            times: TrackTimes::Spans { starts: vec![0], ends: vec![100_000_000] },
            ..Track::default()
        },
    ];
    writer.append_with_tracks(&info, &[frame(0), frame(1)], &tracks).unwrap();
    writer.finish().unwrap();
    let server = Server::of(&["set"], temp.path());
    let found: Value = serde_json::from_slice(&server.get("0/0/tracks.json", "").body).unwrap();
    let names: Vec<&str> = found.as_array().unwrap().iter().map(|track| track["name"].as_str().unwrap()).collect();
    let of = |name: &str| &found[names.iter().position(|known| *known == name).unwrap()];
    let values = |name: &str| -> Vec<Option<f64>> { serde_json::from_value(of(name)["values"].clone()).unwrap() };
    assert!(values("audio").into_iter().eq(sound.iter().map(|&value| Some(f64::from(value)))));
    assert_eq!(of("audio")["rate"], json!([0.5, 8000.0]));
    let many = of("many");
    assert_eq!((&many["step"], &many["count"], &many["rate"][1]), (&json!(3), &json!(600_000), &json!(1000.0 / 3.0)));
    let many = values("many");
    assert_eq!((many[0], many[1], many.len()), (None, Some(3.0), 200_000));
    assert_eq!(
        (&of("words")["texts"], &of("words")["times"], &of("words")["ends"]),
        (&json!(["reach"]), &json!([0.0]), &json!([0.1]))
    );
    assert_eq!((&of("boxes")["width"], values("boxes")), (&json!(1), vec![Some(3.0), Some(0.0)]), "how many boxes");
    let wav = server.get("0/0/audio.wav", "").body;
    assert_eq!((&wav[..4], &wav[8..16], wav.len()), (&b"RIFF"[..], &b"WAVEfmt "[..], 44 + 16_000));
    assert!(wav[44..].chunks(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).eq(sound));
    let depth = names.iter().position(|name| *name == "depth").unwrap();
    assert_eq!((of("depth")["is_picture"].as_bool(), &of("depth")["values"]), (Some(true), &Value::Null));
    let picture =
        |i: u32| image::load_from_memory(&server.get(&format!("0/0/{depth}/{i}.png"), "").body).unwrap().to_luma8();
    assert_eq!((picture(0).into_raw(), picture(1).into_raw()), (vec![0, 51, 102, 153, 204, 255], vec![0; 6]));
    for nothing in [format!("0/0/{depth}/2.png"), "0/0/99/0.png".into(), "0/0/x.json".into()] {
        assert_eq!(server.get(&nothing, "").status, 404, "{nothing}");
    }
}

#[test]
fn nothing_else_is_served_and_nobody_else_is_answered() {
    let (temp, set) = common::set(2, 1, (96, 64));
    fs::write(set.join("secret.txt"), "secret").unwrap();
    let server = Server::of(&[name(&set)], temp.path());
    let index = common::names::file(&set, "shard-00000.vidx");
    for path in [
        "0/secret.txt",
        "0/../0/0.json",
        "0/%2e%2e/0.json",
        "0/dataset.json",
        "1/0.json",
        "0/2.json",
        "0/-1.json",
        "0/+1/0.jpg",
        "0/00000000000000000000000000000000000000001x.json",
        "0/0/1.jpg",
        "0/0/audio.wav",
        "0/0/0/0.png",
        "0/clips/2",
        "0/",
        "0",
        "//",
        "0/%ff",
        "..%2f..%2fetc/passwd",
    ] {
        assert_eq!(server.get(path, "").status, 404, "{path}");
    }
    let host = format!("\r\nHost: 127.0.0.1:{}", server.port);
    let wrong = format!("{}{}", if server.token.starts_with('0') { '1' } else { '0' }, &server.token[1..]);
    for path in [
        "/",
        "",
        "/x/",
        &format!("/{wrong}/"),
        &format!("/{}0/", server.token),
        &format!("/{}", server.token),
        &format!("/{}/", &server.token[1..]),
    ] {
        assert!(matches!(server.ask(&format!("GET {path} HTTP/1.1{host}")).status, 400 | 404), "{path}");
    }
    let page = format!("/{}/", server.token);
    for name in ["example.com", "127.0.0.1.example.com", "127.0.0.2", "localhost.example.com:80", ""] {
        assert_eq!(server.ask(&format!("GET {page} HTTP/1.1\r\nHost: {name}")).status, 403, "{name}");
    }
    assert_eq!(server.ask(&format!("GET {page} HTTP/1.1")).status, 403);
    assert_eq!(server.ask(&format!("GET {page} HTTP/1.1{host}\r\nHost: example.com")).status, 403);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let answer = server.ask(&format!("{method} {page} HTTP/1.1{host}\r\nContent-Length: 0"));
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.headers.contains("allow: get, head"));
    }
    // The file of another folder was replaced: what is there now is not what was opened.
    fs::rename(&index, set.join("gone")).unwrap();
    assert_eq!(server.get("0/0/0.jpg", "").status, 200);
    assert_eq!(server.get("", "").status, 200, "it serves as before");
}

#[test]
fn connections_that_ask_for_nothing_keep_nobody_waiting() {
    let temp = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(temp.path().join("set"), WriterOptions::default()).unwrap();
    for _ in 0..200 {
        let attributes = JsonObject::of(json!({ "caption": "word ".repeat(4000) })).unwrap();
        writer.append(&ClipInfo { attributes, ..ClipInfo::default() }, &[]).unwrap();
    }
    writer.finish().unwrap();
    let server = Server::of(&["set"], temp.path());
    let connect = || TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    // One has an answer that it does not read yet: longer than what the system holds for it.
    let request = format!("GET /{}/0/clips/0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", server.token);
    let mut slow = connect();
    slow.write_all(request.as_bytes()).unwrap();
    let mut idle: Vec<_> = (0..250).map(|_| connect()).collect();
    idle.iter_mut().step_by(2).for_each(|stream| stream.write_all(b"GET /").unwrap());
    assert_eq!(server.get("", "").status, 200);
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).unwrap();
    assert!(answer.len() > 4_000_000 && answer.ends_with(b"}\n"), "{} bytes", answer.len());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_status_0_and_a_port_that_is_taken_with_an_error() {
    let (temp, set) = common::set(1, 1, (96, 64));
    for signal in ["INT", "TERM"] {
        let mut server = Server::of(&[name(&set)], temp.path());
        let run = vidrec(&format!("browse {} --port {}", name(&set), server.port), temp.path());
        let text = String::from_utf8_lossy(&run.stderr);
        let taken = format!("cannot listen at port {}", server.port);
        assert!(run.status.code() == Some(1) && text.contains(&taken), "{text}");
        // An idle connection does not keep it.
        let _idle = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let sent = Command::new("kill").args([&format!("-{signal}"), &server.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn remote_data_sets_are_served_with_what_is_asked_for() {
    let served = Served::new();
    let server = Server::of(&[&format!("{}/set", served.server.url())], &served.path("."));
    let stored = Dataset::open(served.path("set")).unwrap();
    let before = served.server.counts().body_bytes;
    for i in [0, stored.len() - 1] {
        let found = server.get(&format!("0/{i}/0.jpg"), "");
        assert!(
            found.status == 200 && found.body == stored.clip(i).unwrap().frame(0).unwrap().jpeg(),
            "{}",
            found.headers
        );
    }
    assert!(served.server.counts().body_bytes > before);
    // What the other server no longer has is an error that names it, and not another frame.
    let records: Vec<PathBuf> = stored.record_files().map(Path::to_owned).collect();
    let lost = &records[1];
    fs::remove_file(lost).unwrap();
    let clip = stored.to_json().shards[0].clips;
    let answer = server.get(&format!("0/{clip}/0.jpg"), "");
    assert_eq!(answer.status, 500);
    assert!(String::from_utf8_lossy(&answer.body).contains(name(lost)), "{}", String::from_utf8_lossy(&answer.body));
}

#[test]
fn damage_is_an_answer_of_its_own() {
    let (temp, set) = common::set(3, 2, (96, 64));
    common::damage(&set, 1, 1);
    let server = Server::of(&[name(&set)], temp.path());
    let answer = server.get("0/1/1.jpg", "");
    let text = String::from_utf8_lossy(&answer.body);
    assert!(answer.status == 422 && text.contains("CRC-32"), "{text}");
    assert_eq!(server.get("0/1/0.jpg", "").status, 200);
}

#[test]
fn findings_are_those_of_the_same_data_sets() {
    let served = Served::new();
    fs::write(served.path("found.json"), served.run("check set --json").stdout).unwrap();
    let page = Server::of(&["set", "--findings", "found.json"], &served.path(".")).get("", "").body;
    let page = String::from_utf8(page).unwrap();
    let head = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let head: Value = serde_json::from_str(head).unwrap();
    let found: Value = serde_json::from_slice(&fs::read(served.path("found.json")).unwrap()).unwrap();
    assert_eq!(head["checked"], json!({"clips": found["clips"], "of_clips": found["clips"]}));
    for kind in head["findings"].as_array().unwrap() {
        assert_eq!(kind["count"], found["counts"][kind["kind"].as_str().unwrap()]);
    }
    for (old, new) in
        [("\"clips\": 24,\n      \"frames\": ", "\"clips\": 24,\n      \"frames\": 1"), ("\"clip\": ", "\"clip\": 99")]
    {
        let text = fs::read_to_string(served.path("found.json")).unwrap();
        let other = text.replacen(old, new, 1);
        assert_ne!(text, other, "{old}");
        fs::write(served.path("other.json"), other).unwrap();
        assert!(served.refusal("browse set --findings other.json", 1).contains("other.json"));
    }
    served.refusal("browse set set --findings found.json", 1);
    assert!(served.refusal("browse set --findings nothing.json", 1).contains("nothing.json"));
}
