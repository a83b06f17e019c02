//! `vidrec monitor`: show what a running loader does.

mod lines;
mod ranks;
mod told;

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use console::Term;

use crate::Run;
use crate::output::count;
use lines::Lines;
use ranks::Ranks;
use told::Told;

/// The pause after the end of the file is reached.
const PAUSE: Duration = Duration::from_millis(200);

/// Show what a running loader does: batches ready, frames per second, and whether training or the loader waits.
///
/// On a terminal, vidrec updates one line. Elsewhere, it prints a line of text for each line of PATH. When the loader ends,
/// vidrec says so and waits for the next one. Ctrl-C ends it.
///
/// PATH may be a folder in which each rank of a job has a file of its own, such as rank-3.jsonl. vidrec then shows all ranks
/// together, and on a terminal also each rank, or those that wait most if there are more than rows. Elsewhere, it prints a
/// line each second in which a rank wrote something.
#[derive(clap::Args)]
pub struct Args {
    /// The file or named pipe to which the loader writes: in Python, `loader.monitor(PATH)`. Or a folder of such files.
    path: PathBuf,
}

/// Shows lines until it is interrupted or its output is closed.
pub fn run(args: &Args) -> Run {
    if args.path.is_dir() {
        return Ranks::new(&args.path).follow();
    }
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

/// What is shown after the last line of a loader.
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
