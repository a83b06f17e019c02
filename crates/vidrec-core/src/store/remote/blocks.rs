//! The blocks of objects that are in memory. A block has the bytes of one request. Blocks do not overlap, so each byte
//! is asked for once, and all readers of a block wait for the same request.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::pending::Pending;

pub(super) type Bytes = Pending<Arc<Vec<u8>>>;

/// The blocks of all files of a data set. Those that were used last stay.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// By the number of the file and the position of the first byte.
    blocks: BTreeMap<(u64, u64), Block>,
    /// Counts the uses of blocks.
    clock: u64,
    /// Bytes of all blocks, and the most that there were.
    held: u64,
    most_held: u64,
}

#[derive(Debug)]
struct Block {
    end: u64,
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
    pub fn missing(&mut self, file: u64, range: Range<u64>) -> Vec<Range<u64>> {
        let (mut missing, mut at) = (Vec::new(), range.start);
        self.clock += 1;
        for (start, end) in self.within(file, &range) {
            self.blocks.entry((file, start)).and_modify(|block| block.used = self.clock);
            missing.extend((at < start).then_some(at..start));
            at = at.max(end);
        }
        missing.extend((at < range.end).then_some(at..range.end));
        missing
    }

    /// The blocks that have a range together, in order, with the positions of their first bytes. `None` if a part is in
    /// no block. A block whose request has failed is none: the next reader asks again.
    pub fn covering(&mut self, file: u64, range: &Range<u64>) -> Option<Vec<(u64, Bytes)>> {
        let (mut found, mut at) = (Vec::new(), range.start);
        for (start, end) in self.within(file, range) {
            let block = self.blocks.get_mut(&(file, start))?;
            if block.bytes.has_failed() {
                self.remove(file, start);
                return None;
            }
            if start > at {
                return None;
            }
            self.clock += 1;
            block.used = self.clock;
            found.push((start, block.bytes.clone()));
            at = end;
        }
        (at >= range.end).then_some(found)
    }

    /// Adds a block that [`missing`](Self::missing) returned, and drops others until at most `limit` bytes are held.
    pub fn insert(&mut self, file: u64, range: Range<u64>, bytes: Bytes, limit: u64) {
        self.clock += 1;
        self.held += range.end - range.start;
        self.blocks.insert((file, range.start), Block { end: range.end, bytes, used: self.clock });
        if self.held > limit {
            self.evict(limit);
        }
        self.most_held = self.most_held.max(self.held);
    }

    /// Forgets the blocks that have bytes of a range.
    pub fn forget(&mut self, file: u64, range: &Range<u64>) {
        for (start, _) in self.within(file, range) {
            self.remove(file, start);
        }
    }

    /// Forgets all blocks of a file.
    pub fn close(&mut self, file: u64) {
        self.forget(file, &(0..u64::MAX));
    }

    /// Drops the blocks that were used longest ago. Blocks that are on their way stay.
    fn evict(&mut self, limit: u64) {
        let here = self.blocks.iter().filter(|(_, block)| block.bytes.is_over());
        let mut here: Vec<_> = here.map(|(&key, block)| (block.used, key)).collect();
        here.sort_unstable();
        // More than needed, so that this is seldom done.
        let enough = limit - limit / 8;
        for (_, (file, start)) in here {
            if self.held <= enough {
                break;
            }
            self.remove(file, start);
        }
    }

    fn remove(&mut self, file: u64, start: u64) {
        if let Some(block) = self.blocks.remove(&(file, start)) {
            self.held -= block.end - start;
        }
    }

    /// Start and end of the blocks that have bytes of a range, in order.
    fn within(&self, file: u64, range: &Range<u64>) -> Vec<(u64, u64)> {
        let place = |(&(_, start), block): (&(u64, u64), &Block)| (start, block.end);
        let before = self.blocks.range((file, 0)..(file, range.start)).next_back().map(place);
        let before = before.filter(|(_, end)| *end > range.start);
        before.into_iter().chain(self.blocks.range((file, range.start)..(file, range.end)).map(place)).collect()
    }
}
