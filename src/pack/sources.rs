//! Where the clips of each video come from: a decoder in this process or in another, or a data set packed before.

use super::PackOptions;
use super::clip;
use super::existing::Existing;
use super::fingerprint::Stamp;
use super::gate::{Gate, Slowed};
use super::inputs::Plan;
use super::isolate::Pool;
use super::memory::Memory;
use super::read_ahead::ReadAhead;
use super::run::Packed;

/// What the workers of a run share.
pub(super) struct Sources<'a> {
    plan: &'a Plan,
    options: &'a PackOptions,
    /// When what failed is retried: the data set that was packed before, and the first clip of each video that did not fail.
    packed: Option<(&'a Existing, Vec<Option<u64>>)>,
    /// The processes that decode, if not this one does.
    pool: Option<&'a Pool<'a>>,
    gate: Gate,
}

impl<'a> Sources<'a> {
    pub fn new(
        plan: &'a Plan,
        options: &'a PackOptions,
        existing: Option<&'a Existing>,
        pool: Option<&'a Pool<'a>>,
        threads: usize,
    ) -> Self {
        let packed = existing.map(|e| (e, e.sources(plan).map(|(_, clips)| clips.ok().map(|c| c.start)).collect()));
        Sources { plan, options, packed, pool, gate: Gate::new(threads) }
    }

    /// Whether, and why, fewer videos were packed at a time than asked for.
    pub fn slowed(&self) -> Option<Slowed> {
        self.gate.slowed()
    }

    /// Packs a video of the plan.
    pub fn pack<'m>(&self, ordinal: usize, memory: &'m Memory, ahead: &ReadAhead) -> Packed<'m> {
        let item = &self.plan.items[ordinal];
        let stamp = Stamp::of(&item.path);
        let copied = self.packed.as_ref().and_then(|(set, clips)| Some((set, clips[ordinal]?)));
        let mut held = memory.hold();
        let clips = match (copied, self.pool) {
            (Some((set, first)), _) => set.copy(first),
            (None, pool) => {
                ahead.begin(ordinal);
                self.gate.pack(|alone| {
                    if alone {
                        ahead.stop();
                        pool.into_iter().for_each(Pool::end_idle);
                    }
                    match pool {
                        Some(pool) => pool.pack(item, alone),
                        None => clip::pack_one(item, self.options, &mut held, alone),
                    }
                })
            }
        };
        // Those that come from elsewhere wait to be written like any other.
        held.set(clips.as_ref().map_or(0, |clips| clip::jpeg_bytes(clips)));
        Packed { stamp, clips, held }
    }
}
