//! Which frames have to be read: all but those whose pictures come from the cache of decoded frames.

use std::cell::OnceCell;

use super::engine::Engine;
use super::kept::{Look, frame_key, look_up};
use super::schedule::Seat;
use crate::Result;
use crate::dataset::Clip;
use crate::decoded::Found;

/// The clip of a sample in a batch of `length` frames of `size` pixels, and the frames of it that have to be read. Errors
/// come when the batch is made.
pub(super) fn to_read<'a>(
    engine: &'a Engine,
    seat: &Seat,
    length: u32,
    size: (u32, u32),
) -> Result<(Clip<'a>, Vec<u32>)> {
    let (clip, (mut frames, _)) = engine.planner.choose(seat, length)?;
    let Some(cache) = &engine.decoded else { return Ok((clip, frames)) };
    let Some(scale) = engine.planner.scale(seat, &clip, size) else { return Ok((clip, frames)) };
    let (mut found, kernel) = (Found::default(), OnceCell::new());
    // Of a frame in part, the tables say whether it is enough. They are made once more for the batch.
    let made = || {
        let plan = engine.planner.plan(*seat, length, size).ok()?;
        plan.frame_size().map(|frame| engine.planner.kernel(&plan, frame))
    };
    let kernel = || kernel.get_or_init(made).as_ref();
    let mut is_kept = |t: u32| {
        let frame = frame_key(&clip, t).ok()?;
        if cache.was_complete(frame, scale) {
            return Some(());
        }
        cache.find(frame, scale, &mut found);
        found.grid()?;
        (found.is_complete() || matches!(look_up(cache, frame, kernel()?, &mut found), Look::All(..))).then_some(())
    };
    frames.retain(|&t| is_kept(t).is_none());
    Ok((clip, frames))
}
