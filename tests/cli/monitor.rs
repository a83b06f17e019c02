//! `vidrec monitor` from outside: what a loader writes, cut, mixed with other things, or through a pipe.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A running monitor, which is ended with the test.
struct Monitor {
    child: Child,
    shown: Option<BufReader<ChildStdout>>,
}

impl Monitor {
    fn start(path: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        let mut child = command.arg("monitor").arg(path).stdout(Stdio::piped()).spawn().unwrap();
        let shown = child.stdout.take().map(BufReader::new);
        Monitor { child, shown }
    }

    /// Waits for the next line.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.shown.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn told(batches: u64) -> String {
    format!(
        r#"{{"time": 1.5, "epoch": 2, "batches": {batches}, "ready": 3, "prefetch": 4, "frames_per_second": 512.4, "waiting": 0.06, "loader_waiting": 0.7, "more": [1]}}"#
    ) + "\n"
}

fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_file_is_followed_whatever_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, told(7)).unwrap();
    let mut monitor = Monitor::start(&path);
    let expected = "epoch 2  [###.] 3 ready  512 frames/s  training waits 6%  loader waits 70%  7 batches\n";
    assert_eq!(monitor.line(), expected);

    // Nothing of what others wrote reaches the terminal.
    append(&path, "\x1b[2J{\"epoch\": 1e999}\n");
    assert_eq!(monitor.line(), expected.replace('\n', "  (1 line not from a loader)\n"));
    append(&path, &("[".repeat(3 << 20) + "\n"));
    assert!(monitor.line().ends_with("(2 lines not from a loader)\n"));
    let (begin, end) = (&told(8)[..50], &told(8)[50..]);
    append(&path, begin);
    append(&path, end);
    assert!(monitor.line().contains("  8 batches"));

    // Begun anew, as by a program that rotates logs.
    File::create(&path).unwrap().write_all(told(1).as_bytes()).unwrap();
    assert!(monitor.line().contains("  1 batches"));
}

#[test]
fn the_last_line_of_a_loader_says_that_it_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, told(7) + &told(8).replace("\"more\"", "\"ended\": true, \"more\"")).unwrap();
    let mut monitor = Monitor::start(&path);
    assert!(monitor.line().ends_with("  7 batches\n"));
    assert!(monitor.line().ends_with("  8 batches  the loader has ended\n"));
    append(&path, &told(1));
    assert!(monitor.line().ends_with("  1 batches\n"), "another loader");
}

#[test]
#[cfg(unix)]
fn a_pipe_that_its_writer_closes_says_that_the_loader_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    let command = command.arg("monitor").arg(&path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let said = child.stderr.take().map(BufReader::new);
    let mut monitor = Monitor { shown: child.stdout.take().map(BufReader::new), child };
    fs::write(&path, told(1)).unwrap();
    assert!(monitor.line().contains("  1 batches"));
    let mut line = String::new();
    said.unwrap().read_line(&mut line).unwrap();
    assert_eq!(line, "vidrec: the loader has ended\n");
}

#[test]
#[cfg(unix)]
fn a_pipe_is_followed_from_one_writer_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let mut monitor = Monitor::start(&path);
    for batches in [1, 2, 3] {
        // Opening waits for the monitor, closing leaves it without a writer.
        fs::write(&path, told(batches)).unwrap();
        assert!(monitor.line().contains(&format!("  {batches} batches")));
    }
}

#[test]
fn it_ends_when_nobody_reads_and_says_what_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, told(1)).unwrap();
    let mut monitor = Monitor::start(&path);
    monitor.line();
    monitor.shown = None;
    append(&path, &told(2));
    assert_eq!(monitor.child.wait().unwrap().code(), Some(0));

    let run = Command::new(env!("CARGO_BIN_EXE_vidrec")).arg("monitor").arg(folder.path().join("no")).output().unwrap();
    let message = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert!(message.starts_with("vidrec: ") && message.contains("no: ") && message.contains("mkfifo"), "{message}");
}

fn rank(rank: u32, waiting: f64, more: &str) -> String {
    let line = format!(
        r#"{{"rank": {rank}, "epoch": 2, "batches": 7, "ready": 3, "prefetch": 4, "frames_per_second": 500, "waiting": {waiting}, "loader_waiting": 0.5{more}}}"#
    );
    line + "\n"
}

#[test]
fn all_ranks_of_a_folder_are_shown_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = |rank: u32| folder.path().join(format!("rank-{rank:05}.jsonl"));
    fs::write(path(0), rank(0, 0.1, "")).unwrap();
    fs::write(path(1), rank(1, 0.3, "")).unwrap();
    fs::write(folder.path().join("notes.txt"), "of something else\n").unwrap();
    let mut monitor = Monitor::start(folder.path());
    let both = "2 ranks  epoch 2  1000 frames/s  training waits 20%  loader waits 50%  most: rank-00001 30%\n";
    assert_eq!(monitor.line(), both);
    // One that comes later, and one that ends.
    fs::write(path(2), rank(2, 0.2, "")).unwrap();
    assert!(monitor.line().starts_with("3 ranks  epoch 2  1500 frames/s  training waits 20%"));
    append(&path(1), &("{\"strange\": 1}\n".to_owned() + &rank(1, 0.9, r#", "ended": true"#)));
    let line = monitor.line();
    assert!(
        line.starts_with("3 ranks  epoch 2  1000 frames/s") && line.ends_with("rank-00002 20%  1 ended\n"),
        "{line}"
    );
    append(&path(2), &rank(2, 0.2, r#", "ended": true"#));
    append(&path(0), &rank(0, 0.2, r#", "ended": true"#));
    let mut line = monitor.line();
    // The two lines may come in different seconds.
    while !line.ends_with("3 ended\n") {
        assert!(!line.is_empty(), "it has ended");
        line = monitor.line();
    }
    assert_eq!(line, "3 ranks  3 ended\n");
}
