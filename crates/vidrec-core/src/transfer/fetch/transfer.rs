//! Copies several files at a time, with several requests for each. Bytes are written in order, so the length of a copy
//! shows which bytes it has.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use sha2::{Digest, Sha256};

use super::item::Item;
use crate::dataset::writer::DigestedFile;
use crate::progress::{Progress, ProgressFn};
use crate::store::disk::folder::free_space;
use crate::store::disk::{AtomicFile, Temporary};
use crate::store::remote::{Opening, Remote};
use crate::store::storage::Storage;
use crate::threads::TICK;
use crate::transfer::both_ways::several;
use vidrec_format::error::{Error, ErrorKind, Result};

/// The most bytes that one request asks for.
const PIECE_BYTES: u64 = 8 << 20;
/// The most requests and files at a time.
const MOST_PIECES: u64 = 16;
const MOST_FILES: usize = 8;

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

/// A copy that was proven, under its temporary name.
pub(super) struct Copied {
    pub file: Temporary,
    pub bytes: u64,
    /// The part of the bytes that was in the folder before.
    pub kept_bytes: u64,
}

/// Copies items into the folder `dir`. An item whose copy does not match the listed file is fetched once more, as a whole.
pub(super) fn copy_all(
    remote: &Arc<Remote>,
    dir: &Path,
    items: &[&Item],
    storage: &Storage,
    so_far: &mut Progress,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<Copied>> {
    let most = (storage.memory_bytes / PIECE_BYTES).clamp(1, MOST_PIECES) as usize;
    let files = items.len().min(most).clamp(1, MOST_FILES);
    several(items.len(), files, so_far, progress, |number, advance| {
        let item = items[number];
        // The bytes of record files count as progress, and once.
        let advance = |bytes, is_new: bool| advance(if item.is_records() && is_new { bytes } else { 0 });
        let copy = |again| copy(remote, dir, item, again, most / files, &|bytes| advance(bytes, !again));
        match copy(false)? {
            Ok(copied) => Ok(copied),
            Err(_) => copy(true)?.map_err(|e| {
                e.help(
                    "it was fetched twice, and was wrong both times: the object is damaged, or dataset.json belongs \
                     to another data set",
                )
            }),
        }
    })
}

/// Copies a file. The inner error says that the copy does not match the listed file.
fn copy(
    remote: &Arc<Remote>,
    dir: &Path,
    item: &Item,
    from_scratch: bool,
    pieces: usize,
    advance: &dyn Fn(u64) -> Result<()>,
) -> Result<Result<Copied>> {
    let begin = Instant::now();
    let opening = Opening::start(remote, &item.location, item.length == Some(0))?;
    while !opening.is_over_within(TICK) && begin.elapsed() < remote.patience() {
        advance(0)?;
    }
    let file = Arc::new(opening.finish()?);
    item.check_length(file.len())?;
    let mut incoming = reopen(&dir.join(&item.name), file.len(), from_scratch, &mut || advance(0))?;
    if item.length.is_none() {
        require_space(dir, file.len() - incoming.length)?;
    }
    let kept_bytes = incoming.length;
    advance(kept_bytes)?;
    let (mut requests, mut next) = (VecDeque::new(), incoming.length);
    while incoming.length < file.len() {
        while requests.len() < pieces && next < file.len() {
            let end = next.saturating_add(PIECE_BYTES).min(file.len());
            requests.push_back(file.request(next..end)?);
            next = end;
        }
        let request = requests.pop_front().ok_or_else(|| Error::internal("a file without requests"))?;
        let bytes = request.wait(&mut || advance(0))?;
        incoming.write(&bytes)?;
        advance(bytes.len() as u64)?;
    }
    match finish(incoming, item) {
        Err(e) if e.kind() == ErrorKind::Format => Ok(Err(e)),
        finished => finished.map(|copied| Ok(Copied { file: copied, bytes: file.len(), kept_bytes })),
    }
}

/// Continues the copy of a file of `length` bytes under its temporary name, or begins it. With `from_scratch`, it keeps nothing of
/// an old copy. The copy stays if this value is dropped. Bytes that an interrupted fetch left are read again, for the digest that
/// proves the whole file.
fn reopen(path: &Path, length: u64, from_scratch: bool, tick: &mut dyn FnMut() -> Result<()>) -> Result<DigestedFile> {
    let mut file = AtomicFile::reopen(path)?;
    file.keep();
    let (mut digest, mut at, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
    loop {
        let count = if from_scratch { 0 } else { file.read(&mut buffer)? };
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
    file.cut(at)?;
    Ok(DigestedFile { file, digest, length: at })
}

/// Syncs a copy to the disk, and proves it. A copy that does not match the listed file is removed.
fn finish(mut copy: DigestedFile, item: &Item) -> Result<Temporary> {
    copy.file.sync()?;
    let mut temporary = copy.file.seal();
    match item.prove(temporary.path(), copy.digest.finalize().into()) {
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
