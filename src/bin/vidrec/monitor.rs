//! `vidrec monitor`: show what a running loader does.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use console::Term;
use serde::Deserialize;

use crate::Run;
use crate::output::{bytes, count};

/// The number of bytes of a line that are read. The lines of a loader have about 400.
const LONGEST: usize = 1 << 16;
/// The maximum width of the bar, in columns.
const WIDEST: u64 = 32;
/// The pause after the end of the file is reached.
const PAUSE: Duration = Duration::from_millis(200);

/// Show what a running loader does: batches ready, frames per second, and whether training or the loader waits.
///
/// On a terminal, vidrec updates one line. Elsewhere, it prints a line of text for each line of PATH. When the loader ends,
/// vidrec says so and waits for the next one. Ctrl-C ends it.
#[derive(clap::Args)]
pub struct Args {
    /// The file or named pipe to which the loader writes: in Python, `loader.monitor(PATH)`.
    path: PathBuf,
}

/// Shows lines until it is interrupted or its output is closed.
pub fn run(args: &Args) -> Run {
    let about = |e: io::Error| format!("{}: {e}", args.path.display());
    let file = File::open(&args.path).map_err(|e| {
        let help = if e.kind() == ErrorKind::NotFound {
            "; no loader writes there: call `loader.monitor(PATH)` in Python, or make a pipe with mkfifo"
        } else {
            ""
        };
        about(e) + help
    })?;
    let mut lines = Lines::new(file);
    let mut shown = Shown::new();
    loop {
        match lines.next().map_err(about)? {
            Some(line) => shown.show(line)?,
            None => {
                if lines.writer_closed()? {
                    shown.end()?;
                }
                sleep(PAUSE);
            }
        }
    }
}

/// The fields of a line that are shown. It may have more.
#[derive(Deserialize)]
struct Told {
    epoch: u64,
    batches: u64,
    ready: u64,
    prefetch: u64,
    frames_per_second: f64,
    waiting: f64,
    loader_waiting: f64,
    /// What was fetched, if the data set is remote.
    remote: Option<Remote>,
    /// Whether this is the last line of the loader.
    #[serde(default)]
    ended: bool,
}

/// What was fetched of a remote data set.
#[derive(Deserialize)]
struct Remote {
    fetched_bytes: u64,
    retries: u64,
    /// Absent in what the loader itself counts.
    #[serde(default)]
    fetched_per_second: f64,
}

impl Remote {
    fn text(&self) -> String {
        // The conversion saturates, so a line is short whatever the number.
        let rate = bytes(self.fetched_per_second as u64);
        let retries = if self.retries > 0 { format!(", {} retries", self.retries) } else { String::new() };
        format!("  network {rate}/s, {} in all{retries}", bytes(self.fetched_bytes))
    }
}

impl Told {
    fn text(&self) -> String {
        let room = self.prefetch.min(WIDEST);
        // A queue that is longer than the bar is scaled down.
        let full = u128::from(self.ready) * u128::from(room) / u128::from(self.prefetch.max(1));
        let full = full.min(room.into()) as usize;
        let bar = "#".repeat(full) + &".".repeat(room as usize - full);
        let Told { epoch, batches, ready, .. } = self;
        let remote = self.remote.as_ref().map_or_else(String::new, Remote::text);
        let (rate, training, loader) =
            (number(self.frames_per_second), share(self.waiting), share(self.loader_waiting));
        format!(
            "epoch {epoch}  [{bar}] {ready} ready  {rate} frames/s  training waits {training}  \
             loader waits {loader}  {batches} batches{remote}"
        )
    }
}

fn share(value: f64) -> String {
    number(value * 100.0) + "%"
}

/// A number without decimals, and short even if it is very large.
fn number(value: f64) -> String {
    if value.abs() < 1e12 { format!("{value:.0}") } else { format!("{value:.0e}") }
}

/// What is shown behind the last line of a loader.
const ENDED: &str = "  the loader has ended";

/// Turns lines into text and prints it.
struct Shown {
    terminal: Option<Term>,
    /// Lines that a loader did not write.
    strange: u64,
    latest: String,
    /// Whether a loader is writing, as far as is known.
    running: bool,
}

impl Shown {
    fn new() -> Self {
        let terminal = Some(Term::stdout()).filter(Term::is_term);
        Shown { terminal, strange: 0, latest: "no lines from a loader yet".into(), running: false }
    }

    fn show(&mut self, line: &[u8]) -> io::Result<()> {
        match serde_json::from_slice::<Told>(line) {
            Ok(told) => {
                self.latest = told.text();
                self.running = !told.ended;
                if told.ended {
                    self.latest += ENDED;
                }
            }
            Err(_) => self.strange += 1,
        }
        self.print()
    }

    /// The writer of the pipe has closed it, perhaps without a last line.
    fn end(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.running) {
            return Ok(());
        }
        if self.terminal.is_some() {
            self.latest += ENDED;
            return self.print();
        }
        // Not on standard output, which has a line for each line of the loader.
        writeln!(io::stderr(), "vidrec: the loader has ended")
    }

    fn print(&self) -> io::Result<()> {
        let mut text = self.latest.clone();
        if self.strange > 0 {
            text += &format!("  ({} not from a loader)", count(self.strange, "line"));
        }
        let Some(terminal) = &self.terminal else {
            let mut out = io::stdout().lock();
            writeln!(out, "{text}")?;
            return out.flush();
        };
        let columns = usize::from(terminal.size().1).saturating_sub(1);
        terminal.clear_line()?;
        terminal.write_str(&console::truncate_str(&text, columns, "…"))
    }
}

/// The lines of a file that grows.
struct Lines<F> {
    file: F,
    chunk: Box<[u8]>,
    /// The start of the unprocessed part of `chunk`.
    start: usize,
    end: usize,
    /// The line so far, truncated if it is too long.
    line: Vec<u8>,
    whole: bool,
}

impl<F: Follow> Lines<F> {
    fn new(file: F) -> Self {
        Lines { file, chunk: vec![0; 1 << 13].into(), start: 0, end: 0, line: Vec::new(), whole: false }
    }

    /// The next line, truncated if it is too long; `None` if there is none yet.
    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        if std::mem::take(&mut self.whole) {
            self.line.clear();
        }
        loop {
            let rest = &self.chunk[self.start..self.end];
            let newline = rest.iter().position(|&b| b == b'\n');
            let part = &rest[..newline.unwrap_or(rest.len())];
            let room = LONGEST - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            self.start += part.len();
            if newline.is_some() {
                self.start += 1;
                self.whole = true;
                return Ok(Some(&self.line));
            }
            (self.start, self.end) = (0, self.read()?);
            if self.end == 0 {
                if self.file.begins_anew()? {
                    self.line.clear();
                }
                return Ok(None);
            }
        }
    }

    /// Whether nobody has the pipe open for writing, after the end was reached. Nobody knows that of a file.
    fn writer_closed(&self) -> io::Result<bool> {
        self.file.writer_closed()
    }

    fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.file.read(&mut self.chunk) {
                Err(e) if e.kind() == ErrorKind::Interrupted => (),
                read => return read,
            }
        }
    }
}

/// A file that others may append to while it is read.
trait Follow: Read {
    /// Goes to the start if the file was truncated. Returns whether it was.
    fn begins_anew(&mut self) -> io::Result<bool>;

    /// Whether what was read last is the end because the writer closed it.
    fn writer_closed(&self) -> io::Result<bool>;
}

impl Follow for File {
    fn begins_anew(&mut self) -> io::Result<bool> {
        let about = self.metadata()?;
        let cut = about.is_file() && about.len() < self.stream_position()?;
        if cut {
            self.rewind()?;
        }
        Ok(cut)
    }

    fn writer_closed(&self) -> io::Result<bool> {
        // Reading from a pipe waits as long as somebody can write to it, so its end is that of the writer.
        Ok(!self.metadata()?.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is read in pieces of at most the given size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let (piece, rest) = self.0.split_at(self.1.min(self.0.len()).min(into.len()));
            into[..piece.len()].copy_from_slice(piece);
            self.0 = rest;
            Ok(piece.len())
        }
    }

    impl Follow for Pieces<'_> {
        fn begins_anew(&mut self) -> io::Result<bool> {
            Ok(false)
        }

        fn writer_closed(&self) -> io::Result<bool> {
            Ok(false)
        }
    }

    #[test]
    fn lines_are_found_in_any_pieces_and_long_ones_are_cut() {
        let long = "x".repeat(3 * LONGEST);
        let text = format!("one\n\n{long}\ntwo\nnot yet whole");
        for size in [1, 2, 7, 1 << 20] {
            let mut lines = Lines::new(Pieces(text.as_bytes(), size));
            let mut found = Vec::new();
            while let Some(line) = lines.next().unwrap() {
                found.push(line.to_vec());
            }
            assert_eq!(found, ["one".as_bytes(), b"", &long.as_bytes()[..LONGEST], b"two"]);
            assert!(lines.next().unwrap().is_none(), "and not yet at the next read");
        }
    }

    #[test]
    fn a_line_is_short_whatever_the_numbers() {
        let told = |prefetch, ready, rate| Told {
            epoch: u64::MAX,
            batches: u64::MAX,
            ready,
            prefetch,
            frames_per_second: rate,
            waiting: rate,
            loader_waiting: -rate,
            remote: (ready > 0).then_some(Remote { fetched_bytes: ready, retries: ready, fetched_per_second: rate }),
            ended: false,
        };
        assert!(told(4, 3, 1234.4).text().contains("[###.] 3 ready  1234 frames/s  training waits 123440%"));
        assert!(told(4, 3, 2048.0).text().ends_with("batches  network 2.0 kB/s, 3 B in all, 3 retries"));
        assert!(told(0, 3, 0.0).text().contains("[] 3 ready  0 frames/s  training waits 0%"));
        for (prefetch, ready) in [(u64::MAX, u64::MAX), (u64::MAX, 0), (0, u64::MAX)] {
            assert!(told(prefetch, ready, f64::MAX).text().len() < 330);
        }
    }
}
