//! The journal of a run. It records what is packed and on disk, so that an interrupted run can be resumed.
//!
//! ```text
//! line    := CRC-32 of the text, 8 hexadecimal digits | ' ' | text | '\n'
//! journal := Begin (Done* (Checkpoint | Shard))* Completion?
//! ```
//!
//! Each text is the JSON of a [`JournalEntry`]. Lines are kept in memory until the record files are on disk. They
//! are then written, with the mark last, and flushed to disk too. Everything after the last mark is ignored, and
//! so is everything after a line whose checksum is wrong. Resuming at an earlier mark is always correct, and only
//! costs time.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fingerprint::RunFingerprint;
use super::outcome::Done;
use vidrec_dataset::writer::{Checkpoint, ShardDone, Written};
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::{crc32, names};
use vidrec_store::disk::LogFile;
use vidrec_store::disk::publication::{FolderIntent, intent_of_given_names};
use vidrec_store::disk::regular_file::{Links, open_if_there};

/// The longest line that is read, in bytes.
const MAX_LINE: u64 = 256 << 20;

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JournalEntry {
    /// What is packed, and how. This is the first line.
    Begin(Box<RunFingerprint>),
    /// A video was packed or skipped.
    Done(Box<Done>),
    /// The open shard is on disk up to this point.
    Checkpoint(Checkpoint),
    /// The open shard is complete and on disk.
    Shard(ShardDone),
    /// Everything is on disk, and the files only have to get their names.
    Complete(Box<Completion>),
}

/// The work that is left at the end, and what to report then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Completion {
    #[serde(deserialize_with = "intent_of_given_names")]
    pub intent: FolderIntent,
    pub written: Written,
    /// The name of the list of failures.
    pub failures_file: Option<FileName>,
}

impl JournalEntry {
    /// Whether everything before this entry is on disk.
    fn is_mark(&self) -> bool {
        !matches!(self, JournalEntry::Done(_))
    }
}

/// A journal that is being written.
#[derive(Debug)]
pub(crate) struct Journal {
    file: LogFile,
    /// Lines that wait for their mark.
    lines: Vec<u8>,
}

impl Journal {
    /// Begins a journal in `dir`, and replaces an existing one.
    pub fn begin(dir: &Path, fingerprint: &RunFingerprint) -> Result<Self> {
        let mut journal = Journal { file: LogFile::create(&dir.join(names::JOURNAL))?, lines: Vec::new() };
        journal.mark(&JournalEntry::Begin(Box::new(fingerprint.clone())))?;
        Ok(journal)
    }

    /// Continues a journal that is valid up to byte `end`.
    pub fn resume(dir: &Path, end: u64) -> Result<Self> {
        Ok(Journal { file: LogFile::reopen(&dir.join(names::JOURNAL), end)?, lines: Vec::new() })
    }

    /// Adds the result of a video, which is written to disk with the next mark.
    pub fn note(&mut self, done: Done) -> Result<()> {
        self.push(&JournalEntry::Done(Box::new(done)))
    }

    /// Whether anything was added after the last mark.
    pub fn has_notes(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Writes everything that was added to disk, with `mark` at the end. The record files must be on disk already.
    pub fn mark(&mut self, mark: &JournalEntry) -> Result<()> {
        self.push(mark)?;
        self.file.append(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    /// Removes the journal in `dir`, because the run is over.
    pub fn remove(dir: &Path) -> Result<()> {
        LogFile::remove(&dir.join(names::JOURNAL))
    }

    fn push(&mut self, entry: &JournalEntry) -> Result<()> {
        let text = serde_json::to_string(entry).map_err(|e| Error::internal(format!("journal: {e}")))?;
        self.lines.extend_from_slice(format!("{:08x} {text}\n", crc32(text.as_bytes())).as_bytes());
        Ok(())
    }
}

/// Reads the journal in `dir` line by line, up to the first line that is torn or damaged.
pub(crate) struct JournalLines {
    input: BufReader<File>,
    path: PathBuf,
    /// The number of bytes of the lines that were returned.
    pub end: u64,
}

impl JournalLines {
    /// Opens the journal. Returns `None` if there is none.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(names::JOURNAL);
        let file = open_if_there(&path, Links::Refuse)?;
        Ok(file.map(|file| JournalLines { input: BufReader::new(file), path, end: 0 }))
    }

    /// Returns the next entry, or `None` at the end of the valid lines.
    pub fn next(&mut self) -> Result<Option<JournalEntry>> {
        let mut line = Vec::new();
        let read = (&mut self.input).take(MAX_LINE).read_until(b'\n', &mut line);
        read.map_err(|e| Error::io("read", &self.path, e))?;
        let Some(text) = checked(&line) else { return Ok(None) };
        let entry = serde_json::from_slice(text).map_err(|e| {
            Error::usage("this version of vidrec did not write this journal").file(&self.path).found(e).help(
                "if another version wrote it, finish with that version; if the folder came from others, remove the file",
            )
        })?;
        self.end += line.len() as u64;
        Ok(Some(entry))
    }
}

/// Returns the text of a complete line whose checksum is right.
fn checked(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_suffix(b"\n")?;
    let (crc, text) = line.split_at_checked(9)?;
    let crc = std::str::from_utf8(crc).ok()?.strip_suffix(' ')?;
    (u32::from_str_radix(crc, 16).ok()? == crc32(text)).then_some(text)
}

/// The contents of a whole journal.
pub(crate) struct JournalSummary {
    pub fingerprint: RunFingerprint,
    /// The number of videos that were done at the last mark.
    pub videos: u64,
    /// The shards that are complete.
    pub shards: Vec<ShardDone>,
    /// The checkpoints of the shard after those, each with its end in the journal.
    pub checkpoints: Vec<(Checkpoint, u64)>,
    /// The end of the last complete shard in the journal, or of the first line.
    pub shards_end: u64,
    /// The end of the last mark.
    pub end: u64,
    /// The work that is left, if everything is on disk.
    pub complete: Option<Completion>,
}

impl JournalSummary {
    /// Reads the journal in `dir`. Returns `None` if it does not exist, or has no first line.
    pub fn read(dir: &Path) -> Result<Option<Self>> {
        let Some(mut lines) = JournalLines::open(dir)? else { return Ok(None) };
        let Some(JournalEntry::Begin(fingerprint)) = lines.next()? else { return Ok(None) };
        let mut summary = JournalSummary {
            fingerprint: *fingerprint,
            videos: 0,
            shards: Vec::new(),
            checkpoints: Vec::new(),
            shards_end: lines.end,
            end: lines.end,
            complete: None,
        };
        let mut videos = 0;
        while let Some(entry) = lines.next()? {
            videos += u64::from(matches!(entry, JournalEntry::Done(_)));
            if entry.is_mark() {
                (summary.videos, summary.end) = (videos, lines.end);
            }
            match entry {
                JournalEntry::Begin(_) | JournalEntry::Done(_) => {}
                JournalEntry::Checkpoint(point) => summary.checkpoints.push((point, lines.end)),
                JournalEntry::Shard(shard) => {
                    summary.shards.push(shard);
                    summary.checkpoints.clear();
                    summary.shards_end = lines.end;
                }
                JournalEntry::Complete(complete) => summary.complete = Some(*complete),
            }
        }
        Ok(Some(summary))
    }
}
