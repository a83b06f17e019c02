//! The clips of a page with their strips, in as many bytes as there are for them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::choice::Chosen;
use super::facts::{ClipFacts, StripFacts};
use super::json::in_script;
use super::options::NamedSet;
use super::strip::{StripMaker, StripSize};
use crate::Result;
use crate::progress::Counter;

/// The clips that are shown, in order of their numbers.
pub(super) struct Wall {
    pub size: StripSize,
    pub clips: Vec<ShownClip>,
}

/// A clip that is shown.
pub(super) struct ShownClip {
    pub place: Chosen,
    /// Its facts as JSON for a script.
    pub facts: String,
    /// Its strip in base64.
    pub strip: String,
}

impl ShownClip {
    /// Bytes of the page that it takes.
    fn bytes(&self) -> u64 {
        (self.facts.len() + self.strip.len()) as u64 + PER_CLIP
    }
}

/// Bytes of the element around a strip, and of what separates facts, at most.
const PER_CLIP: u64 = 64;
/// Clips of which strips of several sizes are made, to find the largest size that fits.
const PROBES: usize = 32;
/// Clips between two calls of the progress callback.
const TOGETHER: usize = 64;
/// How much larger than expected the strips may turn out.
const MARGIN: f64 = 1.03;

impl Wall {
    /// As many of the clips, from the first, as fit into `room` bytes, with strips as large as fit then.
    pub fn within(
        room: u64,
        by_worth: &[Chosen],
        sets: &[NamedSet],
        pool: &ThreadPool,
        counter: &mut Counter<'_, '_>,
    ) -> Result<Wall> {
        let (size, most) = fitting(room, by_worth, sets, pool)?;
        let (mut clips, mut bytes) = (Vec::new(), 0);
        for some in by_worth[..most].chunks(TOGETHER) {
            for (clip, frames) in made(some, size, sets, pool)? {
                bytes += clip.bytes();
                if bytes <= room {
                    clips.push(clip);
                }
                counter.add(frames, 0)?;
            }
        }
        clips.sort_by_key(|clip| clip.place);
        Ok(Wall { size, clips })
    }
}

/// The largest size of strips at which all of the clips fit into `room` bytes, or the smallest one and as many clips as
/// fit then.
fn fitting(room: u64, by_worth: &[Chosen], sets: &[NamedSet], pool: &ThreadPool) -> Result<(StripSize, usize)> {
    let probes: Vec<Chosen> = by_worth.iter().copied().step_by(by_worth.len().div_ceil(PROBES).max(1)).collect();
    let mut each = 0.0;
    let mut smallest = StripSize::ALL[0];
    for size in StripSize::ALL {
        let bytes: u64 = made(&probes, size, sets, pool)?.iter().map(|(clip, _)| clip.bytes()).sum();
        each = bytes as f64 / probes.len().max(1) as f64 * MARGIN;
        if each * by_worth.len() as f64 <= room as f64 {
            return Ok((size, by_worth.len()));
        }
        smallest = size;
    }
    Ok((smallest, ((room as f64 / each) as usize).min(by_worth.len())))
}

/// Some clips with their strips, and the number of frames of each strip.
fn made(clips: &[Chosen], size: StripSize, sets: &[NamedSet], pool: &ThreadPool) -> Result<Vec<(ShownClip, u64)>> {
    let one = |maker: &mut Option<StripMaker>, place: &Chosen| {
        let maker = match maker {
            Some(maker) => maker,
            None => maker.insert(StripMaker::new(size)?),
        };
        let clip = sets[place.set].set.clip(place.clip)?;
        let mut facts = ClipFacts::of(*place, &clip)?;
        let strip = maker.strip(&clip)?;
        facts.strip = strip.as_ref().map(|strip| StripFacts::of(strip, &clip)).transpose()?;
        let frames = strip.as_ref().map_or(0, |strip| strip.frames.len() as u64);
        let strip = strip.map_or_else(String::new, |strip| STANDARD.encode(strip.jpeg));
        Ok((ShownClip { place: *place, facts: in_script(&facts)?, strip }, frames))
    };
    pool.install(|| clips.par_iter().map_init(|| None, one).collect())
}
