//! `vidrec browse` from outside: who gets what from its server, and what it exports. `tests/python/test_browse.py` opens its
//! page in a browser.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::cli::remote::Served;
use crate::common;
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

/// The name of the only file of a data set with this ending.
fn file(set: &Path, ending: &str) -> PathBuf {
    let is_it = |path: &PathBuf| path.extension().is_some_and(|found| found == ending);
    fs::read_dir(set).unwrap().map(|entry| entry.unwrap().path()).find(is_it).unwrap()
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn files_are_served_whole_and_in_ranges() {
    let (temp, set) = common::set(5, 3, (96, 64));
    let server = Server::of(&[name(&set)], temp.path());
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
    let listing: serde_json::Value = serde_json::from_slice(&server.get("0/dataset.json", "").body).unwrap();
    assert_eq!(listing["clips"], 5);
    for ending in ["rec", "vidx"] {
        let path = file(&set, ending);
        let (bytes, name) = (fs::read(&path).unwrap(), format!("0/{}", name(&path)));
        let whole = server.get(&name, "");
        assert_eq!((whole.status, &whole.body), (200, &bytes), "{name}");
        assert!(whole.headers.contains("accept-ranges: bytes"));
        let last = bytes.len() - 1;
        for (range, part) in
            [("2-11", &bytes[2..12]), ("7-", &bytes[7..]), ("-5", &bytes[last - 4..]), ("0-9999999999", &bytes[..])]
        {
            let found = server.get(&name, &format!("\r\nRange: bytes={range}"));
            assert_eq!((found.status, &*found.body), (206, part), "{range}");
            assert!(
                found.headers.contains(&format!("-{}/{}", found_end(part, &bytes), bytes.len())),
                "{}",
                found.headers
            );
        }
        let beyond = server.get(&name, &format!("\r\nRange: bytes={}-", bytes.len()));
        assert_eq!(beyond.status, 416);
        assert!(beyond.headers.contains(&format!("content-range: bytes */{}", bytes.len())));
        let again = server.get(&name, "\r\nRange: bytes=0-1\r\nIf-Range: \"x\"");
        assert_eq!((again.status, again.body.len()), (200, bytes.len()));
        let head = server.ask(&format!("HEAD /{}/{name} HTTP/1.1\r\nHost: localhost", server.token));
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert!(head.headers.contains(&format!("content-length: {}", bytes.len())));
    }
}

/// The position of the last byte of a part, which is at the end of the whole or at byte 11.
fn found_end(part: &[u8], whole: &[u8]) -> usize {
    if whole.ends_with(part) { whole.len() - 1 } else { 11 }
}

#[test]
fn long_files_come_in_pieces() {
    let jpegs = vec![common::jpeg((640, 480), 1); 60];
    let (temp, set) = common::write(&[jpegs], (640, 480));
    let path = file(&set, "rec");
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 3 << 20, "{}", bytes.len());
    let server = Server::of(&[name(&set)], temp.path());
    let found = server.get(&format!("0/{}", name(&path)), "\r\nRange: bytes=1000000-3000000");
    assert!(found.status == 206 && found.body == bytes[1_000_000..=3_000_000]);
    assert!(server.get(&format!("0/{}", name(&path)), "").body == bytes);
}

#[test]
fn nothing_else_is_served_and_nobody_else_is_answered() {
    let (temp, set) = common::set(2, 1, (96, 64));
    fs::write(set.join("secret.txt"), "secret").unwrap();
    let server = Server::of(&[name(&set)], temp.path());
    let index = file(&set, "vidx");
    for path in [
        "0/secret.txt",
        "0/../0/dataset.json",
        "0/%2e%2e/dataset.json",
        "1/dataset.json",
        "0/",
        "0",
        "dataset.json",
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
    assert_eq!(server.get(&format!("0/{}", name(&index)), "").status, 200);
    assert_eq!(server.get("", "").status, 200, "it serves as before");
}

#[test]
fn connections_that_ask_for_nothing_keep_nobody_waiting() {
    let jpegs = vec![common::jpeg((640, 480), 1); 60];
    let (temp, set) = common::write(&[jpegs], (640, 480));
    let path = file(&set, "rec");
    let server = Server::of(&[name(&set)], temp.path());
    let connect = || TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    // One has an answer that it does not read yet.
    let request =
        format!("GET /{}/0/{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", server.token, name(&path));
    let mut slow = connect();
    slow.write_all(request.as_bytes()).unwrap();
    let mut idle: Vec<_> = (0..250).map(|_| connect()).collect();
    idle.iter_mut().step_by(2).for_each(|stream| stream.write_all(b"GET /").unwrap());
    assert_eq!(server.get("", "").status, 200);
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).unwrap();
    assert!(answer.ends_with(&fs::read(&path).unwrap()), "{} bytes", answer.len());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_status_0() {
    let (temp, set) = common::set(1, 1, (96, 64));
    for signal in ["INT", "TERM"] {
        let mut server = Server::of(&[name(&set)], temp.path());
        // An idle connection does not keep it.
        let _idle = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let sent = Command::new("kill").args([&format!("-{signal}"), &server.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let (temp, set) = common::set(1, 1, (96, 64));
    let server = Server::of(&[name(&set)], temp.path());
    let run = vidrec(&["browse", name(&set), "--port", &server.port.to_string()], temp.path());
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.code() == Some(1) && text.contains(&format!("cannot listen at port {}", server.port)), "{text}");
}

#[test]
fn remote_data_sets_are_served_range_by_range() {
    let served = Served::new();
    let server = Server::of(&[&format!("{}/set", served.server.url())], &served.path("."));
    let set = served.path("set");
    let before = served.server.counts().body_bytes;
    for ending in ["vidx", "rec"] {
        let path = file(&set, ending);
        let bytes = fs::read(&path).unwrap();
        let found = server.get(&format!("0/{}", name(&path)), "\r\nRange: bytes=100-299");
        assert!(found.status == 206 && found.body == bytes[100..300], "{}", found.headers);
    }
    assert!(served.server.counts().body_bytes > before);
    // What the other server no longer has is an error that names it, and not an empty file.
    let lost = files_of(&set, "rec").into_iter().find(|path| path != &file(&set, "rec")).unwrap();
    fs::remove_file(&lost).unwrap();
    let answer = server.get(&format!("0/{}", name(&lost)), "\r\nRange: bytes=0-9");
    assert_eq!(answer.status, 500);
    assert!(String::from_utf8_lossy(&answer.body).contains(name(&lost)));
}

fn files_of(set: &Path, ending: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(set).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

fn vidrec(words: &[&str], dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vidrec")).args(words).current_dir(dir).output().unwrap()
}

/// The head of a page: the JSON in its element `data`.
fn head(page: &Path) -> serde_json::Value {
    let text = fs::read_to_string(page).unwrap();
    let rest = text.split_once("id=\"data\">").unwrap().1;
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn an_exported_page_knows_where_the_data_sets_are() {
    let temp = tempfile::tempdir().unwrap();
    Rich::default().write(&temp.path().join("sets/train"));
    Rich { from: 10, ..Rich::default() }.write(&temp.path().join("sets/v & l"));
    let run = vidrec(&["browse", "sets/train", "--export", "--title", "<b>"], temp.path());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(
        String::from_utf8_lossy(&run.stdout),
        format!("wrote {}\n", Path::new("sets/train/browse.html").display())
    );
    let page = temp.path().join("sets/train/browse.html");
    assert_eq!(head(&page)["sets"], serde_json::json!([{"name": "sets/train", "address": "./"}]));
    assert!(fs::read_to_string(&page).unwrap().contains("<title>&lt;b&gt;</title>"));
    fs::create_dir(temp.path().join("www")).unwrap();
    let run = vidrec(&["browse", "sets/train", "sets/v & l", "--export", "-o", "www/page.html"], temp.path());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let sets = head(&temp.path().join("www/page.html"))["sets"].clone();
    assert_eq!((&sets[0]["address"], &sets[1]["address"]), (&"../sets/train/".into(), &"../sets/v%20%26%20l/".into()));
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let served = Served::new();
    let refused = |line: &str, word: &str| {
        let text = served.refusal(line, 1);
        assert!(text.contains(word), "{line}: {text}");
    };
    refused("browse U/set --export", "set --output");
    refused("browse U/set set --export -o page.html", "one data set");
    refused("browse set set --export", "set --output");
    refused("browse set --findings nothing.json", "nothing.json");
    served.text("browse U/set --export -o page.html");
    assert_eq!(head(&served.path("page.html"))["sets"][0]["address"], "./");
    let shard = file(&served.path("set"), "rec");
    refused(&format!("browse set/{} --export -o other.html", name(&shard)), "dataset.json");
    assert!(!served.path("other.html").exists());
}

#[test]
fn findings_are_those_of_the_same_data_sets() {
    let served = Served::new();
    fs::write(served.path("found.json"), served.run("check set --json").stdout).unwrap();
    served.text("browse set --export -o page.html --findings found.json");
    let (head, found) = (
        head(&served.path("page.html")),
        serde_json::from_slice::<serde_json::Value>(&fs::read(served.path("found.json")).unwrap()).unwrap(),
    );
    assert_eq!(head["checked"], serde_json::json!({"clips": found["clips"], "of_clips": found["clips"]}));
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
        assert!(served.refusal("browse set --export -o x.html --findings other.json", 1).contains("other.json"));
    }
    served.refusal("browse set set --export -o x.html --findings found.json", 1);
}
