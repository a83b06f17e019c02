//! What the server of a folder says.

use std::fs;

use fault_proxy::{Etags, Origin, Server};

use crate::client::Client;

/// A folder with `a/data`, of 1000 bytes.
pub fn folder() -> (tempfile::TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..1000_u32).map(|i| (i * 7 % 251) as u8).collect();
    fs::create_dir(folder.path().join("a")).unwrap();
    fs::write(folder.path().join("a/data"), &bytes).unwrap();
    (folder, bytes)
}

pub fn serve(folder: &tempfile::TempDir) -> (Server, Client) {
    let server = Origin::serve(folder.path()).unwrap();
    let client = Client::new(server.address());
    (server, client)
}

#[test]
fn ranges_are_served_on_one_connection() {
    let (folder, bytes) = folder();
    let (server, mut client) = serve(&folder);
    let whole = client.get("/a/data", "");
    assert_eq!((whole.status, &whole.body), (200, &bytes));
    for (range, expected) in [("0-0", 0..1), ("10-99", 10..100), ("990-", 990..1000), ("-5", 995..1000)] {
        let got = client.get("/a/data", range);
        assert_eq!((got.status, &got.body[..]), (206, &bytes[expected.clone()]));
        let content_range = format!("bytes {}-{}/1000", expected.start, expected.end - 1);
        assert_eq!(got.field("Content-Range"), content_range);
        assert_eq!(got.field("ETag"), whole.field("ETag"));
    }
    assert_eq!(client.get("/a/data", "1000-").status, 416);
    let head = client.head("/a/data");
    assert_eq!((head.status, head.field("Content-Length")), (200, "1000"));
    let counts = server.counts();
    assert_eq!((counts.requests, counts.connections, counts.most_in_flight), (7, 1, 1));
    assert_eq!((counts.body_bytes, counts.paths["/a/data"]), (1106, (7, 1106)));
}

#[test]
fn the_log_is_in_the_order_of_the_requests() {
    let (folder, _) = folder();
    let (server, mut client) = serve(&folder);
    client.get("/a/data?version=1", "10-19");
    client.head("/missing");
    let log = server.take_log();
    let seen = log.iter().map(|e| (e.method.as_str(), e.path.as_str(), e.range.as_deref(), e.status, e.bytes));
    let expected = [("GET", "/a/data", Some("bytes=10-19"), 206, 10), ("HEAD", "/missing", None, 404, 0)];
    assert!(seen.eq(expected), "{log:?}");
    assert_eq!((log[0].asked(1000), log[1].asked(1000)), (10..20, 0..1000));
    assert_eq!(server.take_log(), []);
    server.reset_counts();
    client.get("/a/data", "0-0");
    assert_eq!((server.counts().requests, server.take_log().len()), (1, 1));
}

#[test]
fn conditions_are_held_to_the_version() {
    let (folder, _) = folder();
    let (_server, mut client) = serve(&folder);
    let head = client.head("/a/data");
    let (tag, time) = (head.field("ETag").to_owned(), head.field("Last-Modified").to_owned());
    let mut status = |fields: &str| {
        client.send("GET /a/data", fields);
        client.receive(true, u64::MAX).status
    };
    assert_eq!(status(&format!("If-Match: {tag}\r\n")), 200);
    assert_eq!(status("If-Match: \"other\"\r\n"), 412);
    assert_eq!(status(&format!("If-Unmodified-Since: {time}\r\n")), 200);
    assert_eq!(status("If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n"), 412);
    assert_eq!(status(&format!("If-None-Match: {tag}\r\n")), 304);
    fs::write(folder.path().join("a/data"), "something else").unwrap();
    assert_eq!(status(&format!("If-Match: {tag}\r\n")), 412);
}

#[test]
fn a_server_can_lack_ranges_head_and_versions() {
    let (folder, bytes) = folder();
    let poor = Origin::new(folder.path()).without_ranges().without_head().etags(Etags::None);
    let server = poor.start("127.0.0.1:0").unwrap();
    let mut client = Client::new(server.address());
    let got = client.get("/a/data", "10-19");
    assert_eq!((got.status, &got.body), (200, &bytes));
    assert_eq!((got.field("ETag"), got.field("Last-Modified")), ("", ""));
    assert_eq!(client.head("/a/data").status, 405);
    let server = Origin::new(folder.path()).etags(Etags::Weak).start("127.0.0.1:0").unwrap();
    let mut client = Client::new(server.address());
    let tag = client.head("/a/data").field("ETag").to_owned();
    assert!(tag.starts_with("W/\""), "{tag}");
    client.send("GET /a/data", &format!("If-Match: {tag}\r\n"));
    assert_eq!(client.receive(true, u64::MAX).status, 412);
}

#[test]
fn nothing_outside_the_folder_is_served() {
    let (folder, _) = folder();
    fs::write(folder.path().join("secret"), "x").unwrap();
    let server = Origin::serve(folder.path().join("a")).unwrap();
    let mut client = Client::new(server.address());
    for path in ["/../secret", "/%2e%2e/secret", "/.", "/", "/data/../../secret", "/%zz", "/missing"] {
        assert_eq!(client.get(path, "").status, 404, "{path}");
    }
    assert_eq!(client.get("/%64ata", "").status, 200);
}
