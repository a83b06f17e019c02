//! The positions of an epoch, dealt to ranks in batches, the same number for each.

use vidrec_format::error::{Error, Result};
use vidrec_format::words::words;

/// The treatment of clips that do not fill a batch on every rank.
///
/// As a word (`FromStr`, `Display`): `drop`, `pad` or `wrap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum LastBatch {
    /// This epoch skips them. Another shuffle skips others.
    Drop,
    /// They come, and the free slots repeat clips with a mask of false. With the mask, each clip counts exactly
    /// once. The default.
    #[default]
    Pad,
    /// They come, and the free slots take clips from the start of the same epoch's order, with a mask of true.
    Wrap,
}

words!(LastBatch, "last", { "drop" => Drop, "pad" => Pad, "wrap" => Wrap });

/// One place in one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The position in the epoch's order, less than the number of clips.
    pub position: u64,
    /// Whether the clip counts. It is false only for a repeated clip under [`LastBatch::Pad`].
    pub counts: bool,
}

/// The rule by which `world` ranks share `n` positions. Batch `k` of all ranks together has the positions from
/// `k * world * batch_size` on, rank after rank.
///
/// ```text
/// n = 10, batch_size 2, world 2      position  0 1 2 3 4 5 6 7 8 9
///                                    rank      0 0 1 1 0 0 1 1 0 0 (1 1)
///                                    batch     0 0 0 0 1 1 1 1 2 2 (2 2)
/// ```
///
/// Every rank has the same number of batches, so no rank waits at a barrier that the others never reach.
///
/// [`by_homes`](Self::by_homes) deals the positions of a batch of all ranks one at a time.
#[derive(Debug, Clone, Copy)]
pub struct Ranks {
    n: u64,
    /// The position at which batch 0 of rank 0 begins.
    start: u64,
    batch_size: u32,
    world: u32,
    last: LastBatch,
    /// How many ranks read a home, and the number of homes, if positions are dealt one at a time.
    homes: Option<(u32, u32)>,
}

impl Ranks {
    /// Shares `n` positions among `world` ranks, `batch_size` at a time.
    ///
    /// # Errors
    ///
    /// `batch_size` or `world` is 0.
    pub fn new(n: u64, batch_size: u32, world: u32, last: LastBatch) -> Result<Self> {
        if batch_size == 0 || world == 0 {
            return Err(Error::usage(format!(
                "the batch size {batch_size} and the number of ranks {world} must not be 0"
            ))
            .help("ask for 1 or more of each"));
        }
        Ok(Ranks { n, start: 0, batch_size, world, last, homes: None })
    }

    /// Deals positions by homes, for an order in which position `p` belongs to home `p % homes`, as in
    /// [`Order::Homes`](super::Order::Homes). Rank `r` gets the positions of a batch that are `turn` modulo the
    /// number of ranks, so that it always reads the same homes. A batch of all ranks has the same positions as
    /// without homes.
    ///
    /// ```text
    /// homes = ranks                 turn = r                        rank r reads home r
    /// homes divides ranks, c each   turn = r % c * homes + r / c    ranks h c to h c + c - 1, one node, read home h
    /// any other number              turn = r                        rank r reads all homes h = r modulo the number of
    ///                                                               ranks, if that divides homes; else all homes
    /// ```
    ///
    /// ```
    /// # mod vidrec { pub use vidrec_format::error::Error; pub use vidrec_sampler::order; }
    /// use vidrec::order::{LastBatch, Ranks};
    ///
    /// let ranks = Ranks::new(100, 2, 4, LastBatch::Pad)?.by_homes(2);
    /// let home = |rank| ranks.slot(5, rank, 1).unwrap().position % 2;
    /// assert_eq!([home(0), home(1), home(2), home(3)], [0, 0, 1, 1]);
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    #[must_use]
    pub fn by_homes(self, homes: u32) -> Self {
        let each =
            if homes > 0 && self.world.is_multiple_of(homes) { (self.world / homes, homes) } else { (1, self.world) };
        Ranks { homes: Some(each), ..self }
    }

    /// Returns the rule for the rest of an epoch after its first `consumed` positions, with any number of ranks
    /// and any batch size.
    pub fn after(self, consumed: u64) -> Self {
        Ranks { start: consumed.min(self.n), ..self }
    }

    /// The number of positions that are done after `batches` batches on every rank; at most the length of the
    /// epoch.
    pub fn consumed(&self, batches: u64) -> u64 {
        batches.saturating_mul(self.global_batch()).saturating_add(self.start).min(self.n)
    }

    /// The number of batches that each rank has in an epoch.
    pub fn batches(&self) -> u64 {
        match self.last {
            LastBatch::Drop => (self.n - self.start) / self.global_batch(),
            LastBatch::Pad | LastBatch::Wrap => (self.n - self.start).div_ceil(self.global_batch()),
        }
    }

    /// Place `slot` in batch `batch` of rank `rank`; `None` if there is no such rank, batch or slot.
    pub fn slot(&self, batch: u64, rank: u32, slot: u32) -> Option<Slot> {
        if batch >= self.batches() || rank >= self.world || slot >= self.batch_size {
            return None;
        }
        // The position is less than n + global_batch, which may slightly exceed 64 bits.
        let position = u128::from(self.start)
            + u128::from(batch) * u128::from(self.global_batch())
            + u128::from(self.place(rank, slot));
        let real = position < u128::from(self.n);
        let position = (position % u128::from(self.n)) as u64;
        Some(Slot { position, counts: real || self.last == LastBatch::Wrap })
    }

    /// The rank that reads the home of a position; `None` if ranks have no homes.
    #[doc(hidden)]
    pub fn at_home(&self, position: u64) -> Option<u32> {
        let (ranks, homes) = self.homes?;
        let turn = (position % u64::from(self.world)) as u32;
        Some(turn % homes * ranks + turn / homes)
    }

    /// The place of a slot in the batch of all ranks.
    fn place(&self, rank: u32, slot: u32) -> u64 {
        let [rank, slot, world, batch_size] = [rank, slot, self.world, self.batch_size].map(u64::from);
        let Some((ranks, homes)) = self.homes.map(|(ranks, homes)| (u64::from(ranks), u64::from(homes))) else {
            return rank * batch_size + slot;
        };
        let turn = rank % ranks * homes + rank / ranks;
        // A batch may begin anywhere if a run was resumed. Even then, a rank reads the same homes.
        slot * world + (turn + world - self.start % world) % world
    }

    fn global_batch(&self) -> u64 {
        u64::from(self.world) * u64::from(self.batch_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All slots of batch `k` of all ranks, in order: rank after rank, or slot after slot with homes.
    fn batch(ranks: &Ranks, k: u64) -> Vec<Slot> {
        let slots = |rank| (0..ranks.batch_size).map(move |slot| (rank, slot));
        let mut places: Vec<_> = (0..ranks.world).flat_map(slots).collect();
        places.sort_by_key(|&(rank, slot)| ranks.place(rank, slot));
        assert!(ranks.homes.is_some() || places.is_sorted());
        places.into_iter().map(|(rank, slot)| ranks.slot(k, rank, slot).unwrap()).collect()
    }

    /// Deals rank after rank, or by homes.
    fn dealt(ranks: Ranks, homes: Option<u32>) -> Ranks {
        homes.map_or(ranks, |homes| ranks.by_homes(homes))
    }

    fn homes() -> impl Strategy<Value = Option<u32>> {
        prop::option::of(0u32..9)
    }

    fn epoch(ranks: &Ranks) -> Vec<Slot> {
        (0..ranks.batches()).flat_map(|k| batch(ranks, k)).collect()
    }

    #[test]
    fn no_clips_are_no_batches() {
        for last in [LastBatch::Drop, LastBatch::Pad, LastBatch::Wrap] {
            let ranks = Ranks::new(0, 4, 2, last).unwrap();
            assert_eq!((ranks.batches(), ranks.slot(0, 0, 0)), (0, None));
        }
    }

    #[test]
    fn empty_batches_or_worlds_are_refused() {
        assert!(Ranks::new(1, 0, 1, LastBatch::Pad).is_err());
        assert!(Ranks::new(1, 1, 0, LastBatch::Pad).is_err());
    }

    #[test]
    fn one_clip_fills_a_batch_that_is_larger_than_the_set() {
        let counts = |last| epoch(&Ranks::new(1, 2, 2, last).unwrap()).iter().map(|s| s.counts).collect::<Vec<_>>();
        assert_eq!(counts(LastBatch::Pad), [true, false, false, false]);
        assert_eq!(counts(LastBatch::Wrap), [true; 4]);
        assert!(counts(LastBatch::Drop).is_empty());
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let ranks = Ranks::new(u64::MAX, u32::MAX, u32::MAX, LastBatch::Wrap).unwrap();
        for ranks in [ranks, ranks.by_homes(1), ranks.by_homes(7), ranks.by_homes(u32::MAX).after(u64::MAX - 9)] {
            let last = ranks.slot(ranks.batches() - 1, u32::MAX - 1, u32::MAX - 1).unwrap();
            assert!(last.position < u64::MAX);
        }
    }

    proptest! {
        #[test]
        fn pad_counts_every_position_exactly_once(
            n in 0u64..500, batch_size in 1u32..9, world in 1u32..9, homes in homes(),
        ) {
            let ranks = dealt(Ranks::new(n, batch_size, world, LastBatch::Pad)?, homes);
            let slots = epoch(&ranks);
            prop_assert!(slots.iter().filter(|s| s.counts).map(|s| s.position).eq(0..n));
            prop_assert!(slots.iter().all(|s| s.position < n));
            let global = u64::from(batch_size * world);
            prop_assert!(slots.len() as u64 == n.next_multiple_of(global));
        }

        #[test]
        fn drop_gives_no_position_twice_and_leaves_less_than_a_batch(
            n in 0u64..500, batch_size in 1u32..9, world in 1u32..9, homes in homes(),
        ) {
            let ranks = dealt(Ranks::new(n, batch_size, world, LastBatch::Drop)?, homes);
            let slots = epoch(&ranks);
            prop_assert!(slots.iter().map(|s| s.position).eq(0..slots.len() as u64));
            prop_assert!(slots.iter().all(|s| s.counts));
            prop_assert!(n - (slots.len() as u64) < u64::from(batch_size * world));
        }

        #[test]
        fn wrap_continues_from_the_start(
            n in 1u64..500, batch_size in 1u32..9, world in 1u32..9, homes in homes(),
        ) {
            let ranks = dealt(Ranks::new(n, batch_size, world, LastBatch::Wrap)?, homes);
            let slots = epoch(&ranks);
            prop_assert!(slots.iter().enumerate().all(|(p, s)| s.counts && s.position == p as u64 % n));
        }

        /// Stops after any batch and resumes with another world and batch size, several times. Each position comes
        /// once.
        #[test]
        fn a_resumed_epoch_counts_every_position_exactly_once(
            n in 0u64..300, runs in prop::collection::vec((1u32..6, 1u32..6, 0u64..20), 1..6), homes in homes(),
        ) {
            let (mut seen, mut done) = (Vec::new(), 0);
            for (i, &(batch_size, world, stop_after)) in runs.iter().enumerate() {
                let ranks = dealt(Ranks::new(n, batch_size, world, LastBatch::Pad)?.after(done), homes);
                let stop = if i + 1 == runs.len() { ranks.batches() } else { stop_after.min(ranks.batches()) };
                let slots = (0..stop).flat_map(|k| batch(&ranks, k));
                seen.extend(slots.filter(|s| s.counts).map(|s| s.position));
                done = ranks.consumed(stop);
            }
            prop_assert!(seen.into_iter().eq(0..n));
        }

        #[test]
        fn ranks_get_the_positions_that_are_at_home_with_them(
            world in 1u32..9, homes in 0u32..9, start in 0u64..40, batch_size in 1u32..5,
        ) {
            let ranks = Ranks::new(500, batch_size, world, LastBatch::Pad)?.by_homes(homes).after(start);
            for (rank, slot) in (0..world).flat_map(|rank| (0..batch_size).map(move |slot| (rank, slot))) {
                prop_assert_eq!(ranks.at_home(ranks.slot(3, rank, slot).unwrap().position), Some(rank));
            }
            prop_assert_eq!(Ranks::new(500, 1, world, LastBatch::Pad)?.at_home(3), None);
        }

        #[test]
        fn the_union_of_all_ranks_is_the_order_of_one(
            n in 1u64..200, per_rank in 1u32..5, world in 1u32..5, homes in homes(),
        ) {
            let many = dealt(Ranks::new(n, per_rank, world, LastBatch::Pad)?, homes);
            let one = Ranks::new(n, per_rank * world, 1, LastBatch::Pad)?;
            prop_assert_eq!(many.batches(), one.batches());
            for k in 0..one.batches() {
                prop_assert_eq!(batch(&many, k), batch(&one, k));
            }
        }
    }
}
