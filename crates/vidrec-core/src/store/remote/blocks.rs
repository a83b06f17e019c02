//! The blocks of objects that are in memory. A block has the bytes of one request. Blocks do not overlap, so each byte
//! is asked for once, and all readers of a block wait for the same request.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::pending::Pending;
use crate::store::ranges::Ranges;

pub(super) type Bytes = Pending<Arc<Vec<u8>>>;

/// The blocks of all files of a data set. Those that were used last stay.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// By the number of the file.
    files: HashMap<u64, Ranges<Block>>,
    /// Counts the uses of blocks.
    clock: u64,
    /// Bytes of all blocks, and the most that there were.
    held: u64,
    most_held: u64,
}

#[derive(Debug, Clone)]
struct Block {
    bytes: Bytes,
    used: u64,
}

impl Blocks {
    /// The bytes that are held now, and the most that were held.
    pub fn held(&self) -> (u64, u64) {
        (self.held, self.most_held)
    }

    /// The parts of a range that are in no block. The blocks of the other parts count as used, because they are needed
    /// soon.
    pub fn missing(&mut self, file: u64, range: &Range<u64>) -> Vec<Range<u64>> {
        self.touch(file, range);
        self.files.entry(file).or_default().missing(range)
    }

    /// The blocks that have a range together, in order, with the positions of their first bytes. `None` if a part is in
    /// no block. A block whose request has failed is none: the next reader asks again.
    pub fn covering(&mut self, file: u64, range: &Range<u64>) -> Option<Vec<(u64, Bytes)>> {
        let found = self.files.get(&file)?.covering(range)?;
        if let Some((failed, _)) = found.iter().find(|(_, block)| matches!(block.bytes.now(), Some(Err(_)))) {
            self.remove(file, failed.start);
            return None;
        }
        self.touch(file, range);
        Some(found.into_iter().map(|(at, block)| (at.start, block.bytes)).collect())
    }

    fn touch(&mut self, file: u64, range: &Range<u64>) {
        self.clock += 1;
        let Some(blocks) = self.files.get_mut(&file) else { return };
        for (found, _) in blocks.within(range) {
            blocks.get_mut(found.start).into_iter().for_each(|block| block.used = self.clock);
        }
    }

    /// Adds a block that [`missing`](Self::missing) returned, and drops others until at most `limit` bytes are held.
    pub fn insert(&mut self, file: u64, range: Range<u64>, bytes: Bytes, limit: u64) {
        self.clock += 1;
        self.held += range.end - range.start;
        self.files.entry(file).or_default().insert(range, Block { bytes, used: self.clock });
        if self.held > limit {
            self.evict(limit);
        }
        self.most_held = self.most_held.max(self.held);
    }

    /// Forgets the blocks that have bytes of a range.
    pub fn forget(&mut self, file: u64, range: &Range<u64>) {
        let found = self.files.get(&file).map(|blocks| blocks.within(range)).unwrap_or_default();
        found.iter().for_each(|(found, _)| self.remove(file, found.start));
    }

    /// Forgets all blocks of a file.
    pub fn close(&mut self, file: u64) {
        self.forget(file, &(0..u64::MAX));
        self.files.remove(&file);
    }

    /// Drops the blocks that were used longest ago. Blocks that are on their way stay.
    fn evict(&mut self, limit: u64) {
        let all = self.files.iter().flat_map(|(&file, blocks)| blocks.iter().map(move |(at, block)| (file, at, block)));
        let here = all.filter(|(_, _, block)| block.bytes.now().is_some());
        let mut here: Vec<_> = here.map(|(file, at, block)| (block.used, file, at.start)).collect();
        here.sort_unstable();
        // More than needed, so that this is seldom done.
        let enough = limit - limit / 8;
        for (_, file, start) in here {
            if self.held <= enough {
                break;
            }
            self.remove(file, start);
        }
    }

    fn remove(&mut self, file: u64, start: u64) {
        if let Some((range, _)) = self.files.get_mut(&file).and_then(|blocks| blocks.remove(start)) {
            self.held -= range.end - range.start;
        }
    }
}
