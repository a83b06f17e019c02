//! The proxy in front of another server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use fault_proxy::{Fault, Proxy, Rule};

use crate::client::Client;
use crate::origin::{folder, serve};

#[test]
fn a_proxy_forwards_and_fails() {
    let (folder, bytes) = folder();
    let (origin, _) = serve(&folder);
    let proxy = Proxy::to(&origin.address().to_string()).unwrap();
    let mut client = Client::new(proxy.address());
    let direct = Client::new(origin.address()).head("/a/data");
    origin.reset_counts();
    for _ in 0..3 {
        let got = client.get("/a/data", "10-19");
        assert_eq!((got.status, &got.body[..]), (206, &bytes[10..20]));
        assert_eq!(got.field("ETag"), direct.field("ETag"));
    }
    assert_eq!(client.head("/a/data").field("Content-Length"), "1000");
    assert_eq!(client.get("/missing", "").status, 404);
    assert_eq!((origin.counts().requests, origin.counts().connections), (5, 1), "one connection for another");
    proxy.rules().add(Rule::new(Fault::Lost).nth(1));
    proxy.rules().add(Rule::new(Fault::WrongBytes { shift: 900 }).nth(2));
    assert!(client.get("/a/data", "10-19").cut.is_some());
    assert_eq!(origin.counts().requests, 6, "a lost answer was asked for");
    let mut client = Client::new(proxy.address());
    assert_eq!(client.get("/a/data", "10-19").body, &bytes[910..920]);
    assert_eq!(client.get("/a/data", "10-19").body, &bytes[10..20]);
}

#[test]
fn a_proxy_outlives_its_server_and_the_other_way_round() {
    let (folder, bytes) = folder();
    let (origin, _) = serve(&folder);
    let proxy = Proxy::to(&origin.address().to_string()).unwrap();
    let mut client = Client::new(proxy.address());
    assert_eq!(client.get("/a/data", "").body, bytes);
    let listen = origin.address().to_string();
    drop(origin);
    assert_eq!(client.get("/a/data", "").status, 502);
    // The old connection is gone; another one is made.
    let _origin = fault_proxy::Origin::new(folder.path()).start(&listen).unwrap();
    assert_eq!(client.get("/a/data", "").body, bytes);
}

/// A server that answers one request with `answer`, closes the connection, and returns the request.
fn once(answer: &'static str, body_of_request: usize) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answered = thread::spawn(move || {
        let mut stream: BufReader<TcpStream> = BufReader::new(listener.accept().unwrap().0);
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut request).unwrap() > 0);
        }
        let mut body = vec![0; body_of_request];
        stream.read_exact(&mut body).unwrap();
        stream.get_mut().write_all(answer.as_bytes()).unwrap();
        request + &String::from_utf8(body).unwrap()
    });
    (address, answered)
}

#[test]
fn bodies_of_all_framings_come_through() {
    for answer in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfra\r\n4;x=y\r\nming\r\n0\r\nTrailer: x\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nframing",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nframing",
    ] {
        let (address, answered) = once(answer, 0);
        let proxy = Proxy::to(&address).unwrap();
        let got = Client::new(proxy.address()).get("/", "");
        assert_eq!((got.status, &got.body[..]), (200, &b"framing"[..]), "{answer}");
        assert!(answered.join().unwrap().contains("Host: example\r\n"));
        assert_eq!(proxy.counts().body_bytes, 7);
    }
}

#[test]
fn uploads_come_through() {
    for (fields, sent, forwarded) in [
        ("Content-Length: 5", "hello", "hello"),
        ("Transfer-Encoding: chunked", "5;x=y\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"),
    ] {
        let (address, answered) = once("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", forwarded.len());
        let proxy = Proxy::to(&address).unwrap();
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.write_all(format!("PUT /x HTTP/1.1\r\n{fields}\r\n\r\n{sent}").as_bytes()).unwrap();
        assert!(answered.join().unwrap().ends_with(&format!("\r\n\r\n{forwarded}")), "{fields}");
    }
}

#[test]
fn a_client_that_waits_for_a_word_gets_it() {
    let (address, answered) = once("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 5);
    let proxy = Proxy::to(&address).unwrap();
    let mut stream = BufReader::new(TcpStream::connect(proxy.address()).unwrap());
    stream.get_mut().write_all(b"PUT /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n").unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    stream.get_mut().write_all(b"hello").unwrap();
    assert!(answered.join().unwrap().ends_with("\r\n\r\nhello"));
}
