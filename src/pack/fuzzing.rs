//! What reads files of packs, messages and tables from any bytes: for the fuzz targets in `fuzz/`.

use std::path::Path;

use super::parts::receipt;
use super::run::journal::JournalSummary;
use super::track::read_any;
use super::work::wire::{Hello, Request, receive, receive_reply};
use crate::format::{crc32, names};

/// The name of a journal, and one of these lines, each with the checksum that it should have.
pub fn journal_of(lines: &[u8]) -> (&'static str, Vec<u8>) {
    let line = |text: &[u8]| [format!("{:08x} ", crc32(text)).as_bytes(), text, b"\n"].concat();
    (names::JOURNAL, lines.split(|&byte| byte == b'\n').flat_map(line).collect())
}

/// Reads the journal in a folder.
pub fn journal(folder: &Path) {
    let _ = JournalSummary::read(folder);
}

/// The receipt of a part.
pub fn receipts(bytes: &[u8]) {
    receipt::prove(bytes);
}

/// What a run and its decoding processes say to each other.
pub fn messages(bytes: &[u8]) {
    let _ = receive::<Hello>(&mut &*bytes);
    let _ = receive::<Request>(&mut &*bytes);
    let _ = receive_reply(&mut &*bytes);
}

/// Reads a file of values of tracks, of the kind that its ending says.
pub fn values(file: &Path) {
    read_any(file);
}
