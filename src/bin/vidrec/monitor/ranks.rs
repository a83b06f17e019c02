//! All ranks of a job, each with a file in one folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use console::Term;

use super::lines::Lines;
use super::told::{Told, number, share};
use crate::Run;
use crate::output::{count, grouped, printable};

/// How often the folder is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// A rank that wrote nothing for so long, and did not say that its loader has ended, counts as silent.
const SILENT: Duration = Duration::from_secs(15);

/// The ranks that have a file so far, by the names of the files.
pub struct Ranks {
    folder: PathBuf,
    ranks: BTreeMap<String, Rank>,
}

struct Rank {
    lines: Lines<File>,
    latest: Option<Told>,
    heard: Instant,
}

impl Rank {
    fn is_silent(&self) -> bool {
        self.heard.elapsed() > SILENT && self.latest.as_ref().is_some_and(|told| !told.ended)
    }

    /// Reads what was written since the last time. Returns whether a loader wrote something.
    fn read(&mut self) -> io::Result<bool> {
        let mut heard = false;
        while let Some(line) = self.lines.next()? {
            if let Ok(told) = serde_json::from_slice(line) {
                (self.latest, self.heard, heard) = (Some(told), Instant::now(), true);
            }
        }
        Ok(heard)
    }
}

impl Ranks {
    pub fn new(folder: &Path) -> Self {
        Ranks { folder: folder.to_owned(), ranks: BTreeMap::new() }
    }

    /// Shows the ranks until it is interrupted or its output is closed.
    pub fn follow(mut self) -> Run {
        let about = |path: &Path, e: io::Error| format!("{}: {e}", path.display());
        let terminal = Some(Term::stdout()).filter(Term::is_term);
        let mut shown = 0;
        loop {
            let mut heard = false;
            for entry in fs::read_dir(&self.folder).map_err(|e| about(&self.folder, e))? {
                let path = entry.map_err(|e| about(&self.folder, e))?.path();
                if path.extension().is_none_or(|ending| ending != "jsonl") || !path.is_file() {
                    continue;
                }
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                if !self.ranks.contains_key(&name) {
                    let lines = Lines::new(File::open(&path).map_err(|e| about(&path, e))?);
                    self.ranks.insert(name.clone(), Rank { lines, latest: None, heard: Instant::now() });
                }
                if let Some(rank) = self.ranks.get_mut(&name) {
                    heard |= rank.read().map_err(|e| about(&path, e))?;
                }
            }
            match &terminal {
                Some(terminal) => {
                    terminal.clear_last_lines(shown)?;
                    shown = self.draw(terminal)?;
                }
                None if heard => {
                    let mut out = io::stdout().lock();
                    writeln!(out, "{}", self.total())?;
                    out.flush()?;
                }
                None => {}
            }
            sleep(LOOK);
        }
    }

    /// The ranks that have told something.
    fn told(&self) -> impl Iterator<Item = (&str, &Rank, &Told)> {
        self.ranks.iter().filter_map(|(name, rank)| Some((name.as_str(), rank, rank.latest.as_ref()?)))
    }

    /// One line about all ranks.
    fn total(&self) -> String {
        let running: Vec<_> = self.told().filter(|(_, rank, told)| !told.ended && !rank.is_silent()).collect();
        let all = self.told().count();
        let mut text = count(all as u64, "rank");
        let sum = |of: fn(&Told) -> f64| running.iter().map(|(_, _, told)| of(told)).sum::<f64>();
        if let (Some(first), Some(last)) =
            (running.iter().map(|(_, _, told)| told.epoch).min(), running.iter().map(|(_, _, told)| told.epoch).max())
        {
            let epochs = if first == last { format!("epoch {first}") } else { format!("epochs {first} to {last}") };
            let ranks = running.len() as f64;
            let (frames, waits, loader) =
                (sum(|told| told.frames_per_second), sum(|told| told.waiting), sum(|told| told.loader_waiting));
            text += &format!(
                "  {epochs}  {} frames/s  training waits {}  loader waits {}",
                number(frames),
                share(waits / ranks),
                share(loader / ranks)
            );
        }
        let most = running.iter().max_by(|a, b| a.2.waiting.total_cmp(&b.2.waiting)).filter(|_| running.len() > 1);
        if let Some((name, _, told)) = most {
            text += &format!("  most: {} {}", printable(name), share(told.waiting));
        }
        let ended = self.told().filter(|(_, _, told)| told.ended).count();
        for (count, what) in [(ended, "ended"), (all - ended - running.len(), "silent")] {
            if count > 0 {
                text += &format!("  {} {what}", grouped(count as u64));
            }
        }
        text
    }

    /// Draws all ranks that fit. Returns the number of lines.
    fn draw(&self, terminal: &Term) -> io::Result<usize> {
        let (rows, columns) = terminal.size();
        let mut ranks: Vec<_> = self.told().collect();
        let most = usize::from(rows).saturating_sub(2);
        if ranks.len() > most {
            ranks.sort_by(|a, b| b.2.waiting.total_cmp(&a.2.waiting));
            ranks.truncate(most);
            ranks.sort_by_key(|(name, ..)| *name);
        }
        let state = |rank: &Rank, told: &Told| match (told.ended, rank.is_silent()) {
            (true, _) => "  ended",
            (_, true) => "  silent",
            _ => "",
        };
        let each =
            ranks.iter().map(|(name, rank, told)| format!("{}  {}{}", printable(name), told.text(), state(rank, told)));
        let lines: Vec<String> = std::iter::once(self.total()).chain(each).collect();
        for line in &lines {
            terminal.write_line(&console::truncate_str(line, usize::from(columns).saturating_sub(1), "…"))?;
        }
        Ok(lines.len())
    }
}
