//! Each fault, as a client sees it.

use fault_proxy::{Fault, Rule};

use crate::client::{Client, Got};
use crate::origin::{folder, serve};

/// What a client gets for bytes 100 to 199 of 1000 under a fault, and whether the server says that it applied it.
fn got(fault: Fault) -> (Got, Vec<u8>, bool) {
    let (folder, bytes) = folder();
    let (server, mut client) = serve(&folder);
    let name = fault.name();
    server.rules().add(Rule::new(fault).nth(1));
    let got = client.get("/a/data", "100-199");
    let log = server.take_log();
    assert_eq!((log[0].status, log[0].bytes), (got.status, got.body.len() as u64), "{name}");
    let applied = log[0].fault == Some(name);
    assert_eq!(server.counts().faults, u64::from(applied));
    // The next request is served rightly, on a connection of its own if need be.
    let mut client = if got.cut.is_some() || got.status == 0 { Client::new(server.address()) } else { client };
    assert_eq!(client.get("/a/data", "100-199").body, &bytes[100..200], "{name}");
    (got, bytes, applied)
}

#[test]
fn bodies_end_early() {
    let (got_reset, bytes, applied) = got(Fault::Reset { after: 40 });
    assert!(applied && got_reset.is_reset() && got_reset.status == 206, "{got_reset:?}");
    assert!(bytes[100..140].starts_with(&got_reset.body));
    let (got_short, bytes, applied) = got(Fault::Short { after: 40 });
    assert!(applied && got_short.is_cut_in_good_order() && got_short.field("Content-Length") == "100");
    assert_eq!(got_short.body, &bytes[100..140]);
    // However short the body is, the fault bites.
    let (got_short, bytes, _) = got(Fault::Short { after: 1 << 40 });
    assert!(got_short.is_cut_in_good_order());
    assert_eq!(got_short.body, &bytes[100..199]);
    let (lost, _, applied) = got(Fault::Lost);
    assert!(applied && lost.is_cut_in_good_order() && lost.status == 0);
    let (garbage, _, applied) = got(Fault::NotHttp);
    assert!(applied && garbage.status == 0);
}

#[test]
fn an_answer_without_a_body_ends_in_its_head() {
    let (folder, _) = folder();
    let (server, mut client) = serve(&folder);
    server.rules().add(Rule::new(Fault::Short { after: 10 }));
    let head = client.head("/a/data");
    assert!(head.is_cut_in_good_order() && !head.fields.is_empty(), "{head:?}");
}

#[test]
fn a_stalled_answer_keeps_its_connection_until_the_server_ends() {
    let (folder, bytes) = folder();
    for (fault, expected) in [(Fault::Stall { after: 40 }, 40), (Fault::NoAnswer, 0)] {
        let (server, mut client) = serve(&folder);
        server.rules().add(Rule::new(fault));
        client.send("GET /a/data", "Range: bytes=100-199\r\n");
        if expected > 0 {
            assert_eq!(client.receive(true, expected).body, &bytes[100..140]);
        }
        while server.counts().most_in_flight == 0 {
            std::thread::yield_now();
        }
        let waiting = std::thread::spawn(move || client.receive(true, 1));
        drop(server);
        assert!(waiting.join().unwrap().cut.is_some());
    }
}

#[test]
fn statuses_come_as_services_word_them() {
    let (busy, ..) = got(Fault::Unavailable { retry_after_seconds: 3 });
    assert_eq!((busy.status, busy.field("Retry-After")), (503, "3"));
    for (fault, status, code) in [
        (Fault::SlowDown, 503, "<Code>SlowDown</Code>"),
        (Fault::Conflict, 409, "<Code>ConditionalRequestConflict</Code>"),
        (Fault::Forbidden, 403, "<Code>AccessDenied</Code>"),
        (Fault::Status(500), 500, ""),
        (Fault::Html, 200, "<html>"),
    ] {
        let (got, _, applied) = got(fault);
        assert!(applied && got.status == status);
        assert!(String::from_utf8(got.body).unwrap().contains(code));
    }
    let (redirect, ..) = got(Fault::RedirectLoop);
    assert_eq!((redirect.status, redirect.field("Location")), (302, "http://example/a/data"));
}

#[test]
fn heads_and_bodies_lie() {
    let (wrong, bytes, _) = got(Fault::WrongContentRange);
    assert_eq!(wrong.field("Content-Range"), "bytes 200-299/1000");
    assert_eq!(wrong.body, &bytes[100..200]);
    let (wrong, bytes, _) = got(Fault::WrongBytes { shift: 50 });
    assert_eq!((wrong.status, wrong.field("Content-Range")), (206, "bytes 100-199/1000"));
    assert_eq!(wrong.body, &bytes[150..250]);
    let (changed, ..) = got(Fault::ChangedEtag);
    assert_eq!(changed.field("ETag"), "\"another-version\"");
    let (other, ..) = got(Fault::OtherLength { more: -1 });
    assert_eq!(other.field("Content-Range"), "bytes 100-199/999");
    let (flipped, mut bytes, _) = got(Fault::FlippedByte { at: 142 });
    bytes[142] ^= 1;
    assert_eq!(flipped.body, &bytes[100..200]);
    let (whole, bytes, applied) = got(Fault::WholeObject);
    assert!(applied && whole.status == 200 && whole.field("Content-Range").is_empty());
    assert_eq!(whole.body, bytes);
    let (garbage, ..) = got(Fault::GzipGarbage);
    assert!(garbage.field("Content-Encoding") == "gzip" && !garbage.body.starts_with(&[0x1f, 0x8b]));
    let (zipped, bytes, _) = got(Fault::Gzipped);
    assert!(zipped.field("Content-Encoding") == "gzip" && zipped.body.starts_with(&[0x1f, 0x8b]));
    // Stored, not squeezed: the bytes are there as they are.
    assert!(zipped.body.windows(100).any(|part| part == &bytes[100..200]));
}

#[test]
fn a_fault_that_does_not_fit_is_not_applied() {
    let (folder, bytes) = folder();
    let (server, mut client) = serve(&folder);
    for fault in [Fault::WrongContentRange, Fault::WrongBytes { shift: 1 }, Fault::WholeObject] {
        server.rules().clear();
        server.rules().add(Rule::new(fault));
        assert_eq!(client.get("/a/data", "").body, bytes);
    }
    assert_eq!(server.counts().faults, 0);
}

#[test]
fn bodies_go_on_and_on() {
    let (folder, bytes) = folder();
    let (server, mut client) = serve(&folder);
    server.rules().add(Rule::new(Fault::Endless));
    client.send("GET /a/data", "");
    let got = client.receive(true, 3 << 20);
    assert!(got.body.len() >= 3 << 20 && got.field("Content-Length").is_empty());
    drop(client);
    server.rules().clear();
    server.rules().add(Rule::new(Fault::HugeLength(1 << 60)));
    let mut client = Client::new(server.address());
    client.send("GET /a/data", "");
    let got = client.receive(true, 3 << 20);
    assert_eq!(got.field("Content-Length"), (1_u64 << 60).to_string());
    assert_eq!(got.body[..1000], bytes);
    assert!(got.body[1000..].iter().all(|&byte| byte == 0) && got.body.len() == 3 << 20);
}
