//! The program, as other languages use it.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::client::Client;
use crate::origin::folder;

struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(arguments: &[&str]) -> (Self, Client) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fault-proxy"));
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port: u16 = lines.next().unwrap().unwrap().parse().unwrap();
        (Self { child, lines }, Client::new(([127, 0, 0, 1], port).into()))
    }

    fn ask(&mut self, line: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        self.lines.next().unwrap().unwrap()
    }
}

#[test]
fn the_program_is_led_by_lines() {
    let (folder, bytes) = folder();
    let path = folder.path().to_str().unwrap();
    let (mut program, mut client) = Program::start(&["--folder", path, "--log", "--fault", "forbidden nth=2"]);
    assert_eq!(client.get("/a/data", "0-9").body, &bytes[..10]);
    assert_eq!(client.get("/a/data", "0-9").status, 403);
    assert_eq!(program.ask("fault slow-down path=data"), "ok");
    assert_eq!(client.get("/a/data", "").status, 503);
    assert_eq!(program.ask("clear"), "ok");
    assert_eq!(client.get("/a/data", "").body, bytes);
    assert_eq!(program.ask("latency-ms 0.5"), "ok");
    assert_eq!(program.ask("gbit 10"), "ok");
    assert_eq!(program.ask("gbit -1"), "error: '-1' is no bandwidth");
    assert_eq!(program.ask("jump"), "error: no command 'jump'");
    let counts = program.ask("counts");
    assert!(counts.starts_with(r#"{"requests": 4, "body_bytes": "#) && counts.contains(r#""faults": 2"#), "{counts}");
    let log = program.ask("log");
    let first =
        r#"[{"method": "GET", "path": "/a/data", "range": "bytes=0-9", "status": 206, "bytes": 10, "fault": null}, "#;
    assert!(log.starts_with(first) && log.contains(r#""fault": "slow-down""#), "{log}");
    assert_eq!(program.ask("log"), "[]");
    drop(program.child.stdin.take());
    assert!(program.lines.next().unwrap().unwrap().starts_with(r#"{"requests": 4, "#));
    assert!(program.child.wait().unwrap().success());
}

#[test]
fn wrong_options_are_named() {
    for (arguments, message) in [
        (&["--fast"][..], "no option '--fast'"),
        (&["--listen", "127.0.0.1:0"], "--to or --folder is needed"),
        (&["--to", "127.0.0.1:1", "--without-ranges"], "--without-ranges needs --folder"),
        (&["--folder", ".", "--fault", "fire"], "no fault 'fire'"),
    ] {
        let done = Command::new(env!("CARGO_BIN_EXE_fault-proxy")).args(arguments).output().unwrap();
        let error = String::from_utf8(done.stderr).unwrap();
        assert!(!done.status.success() && error.starts_with(&format!("fault-proxy: {message}\n")), "{error}");
    }
}
