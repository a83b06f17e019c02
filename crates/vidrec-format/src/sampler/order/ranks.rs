//! The positions of an epoch, dealt to ranks in batches, the same number for each.

use crate::error::{Error, Result};
use crate::words::unknown_variant;

/// The treatment of clips that do not fill a batch on every rank.
///
/// As a word (`FromStr`, `Display`, serde): `keep`, `drop`, `pad` or `wrap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum LastBatch {
    /// They come, and the last batches are smaller. Nothing is repeated. All ranks have the same number of batches,
    /// each batch has at least one clip on each rank, and ranks differ by at most one clip. The default.
    ///
    /// If fewer clips remain than there are ranks, the last two batches share their clips evenly. That is impossible
    /// for batches of one clip, and for an epoch with fewer clips than ranks. The clips that remain are then in no
    /// batch of this epoch: [`Ranks::left_out`].
    #[default]
    Keep,
    /// This epoch skips them. Another shuffle skips others.
    Drop,
    /// They come, and the free slots repeat clips with a mask of false. With the mask, each clip counts exactly
    /// once.
    Pad,
    /// They come, and the free slots take clips from the start of the same epoch's order, with a mask of true.
    Wrap,
}

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
///                                    rank      0 0 1 1 0 0 1 1 0 1        pad: 0 0 (1 1)
///                                    batch     0 0 0 0 1 1 1 1 2 2             2 2 (2 2)
/// n = 9 with keep, one is left:      rank      0 0 1 1 0 0 1 0 1
/// the last two batches share five    batch     0 0 0 0 1 1 1 2 2
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
    /// The number of ranks that read a home, and the number of homes, if positions are dealt one at a time.
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

    /// Returns the rule for another number of positions, from the first one on.
    pub fn of(self, n: u64) -> Self {
        Ranks { n, start: 0, ..self }
    }

    /// The treatment of clips that do not fill a batch.
    pub fn last(&self) -> LastBatch {
        self.last
    }

    /// The number of positions in a full batch of all ranks.
    pub fn most(&self) -> u64 {
        self.global_batch()
    }

    /// The number of positions that are done after `batches` batches on every rank; at most the length of the
    /// epoch.
    pub fn consumed(&self, batches: u64) -> u64 {
        let (whole, smaller) = self.rounds();
        let of_whole = batches.min(whole).saturating_mul(self.global_batch());
        let of_smaller = match batches.saturating_sub(whole) {
            0 => 0,
            1 => smaller[0],
            _ => smaller[0] + smaller[1],
        };
        of_whole.saturating_add(of_smaller).saturating_add(self.start).min(self.n)
    }

    /// The number of batches that each rank has in an epoch.
    pub fn batches(&self) -> u64 {
        let (whole, smaller) = self.rounds();
        whole + smaller.iter().filter(|&&clips| clips > 0).count() as u64
    }

    /// The number of positions that are in no batch of the epoch: those that [`LastBatch::Drop`] skips, or those
    /// that [`LastBatch::Keep`] cannot share evenly.
    pub fn left_out(&self) -> u64 {
        self.n - self.consumed(self.batches())
    }

    /// The number of slots of batch `batch` of rank `rank`, 1 or more; 0 if there is no such rank or batch.
    pub fn clips(&self, batch: u64, rank: u32) -> u32 {
        let Some((begin, size)) = self.round(batch).filter(|_| rank < self.world) else { return 0 };
        let world = u64::from(self.world);
        // A share is at most the size of a batch.
        match self.offset(begin, rank) {
            Some(offset) => size.saturating_sub(offset).div_ceil(world) as u32,
            None => (size / world + u64::from(u64::from(rank) < size % world)) as u32,
        }
    }

    /// The number of slots of batch `batch` on all ranks together that count; 0 if there is no such batch.
    pub fn clips_on_all_ranks(&self, batch: u64) -> u64 {
        match (self.round(batch), self.last) {
            (None, _) => 0,
            (Some(_), LastBatch::Pad) => self.consumed(batch + 1) - self.consumed(batch),
            (Some((_, size)), _) => size,
        }
    }

    /// Place `slot` in batch `batch` of rank `rank`; `None` if there is no such rank, batch or slot.
    pub fn slot(&self, batch: u64, rank: u32, slot: u32) -> Option<Slot> {
        let (begin, size) = self.round(batch)?;
        if slot >= self.clips(batch, rank) {
            return None;
        }
        let [world, rank_before, place] = [self.world, rank, slot].map(u64::from);
        let place = match self.offset(begin, rank) {
            Some(offset) => place * world + offset,
            None => size / world * rank_before + (size % world).min(rank_before) + place,
        };
        // The position is less than n + global_batch, which may slightly exceed 64 bits.
        let position = begin + u128::from(place);
        let real = position < u128::from(self.n);
        let position = (position % u128::from(self.n)) as u64;
        Some(Slot { position, counts: real || self.last == LastBatch::Wrap })
    }

    /// The rank that reads the home of a position; `None` if ranks have no homes.
    pub fn at_home(&self, position: u64) -> Option<u32> {
        let (ranks, homes) = self.homes?;
        let turn = (position % u64::from(self.world)) as u32;
        Some(turn % homes * ranks + turn / homes)
    }

    /// The position at which batch `batch` of all ranks begins, and the number of its slots; `None` if there is no
    /// such batch.
    fn round(&self, batch: u64) -> Option<(u128, u64)> {
        if batch >= self.batches() {
            return None;
        }
        let (whole, smaller) = self.rounds();
        let size = match batch.checked_sub(whole) {
            Some(number) if self.last == LastBatch::Keep => smaller[usize::from(number > 0)],
            _ => self.global_batch(),
        };
        Some((self.consumed(batch).into(), size))
    }

    /// The number of batches that are full on all ranks, and the number of positions in each of those after them.
    fn rounds(&self) -> (u64, [u64; 2]) {
        let (global, world) = (self.global_batch(), u64::from(self.world));
        let (whole, rest) = ((self.n - self.start) / global, (self.n - self.start) % global);
        match self.last {
            LastBatch::Drop => (whole, [0, 0]),
            LastBatch::Pad | LastBatch::Wrap => (whole, [rest, 0]),
            LastBatch::Keep if rest == 0 || rest >= world => (whole, [rest, 0]),
            LastBatch::Keep if whole > 0 && self.batch_size > 1 => {
                // Both have at least as many as there are ranks, because one batch of all ranks has twice as many.
                let shared = global + rest;
                (whole - 1, [shared.div_ceil(2), shared / 2])
            }
            LastBatch::Keep => (whole, [0, 0]),
        }
    }

    /// The first place of a rank in a batch of all ranks that begins at `begin`, if positions are dealt one at a
    /// time. A batch may begin anywhere. Even then, a rank reads the same homes.
    fn offset(&self, begin: u128, rank: u32) -> Option<u64> {
        let (ranks, homes) = self.homes.map(|(ranks, homes)| (u64::from(ranks), u64::from(homes)))?;
        let (rank, world) = (u64::from(rank), u64::from(self.world));
        let turn = rank % ranks * homes + rank / ranks;
        Some((turn + world - (begin % u128::from(world)) as u64) % world)
    }

    fn global_batch(&self) -> u64 {
        u64::from(self.world) * u64::from(self.batch_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All slots of batch `k` of all ranks, in the order of their positions.
    fn batch(ranks: &Ranks, k: u64) -> Vec<Slot> {
        let slots = |rank| (0..ranks.clips(k, rank)).map(move |slot| (rank, slot));
        let mut places: Vec<_> = (0..ranks.world).flat_map(slots).collect();
        if ranks.homes.is_some() {
            let begin = ranks.consumed(k).into();
            places.sort_by_key(|&(rank, slot)| (slot, ranks.offset(begin, rank)));
        }
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
        for last in [LastBatch::Keep, LastBatch::Drop, LastBatch::Pad, LastBatch::Wrap] {
            let ranks = Ranks::new(0, 4, 2, last).unwrap();
            assert_eq!((ranks.batches(), ranks.clips(0, 0), ranks.slot(0, 0, 0)), (0, 0, None));
        }
    }

    #[test]
    fn empty_batches_or_worlds_are_refused() {
        assert!(Ranks::new(1, 0, 1, LastBatch::Pad).is_err());
        assert!(Ranks::new(1, 1, 0, LastBatch::Pad).is_err());
    }

    /// The number of clips of each rank in each batch.
    fn sizes(ranks: &Ranks) -> Vec<Vec<u32>> {
        (0..ranks.batches()).map(|k| (0..ranks.world).map(|rank| ranks.clips(k, rank)).collect()).collect()
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        for last in [LastBatch::Wrap, LastBatch::Keep] {
            let ranks = Ranks::new(u64::MAX, u32::MAX, u32::MAX, last).unwrap();
            for ranks in [ranks, ranks.by_homes(1), ranks.by_homes(7), ranks.by_homes(u32::MAX).after(u64::MAX / 2)] {
                let k = ranks.batches() - 1;
                let last = ranks.slot(k, u32::MAX - 1, ranks.clips(k, u32::MAX - 1) - 1).unwrap();
                assert!(last.position < u64::MAX);
            }
        }
    }

    proptest! {
        #[test]
        fn keep_gives_every_position_once_in_batches_that_differ_by_at_most_one(
            n in 0u64..500, batch_size in 1u32..9, world in 1u32..9, start in 0u64..500, homes in homes(),
        ) {
            let ranks = dealt(Ranks::new(n, batch_size, world, LastBatch::Keep)?.after(start), homes);
            let slots = epoch(&ranks);
            let (start, left_out) = (start.min(n), ranks.left_out());
            prop_assert!(slots.iter().map(|slot| slot.position).eq(start..n - left_out));
            prop_assert!(slots.iter().all(|slot| slot.counts));
            let is_impossible = batch_size == 1 || n - start < u64::from(world);
            prop_assert!(left_out == 0 || is_impossible && left_out < u64::from(world));
            for (k, sizes) in (0..).zip(sizes(&ranks)) {
                let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
                prop_assert!(*least >= 1 && most - least <= 1 && *most <= batch_size, "{sizes:?}");
                prop_assert_eq!(u64::from(sizes.iter().sum::<u32>()), ranks.clips_on_all_ranks(k));
                prop_assert!(k + 2 >= ranks.batches() || *least == batch_size, "only the last two are smaller");
            }
            let full = (n - start).div_ceil(u64::from(batch_size * world));
            prop_assert!(ranks.batches() == full || left_out > 0, "no more batches than with padding");
        }

        #[test]
        fn other_rules_pad_drop_or_continue_from_the_start(
            n in 1u64..500, batch_size in 1u32..9, world in 1u32..9, homes in homes(),
        ) {
            let of = |last| Ranks::new(n, batch_size, world, last).map(|ranks| epoch(&dealt(ranks, homes)));
            let (pad, wrap, drop) = (of(LastBatch::Pad)?, of(LastBatch::Wrap)?, of(LastBatch::Drop)?);
            let global = u64::from(batch_size * world);
            prop_assert!(pad.iter().filter(|s| s.counts).map(|s| s.position).eq(0..n));
            prop_assert!(pad.iter().all(|s| s.position < n) && pad.len() as u64 == n.next_multiple_of(global));
            prop_assert!(wrap.iter().enumerate().all(|(p, s)| s.counts && s.position == p as u64 % n));
            prop_assert!(drop.iter().map(|s| s.position).eq(0..n - n % global) && drop.iter().all(|s| s.counts));
        }

        /// Stops after any batch and resumes with another world and batch size, several times. Each position comes
        /// once.
        #[test]
        fn a_resumed_epoch_counts_every_position_exactly_once(
            n in 0u64..300, runs in prop::collection::vec((1u32..6, 1u32..6, 0u64..20), 1..6), homes in homes(),
            last in prop::sample::select(vec![LastBatch::Pad, LastBatch::Keep]),
        ) {
            let (mut seen, mut done, mut left_out) = (Vec::new(), 0, 0);
            for (i, &(batch_size, world, stop_after)) in runs.iter().enumerate() {
                let ranks = dealt(Ranks::new(n, batch_size, world, last)?.after(done), homes);
                left_out = ranks.left_out();
                let stop = if i + 1 == runs.len() { ranks.batches() } else { stop_after.min(ranks.batches()) };
                let slots = (0..stop).flat_map(|k| batch(&ranks, k));
                seen.extend(slots.filter(|s| s.counts).map(|s| s.position));
                done = ranks.consumed(stop);
            }
            prop_assert!(seen.into_iter().eq(0..n - left_out));
        }

        #[test]
        fn ranks_get_the_positions_that_are_at_home_with_them(
            world in 1u32..9, homes in 0u32..9, start in 0u64..40, batch_size in 1u32..5,
            last in prop::sample::select(vec![LastBatch::Pad, LastBatch::Keep]),
        ) {
            let ranks = Ranks::new(500, batch_size, world, last)?.by_homes(homes).after(start);
            for (k, rank) in (0..ranks.batches()).flat_map(|k| (0..world).map(move |rank| (k, rank))) {
                for slot in (0..ranks.clips(k, rank)).filter_map(|slot| ranks.slot(k, rank, slot)) {
                    let at_home = |(ranks, homes): (u32, u32)| {
                        let turn = (slot.position % u64::from(world)) as u32;
                        turn % homes * ranks + turn / homes
                    };
                    prop_assert!(!slot.counts || ranks.homes.map(at_home) == Some(rank));
                }
            }
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
