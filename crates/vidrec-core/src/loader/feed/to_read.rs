//! The frames that must be read: all frames whose pictures do not come from the cache of decoded frames, and whose JPEGs
//! no device keeps.

use std::cell::OnceCell;

use super::cached_frames::{Look, frame_key, look_up};
use super::engine::Engine;
use super::schedule::Seat;
use crate::dataset::Clip;
use crate::loader::decoded::Found;
use vidrec_format::error::Result;

/// Returns the clip of a sample in a batch of `length` frames of `size` pixels, and those of its frames that must
/// be read. Errors come later, with the batch.
pub(super) fn to_read<'a>(
    engine: &'a Engine,
    seat: &Seat,
    length: u32,
    size: (u32, u32),
) -> Result<(Clip<'a>, Vec<u32>)> {
    let (clip, (mut frames, _)) = engine.specs.choose(seat, length)?;
    if let Some(device) = engine.device.get() {
        frames.retain(|&t| frame_key(&clip, t).ok().and_then(|key| device.find(key)).is_none());
    }
    let Some(cache) = &engine.decoded else { return Ok((clip, frames)) };
    let Some(scale) = engine.specs.scale(seat, &clip, size) else { return Ok((clip, frames)) };
    let (mut found, kernel) = (Found::default(), OnceCell::new());
    // If the cache has only a part of a frame, the tables say whether it is enough. The batch makes these tables
    // again.
    let made = || {
        let plan = engine.specs.plan(*seat, length, size).ok()?;
        plan.frame_size().map(|frame| engine.specs.kernel(&plan, frame))
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
