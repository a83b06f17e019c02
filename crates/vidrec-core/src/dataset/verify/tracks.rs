//! Checks the track file of a shard from its first byte to its last.

use super::scan::Problems;
use crate::dataset::{RecordsDigest, Shard, TrackFile};
use crate::progress::Counter;
use vidrec_format::data_binding::hex;
use vidrec_format::track::directory::Entry;
use vidrec_format::track::file;
use vidrec_format::track::file::ALIGNMENT;
use vidrec_format::{Error, Result};

/// Returns the problems of the tracks of a shard. If the file is not the one that the index names, that is the only
/// problem, and the file is not read.
pub(super) fn check(shard: &Shard, counter: &mut Counter<'_, '_>) -> Result<Problems> {
    let Some(file) = &shard.tracks else { return Ok(Problems::default()) };
    let mut scan = TrackScan { shard, file, problems: Problems::default(), end: file::END_BYTES as u64 };
    if let Err(e) = file.open() {
        scan.problems.note(e, &file.path)?;
        return Ok(scan.problems);
    }
    if let Err(e) = scan.digest(counter) {
        scan.problems.note(e, &file.path)?;
    }
    for clip in 0..shard.clip_count() {
        if let Err(e) = scan.clip(clip) {
            scan.problems.note(e.in_clip(clip), &file.path)?;
        }
        counter.tell()?;
    }
    if let Err(e) = scan.table() {
        scan.problems.note(e, &file.path)?;
    }
    Ok(scan.problems)
}

struct TrackScan<'a> {
    shard: &'a Shard,
    file: &'a TrackFile,
    problems: Problems,
    /// The end of the last block.
    end: u64,
}

impl TrackScan<'_> {
    fn digest(&self, counter: &mut Counter<'_, '_>) -> Result<()> {
        let (records, expected) = (&*self.file.open()?.records, self.file.binding.sha256);
        let found = RecordsDigest::default().finish(records, expected, &mut || counter.tell())?;
        if found == expected {
            return Ok(());
        }
        let e = Error::format("track-digest", "the track file's SHA-256 does not match the index");
        Err(e.expected(hex(&expected)).found(hex(&found)))
    }

    fn clip(&mut self, clip: u64) -> Result<()> {
        let Some(block) = self.file.block(clip)? else { return Ok(()) };
        self.follows(block.range.start)?;
        self.end = block.range.end;
        let frames = self.shard.clip(clip)?.frame_count;
        let mut end = Entry::directory_bytes(&block.entries);
        for entry in &block.entries {
            let payload = self.file.payload(&block, entry, frames)?;
            let at = block.range.start + entry.offset;
            payload.prove_rest().map_err(|e| e.in_track(&payload.schema.name).at(at))?;
            let padding = block.bytes.get(end as usize..entry.offset as usize);
            if padding.unwrap_or_default().iter().any(|&b| b != 0) {
                return Err(not_zero(block.range.start + end));
            }
            end = entry.offset + entry.length;
        }
        Ok(())
    }

    /// Checks that a part that begins at `start` follows the last block.
    fn follows(&self, start: u64) -> Result<()> {
        let expected = self.end.next_multiple_of(ALIGNMENT);
        if start != expected {
            return Err(Error::format("track-order", "the tracks do not begin where those of the clip before end")
                .expected(format!("byte {expected}"))
                .found(format!("byte {start}")));
        }
        // If a remote file has wrong bytes here, the digest has found them, and they were fetched once more.
        let mut padding = Vec::new();
        self.file.open()?.records.read(self.end..start, &mut padding)?;
        if padding.iter().any(|&b| b != 0) { Err(not_zero(self.end)) } else { Ok(()) }
    }

    /// Checks that the table follows the last block, if all blocks are right.
    fn table(&self) -> Result<()> {
        if self.problems.0.is_empty() { self.follows(self.file.open()?.footer.table_offset) } else { Ok(()) }
    }
}

fn not_zero(at: u64) -> Error {
    Error::format("track-padding", "padding is not zero").at(at)
}
