//! Sends many requests at a time, for one file after another. Bytes are written in order, so the length of a copy
//! shows which bytes it has.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::item::Item;
use crate::store::disk::free_space::free_space;
use crate::store::disk::{AtomicFile, Temporary};
use crate::store::remote::{Opening, RangeRequest, Remote, RemoteFile};
use vidrec_format::error::{Error, ErrorKind, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::progress::{Progress, ProgressFn, tell};

/// The most bytes that one request asks for.
const PIECE_BYTES: u64 = 8 << 20;
/// The most requests at a time, and the number of files that are opened before their turn.
const MOST_PIECES: u64 = 16;
const OPENED_AHEAD: usize = 16;
/// How often the caller's callback is called while nothing arrives.
const TICK: Duration = Duration::from_millis(100);

/// Refuses to fetch more bytes than there is room for.
pub(super) fn require_space(dir: &Path, needed: u64) -> Result<()> {
    // If the system does not report the free space, a full disk shows when files are written.
    let Ok(free) = free_space(dir) else { return Ok(()) };
    if needed <= free {
        return Ok(());
    }
    let e = Error::io("fetch the data set", dir, std::io::ErrorKind::StorageFull.into());
    Err(e
        .expected(format!("room for {needed} bytes"))
        .found(format!("{free} bytes"))
        .help("free some space, or choose another disk"))
}

/// Copies files into a folder, under temporary names.
pub(super) struct Transfer<'a, 'p, 'f> {
    pub remote: &'a Arc<Remote>,
    pub dir: &'a Path,
    /// The most bytes that are in flight at a time.
    pub memory_bytes: u64,
    pub progress: &'p mut ProgressFn<'f>,
    pub so_far: Progress,
    /// Bytes of finished copies, and the part of them that was in the folder before.
    pub bytes: u64,
    pub kept_bytes: u64,
}

/// A file whose pieces are being fetched.
struct Current<'i> {
    item: &'i Item,
    file: Arc<RemoteFile>,
    /// The copy.
    incoming: Incoming,
}

/// The requests of a transfer, in the order in which their bytes are written.
#[derive(Default)]
struct Line<'i> {
    opening: VecDeque<(&'i Item, Opening)>,
    files: VecDeque<Current<'i>>,
    /// The range of the last of `files` that was not asked for yet.
    rest: Range<u64>,
    pieces: VecDeque<RangeRequest>,
}

impl Transfer<'_, '_, '_> {
    /// Copies all items. An item whose copy does not match the listed file is fetched once more, as a whole.
    pub fn run(&mut self, items: &[&Item]) -> Result<Vec<(Temporary, FileName)>> {
        let mut done = Vec::new();
        let wrong = self.pass(items, false, &mut done)?;
        let again: Vec<&Item> = wrong.iter().map(|(item, _)| *item).collect();
        match self.pass(&again, true, &mut done)?.into_iter().next() {
            Some((_, e)) => {
                Err(e.help(
        "it was fetched twice, and was wrong both times: the object is damaged, or dataset.json belongs to another data set",
    ))
            }
            None => Ok(done),
        }
    }

    fn pass<'i>(
        &mut self,
        items: &[&'i Item],
        from_scratch: bool,
        done: &mut Vec<(Temporary, FileName)>,
    ) -> Result<Vec<(&'i Item, Error)>> {
        let (mut line, mut items, mut wrong) = (Line::default(), items.iter().copied(), Vec::new());
        loop {
            self.ask(&mut line, &mut items, from_scratch)?;
            let Some(current) = line.files.front_mut() else { return Ok(wrong) };
            if current.incoming.is_complete() {
                wrong.extend(
                    line.files.pop_front().and_then(|current| self.finish(current, done).transpose()).transpose()?,
                );
                continue;
            }
            let piece = line.pieces.pop_front().ok_or_else(|| Error::internal("a file without requests"))?;
            let before = current.incoming.at;
            current.incoming.push(&piece.wait(&mut || tell(self.progress, &self.so_far))?)?;
            self.advance(current.item, current.incoming.at - before);
            tell(self.progress, &self.so_far)?;
        }
    }

    /// Asks for as many bytes as may be in flight.
    fn ask<'i>(
        &mut self,
        line: &mut Line<'i>,
        items: &mut impl Iterator<Item = &'i Item>,
        from_scratch: bool,
    ) -> Result<()> {
        let most = (self.memory_bytes / PIECE_BYTES).clamp(1, MOST_PIECES) as usize;
        while line.pieces.len() < most {
            if let Some(current) = line.files.back().filter(|_| !line.rest.is_empty()) {
                let end = line.rest.start.saturating_add(PIECE_BYTES).min(line.rest.end);
                line.pieces.push_back(current.file.request(line.rest.start..end)?);
                line.rest.start = end;
                continue;
            }
            while line.opening.len() < OPENED_AHEAD
                && let Some(item) = items.next()
            {
                let opening = Opening::start(self.remote, &item.location, item.length == Some(0))?;
                line.opening.push_back((item, opening));
            }
            if !self.is_open(line)? {
                return Ok(());
            }
            let Some((item, opening)) = line.opening.pop_front() else { return Ok(()) };
            let current = self.begin(item, opening.finish()?, from_scratch)?;
            line.rest = current.incoming.at..current.file.len();
            line.files.push_back(current);
            if line.files.len() > OPENED_AHEAD {
                // These are small files that are complete, so they are finished first.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether the next file is open. Waits for it if there is nothing else to do.
    fn is_open(&mut self, line: &Line<'_>) -> Result<bool> {
        let Some((_, opening)) = line.opening.front() else { return Ok(false) };
        if !line.files.is_empty() {
            return Ok(opening.is_over_within(Duration::ZERO));
        }
        let begin = Instant::now();
        while !opening.is_over_within(TICK) && begin.elapsed() < self.remote.patience() {
            tell(self.progress, &self.so_far)?;
        }
        Ok(true)
    }

    /// Counts bytes of record files as done.
    pub fn advance(&mut self, item: &Item, bytes: u64) {
        if item.is_records() {
            self.so_far.done += bytes;
            self.so_far.bytes = self.so_far.done;
        }
    }

    fn begin<'i>(&mut self, item: &'i Item, file: RemoteFile, from_scratch: bool) -> Result<Current<'i>> {
        item.check_length(file.len())?;
        let tick = &mut || tell(self.progress, &self.so_far);
        let incoming = Incoming::open(self.dir, item, file.len(), from_scratch, tick)?;
        if item.length.is_none() {
            require_space(self.dir, incoming.left())?;
        }
        self.advance(item, incoming.kept);
        Ok(Current { item, file: Arc::new(file), incoming })
    }

    /// Adds the copy to the finished ones, or returns what is wrong with it.
    fn finish<'i>(
        &mut self,
        current: Current<'i>,
        done: &mut Vec<(Temporary, FileName)>,
    ) -> Result<Option<(&'i Item, Error)>> {
        let (item, length, kept) = (current.item, current.file.len(), current.incoming.kept);
        match current.incoming.finish(item) {
            Ok(temporary) => {
                self.bytes += length;
                self.kept_bytes += kept;
                done.push((temporary, item.name.clone()));
                Ok(None)
            }
            Err(e) if e.kind() == ErrorKind::Format => {
                if item.is_records() {
                    self.so_far.done -= length;
                }
                Ok(Some((item, e)))
            }
            Err(e) => Err(e),
        }
    }
}

/// A copy under its temporary name. It stays if this value is dropped. Bytes that an interrupted fetch left are read
/// again, for the digest that proves the whole file.
pub(super) struct Incoming {
    out: AtomicFile,
    digest: Sha256,
    /// Bytes in the copy so far.
    pub at: u64,
    /// Bytes of these that were in the folder before.
    pub kept: u64,
    length: u64,
}

impl Incoming {
    /// Continues the copy of a file of `length` bytes, or begins it. With `from_scratch`, it keeps nothing of an old
    /// copy.
    pub fn open(
        dir: &Path,
        item: &Item,
        length: u64,
        from_scratch: bool,
        tick: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let mut out = AtomicFile::reopen(&dir.join(&item.name))?;
        out.keep();
        let (mut digest, mut at, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
        loop {
            let count = if from_scratch { 0 } else { out.read(&mut buffer)? };
            if count == 0 {
                break;
            }
            digest.update(&buffer[..count]);
            at += count as u64;
            tick()?;
        }
        if at > length {
            // The bytes are of another file.
            (digest, at) = (Sha256::new(), 0);
        }
        out.cut(at)?;
        Ok(Incoming { out, digest, at, kept: at, length })
    }

    /// Appends the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes)?;
        self.digest.update(bytes);
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Bytes that are still missing.
    pub fn left(&self) -> u64 {
        self.length.saturating_sub(self.at)
    }

    pub fn is_complete(&self) -> bool {
        self.at == self.length
    }

    /// Syncs the copy to the disk, and proves it. A copy that does not match the listed file is removed.
    pub fn finish(mut self, item: &Item) -> Result<Temporary> {
        self.out.sync()?;
        let mut temporary = self.out.seal();
        match item.prove(temporary.path(), self.digest.finalize().into()) {
            Ok(()) => {
                temporary.keep();
                Ok(temporary)
            }
            Err(e) => {
                temporary.discard();
                Err(e)
            }
        }
    }
}
