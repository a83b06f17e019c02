//! Which samples a batch has: a function of the order, the ranks, and where a run was resumed.

use super::space::{SamplePlace, Space};
use crate::loader::draw::DrawKey;
use crate::loader::options::LoaderOptions;
use crate::order::{Order, Ranks};
use crate::random::{Random, stream};
use crate::{Error, Result};

/// A place in a batch, and the sample in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat {
    pub sample: u64,
    pub place: SamplePlace,
    pub key: DrawKey,
    /// Whether it counts.
    pub counts: bool,
}

/// The batches of every epoch.
#[derive(Debug)]
pub(super) struct Schedule {
    space: Space,
    order: Order,
    seed: u64,
    batch_size: u32,
    rank: u32,
    /// Of a whole epoch.
    ranks: Ranks,
    /// Positions in an epoch.
    positions: u64,
    /// Epoch that another run began, and how many of its positions are done.
    resumed: Option<(u64, u64)>,
}

impl Schedule {
    pub fn new(options: &LoaderOptions, space: Space) -> Result<Self> {
        let LoaderOptions { batch_size, seed, ref sampling, .. } = *options;
        sampling.order.check(space.len())?;
        let positions = sampling.order.proven(space.len(), seed, 0).len();
        let ranks = Ranks::new(positions, batch_size, sampling.world_size, sampling.last)?;
        let order = sampling.order.clone();
        Ok(Schedule { space, order, seed, batch_size, rank: sampling.rank, ranks, positions, resumed: None })
    }

    /// Positions in a whole epoch.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Begins in `epoch`, of which `consumed` positions are done.
    pub fn resume(&mut self, epoch: u64, consumed: u64) {
        self.resumed = Some((epoch, consumed));
    }

    pub fn first_epoch(&self) -> u64 {
        self.resumed.map_or(0, |(epoch, _)| epoch)
    }

    /// Batches that this rank has in an epoch that is not cut short by resuming.
    pub fn batches_per_epoch(&self) -> u64 {
        self.ranks.batches()
    }

    /// Batches that this rank has in `epoch`, or in the rest of it.
    pub fn batches_in(&self, epoch: u64) -> u64 {
        self.ranks_in(epoch).batches()
    }

    /// The epoch in which a run stands after `batches` batches of `epoch`, and the positions of it that are done.
    pub fn after(&self, epoch: u64, batches: u64) -> (u64, u64) {
        let ranks = self.ranks_in(epoch);
        if batches >= ranks.batches() { (epoch + 1, 0) } else { (epoch, ranks.consumed(batches)) }
    }

    /// The samples of batch `k` of `epoch`.
    pub fn seats(&self, epoch: u64, k: u64) -> Result<Vec<Seat>> {
        let (ranks, order) = (self.ranks_in(epoch), self.order.proven(self.space.len(), self.seed, epoch));
        let seat = |i| {
            let slot = ranks.slot(k, self.rank, i)?;
            let sample = order.get(slot.position)?;
            // A multiple of the number of crops, which divides the number of samples.
            let occurrence = if order.repeats() { self.space.len().wrapping_mul(slot.position + 1) } else { 0 };
            Some(self.seat(epoch, sample, sample.wrapping_add(occurrence), slot.counts))
        };
        let seats = if k < ranks.batches() { (0..self.batch_size).map(seat).collect() } else { None };
        let none = || Error::usage(format!("there is no batch {k}")).expected(format!("less than {}", ranks.batches()));
        seats.ok_or_else(none)
    }

    /// The seat with the sample that the draw number `attempt` puts in its place, if that is another sample.
    pub fn substitute(&self, seat: &Seat, attempt: u64) -> Option<Seat> {
        let epoch = seat.key.epoch;
        let mut random = Random::new(self.seed, &[stream::SUBSTITUTE, epoch, seat.sample, attempt]);
        let sample = random.below(self.space.len());
        (sample != seat.sample).then(|| self.seat(epoch, sample, sample, seat.counts))
    }

    fn seat(&self, epoch: u64, sample: u64, draw: u64, counts: bool) -> Seat {
        let key = DrawKey { seed: self.seed, epoch, sample: draw };
        Seat { sample, place: self.space.place(sample, epoch), key, counts }
    }

    /// How ranks share `epoch`, or the rest of it.
    fn ranks_in(&self, epoch: u64) -> Ranks {
        match self.resumed {
            Some((first, consumed)) if first == epoch => self.ranks.after(consumed),
            _ => self.ranks,
        }
    }
}
