//! Reads `.idx` and `.lst`: lines of text beside a record file.
//!
//! Sources: MXNet, `python/mxnet/recordio.py` (`MXIndexedRecordIO`) and `tools/im2rec.py`; dmlc-core,
//! `src/io/indexed_recordio_split.cc`, which ignores keys and sorts offsets.

use std::collections::HashMap;
use std::path::Path;

use super::scan::Found;
use crate::interop::text;
use vidrec_format::error::{Error, Result};

/// Reads an `.idx` file: a key and the offset of a record in each line.
fn read_idx(path: &Path) -> Result<Vec<(u64, u64)>> {
    let text = text::read(path)?;
    let mut entries = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace().map(str::parse::<u64>);
        match (words.next(), words.next(), words.next()) {
            (None, ..) => {}
            (Some(Ok(key)), Some(Ok(offset)), None) => entries.push((key, offset)),
            _ => return Err(fault(path, format!("line {} is not a key and an offset", n + 1)).found(line)),
        }
    }
    Ok(entries)
}

/// Compares an `.idx` file with the records that actually exist.
pub(super) fn check_idx(path: &Path, records: &[Found]) -> Result<()> {
    let entries = read_idx(path)?;
    if !entries.is_empty() && entries.iter().all(|&(_, offset)| offset == u64::MAX) {
        let what = "all offsets are 2^64-1: the program that wrote them did not know its position in the file";
        return Err(fault(path, what.into()));
    }
    let mut by_offset = entries.clone();
    by_offset.sort_by_key(|&(_, offset)| offset);
    for (n, (&(key, offset), record)) in by_offset.iter().zip(records).enumerate() {
        if offset != record.offset {
            let what = format!("the offset of key {key} is not where its record begins");
            return Err(fault(path, what).expected(format!("byte {} for record {n}", record.offset)).found(offset));
        }
    }
    if entries.len() != records.len() {
        return Err(fault(
            path,
            "the number of its entries is not the number of records: one of the files was truncated".into(),
        )
        .expected(records.len())
        .found(entries.len()));
    }
    Ok(())
}

fn fault(path: &Path, what: String) -> Error {
    text::malformed(path, what).help("recreate it with MXNet's rec2idx.py, or remove it: vidrec does not need it")
}

/// Reads the paths of a `.lst` file, by id. Each line has an id, labels and a path, separated by tabs.
pub(super) fn read_lst(path: &Path) -> Result<HashMap<u64, String>> {
    let text = text::read(path)?;
    let mut paths = HashMap::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let columns: Vec<&str> = line.split('\t').collect();
        let id = columns.first().and_then(|id| id.trim().parse().ok()).filter(|_| columns.len() >= 3);
        let Some(id) = id else {
            return Err(text::malformed(path, format!("line {} is not an id, labels and a path", n + 1)).found(line));
        };
        paths.insert(id, columns[columns.len() - 1].trim().to_owned());
    }
    Ok(paths)
}
