//! Which frames have to be read: all but those whose pictures come from the cache of decoded frames.

use super::engine::Engine;
use super::kept::{Look, frame_key, look_up};
use super::plan::SamplePlan;
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
    let Some(cache) = &engine.decoded else {
        let (clip, (frames, _)) = engine.planner.choose(seat, length)?;
        return Ok((clip, frames));
    };
    // The same tables are made once more for the batch, a small part of the work that they may save.
    let SamplePlan { clip, mut frames, kernel, .. } = engine.planner.plan(*seat, length, size)?;
    let mut found = Found::default();
    let mut is_kept = |t: u32| {
        let Some(kernel) = &kernel else { return false };
        frame_key(&clip, t).is_ok_and(|frame| matches!(look_up(cache, frame, kernel, &mut found), Look::All(..)))
    };
    frames.retain(|&t| !is_kept(t));
    Ok((clip, frames))
}
