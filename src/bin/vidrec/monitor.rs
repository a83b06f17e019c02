//! `vidrec monitor`: what is a running loader doing?

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use console::Term;
use serde::Deserialize;

use crate::Run;
use crate::output::count;

/// Longest line that is looked at, in bytes; those of a loader have some 400.
const LONGEST: usize = 1 << 16;
/// Widest bar, in columns.
const WIDEST: u64 = 32;
/// How long nothing is looked for where nothing more has been written.
const PAUSE: Duration = Duration::from_millis(200);

/// Show what a running loader does: batches ready, frames a second, and who waits for whom.
///
/// On a terminal one line is kept up to date; elsewhere each line of PATH becomes a line of text. Ends at Ctrl-C.
#[derive(clap::Args)]
pub struct Args {
    /// The file or named pipe to which the loader writes: in Python, `loader.monitor(PATH)`.
    path: PathBuf,
}

/// Shows until it is interrupted, or nobody reads.
pub fn run(args: &Args) -> Run {
    let about = |e: io::Error| format!("{}: {e}", args.path.display());
    let file = File::open(&args.path).map_err(|e| {
        let help = if e.kind() == ErrorKind::NotFound {
            "; nobody writes there: begin with `loader.monitor(PATH)` in Python, or make a pipe with mkfifo"
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
            None => sleep(PAUSE),
        }
    }
}

/// What of a line is shown; there may be more in it.
#[derive(Deserialize)]
struct Told {
    epoch: u64,
    batches: u64,
    ready: u64,
    prefetch: u64,
    frames_per_second: f64,
    waiting: f64,
    loader_waiting: f64,
}

impl Told {
    fn text(&self) -> String {
        let room = self.prefetch.min(WIDEST);
        // What does not fit is shown in proportion.
        let full = u128::from(self.ready) * u128::from(room) / u128::from(self.prefetch.max(1));
        let full = full.min(room.into()) as usize;
        let bar = "#".repeat(full) + &".".repeat(room as usize - full);
        let Told { epoch, batches, ready, .. } = self;
        let (rate, training, loader) =
            (number(self.frames_per_second), share(self.waiting), share(self.loader_waiting));
        format!(
            "epoch {epoch}  [{bar}] {ready} ready  {rate} frames/s  training waits {training}  \
             loader waits {loader}  {batches} batches"
        )
    }
}

fn share(value: f64) -> String {
    number(value * 100.0) + "%"
}

/// Without decimals, and short however large it is.
fn number(value: f64) -> String {
    if value.abs() < 1e12 { format!("{value:.0}") } else { format!("{value:.0e}") }
}

/// Where lines become text.
struct Shown {
    terminal: Option<Term>,
    /// Lines that a loader did not write.
    strange: u64,
    latest: String,
}

impl Shown {
    fn new() -> Self {
        let terminal = Some(Term::stdout()).filter(Term::is_term);
        Shown { terminal, strange: 0, latest: "no lines of a loader yet".into() }
    }

    fn show(&mut self, line: &[u8]) -> io::Result<()> {
        match serde_json::from_slice::<Told>(line) {
            Ok(told) => self.latest = told.text(),
            Err(_) => self.strange += 1,
        }
        let mut text = self.latest.clone();
        if self.strange > 0 {
            text += &format!("  ({} not of a loader)", count(self.strange, "line"));
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

/// The lines of something that grows.
struct Lines<F> {
    file: F,
    chunk: Box<[u8]>,
    /// What was read of `chunk` and not looked at.
    start: usize,
    end: usize,
    /// The line so far, or its beginning if it is too long.
    line: Vec<u8>,
    whole: bool,
}

impl<F: Follow> Lines<F> {
    fn new(file: F) -> Self {
        Lines { file, chunk: vec![0; 1 << 13].into(), start: 0, end: 0, line: Vec::new(), whole: false }
    }

    /// The next line; `None` if there is none yet. Of one that is too long, its beginning.
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

    fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.file.read(&mut self.chunk) {
                Err(e) if e.kind() == ErrorKind::Interrupted => (),
                read => return read,
            }
        }
    }
}

/// Something to read from whose end more may be written.
trait Follow: Read {
    /// Goes to the beginning if it was cut since; whether it was.
    fn begins_anew(&mut self) -> io::Result<bool>;
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comes in pieces of some size.
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
            assert!(lines.next().unwrap().is_none(), "and not yet at the next look");
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
        };
        assert!(told(4, 3, 1234.4).text().contains("[###.] 3 ready  1234 frames/s  training waits 123440%"));
        assert!(told(0, 3, 0.0).text().contains("[] 3 ready  0 frames/s  training waits 0%"));
        for (prefetch, ready) in [(u64::MAX, u64::MAX), (u64::MAX, 0), (0, u64::MAX)] {
            assert!(told(prefetch, ready, f64::MAX).text().len() < 250);
        }
    }
}
