//! The clips of a page with their strips, in as many bytes as there are for them.

use std::collections::HashMap;

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
use crate::check::{Eyes, Seen, Wanted};
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
    /// Frames of the strip.
    frames: u64,
    /// What a check of the clip saw, if it was looked at.
    pub seen: Option<Seen>,
}

impl ShownClip {
    /// Bytes of the page that it takes.
    fn bytes(&self) -> u64 {
        (self.facts.len() + self.strip.len()) as u64 + PER_CLIP
    }
}

/// Bytes of the element around a strip, and of what separates facts, at most.
const PER_CLIP: u64 = 64;
/// Clips of which strips of several sizes are made, to find the largest size that fits. Of remote data sets, about as many
/// stay in memory meanwhile.
const PROBES: usize = 48;
/// Clips between two calls of the progress callback.
const TOGETHER: usize = 64;
/// How much larger than expected the strips may turn out.
const MARGIN: f64 = 1.06;

impl Wall {
    /// As many of the clips, from the first, as fit into `room` bytes, with strips as large as fit then.
    pub fn within(
        room: u64,
        by_worth: &[Chosen],
        workshop: &Workshop<'_>,
        counter: &mut Counter<'_, '_>,
    ) -> Result<Wall> {
        let mut fit = workshop.fitting(room, by_worth)?;
        loop {
            let (size, should_fit) = (fit.size, fit.most == by_worth.len());
            let wall = workshop.filled(room, by_worth, fit, counter)?;
            // Nothing is read twice over a network: rather, a few clips are not shown.
            let may_be_read_again = !workshop.sets.iter().any(|set| set.set.is_remote());
            let smaller = size.smaller().filter(|_| should_fit && may_be_read_again);
            match smaller {
                Some(size) if wall.clips.len() < by_worth.len() => {
                    fit = Fit { size, most: by_worth.len(), made: HashMap::new(), again: true };
                }
                _ => return Ok(wall),
            }
        }
    }

    /// What a check saw of the clips: data set, clip, and what was seen.
    pub fn take_seen(&mut self) -> Vec<(usize, u64, Seen)> {
        self.clips.iter_mut().filter_map(|clip| Some((clip.place.set, clip.place.clip, clip.seen.take()?))).collect()
    }

    /// Bytes of the page that the clips take.
    pub fn bytes(&self) -> u64 {
        self.clips.iter().map(ShownClip::bytes).sum()
    }
}

/// How large strips may be, how many of the clips fit then, and those of them that were made to find out.
struct Fit {
    size: StripSize,
    most: usize,
    made: HashMap<Chosen, ShownClip>,
    /// Whether more clips should have fit at a larger size.
    again: bool,
}

/// What clips are made with.
pub(super) struct Workshop<'a> {
    pub sets: &'a [NamedSet],
    pub pool: &'a ThreadPool,
    /// What a check looks for in the clips, if they are checked on the way: what is read for the one is there for the other.
    pub looks_for: Option<Wanted>,
}

/// What a thread makes clips with.
#[derive(Default)]
struct Tools {
    maker: Option<StripMaker>,
    eyes: Option<Eyes>,
}

impl Workshop<'_> {
    /// As many of the clips that should fit as do.
    fn filled(&self, room: u64, by_worth: &[Chosen], fit: Fit, counter: &mut Counter<'_, '_>) -> Result<Wall> {
        let Fit { size, most, mut made, again } = fit;
        let (mut clips, mut bytes) = (Vec::new(), 0);
        'all: for some in by_worth[..most].chunks(TOGETHER) {
            let missing: Vec<Chosen> = some.iter().copied().filter(|place| !made.contains_key(place)).collect();
            made.extend(self.made(&missing, size, self.looks_for)?);
            for clip in some.iter().filter_map(|place| made.remove(place)) {
                bytes += clip.bytes();
                if bytes > room {
                    break 'all;
                }
                // What is made once more was counted.
                if again {
                    counter.tell()?
                } else {
                    counter.add(clip.frames, 0)?
                }
                clips.push(clip);
            }
        }
        clips.sort_by_key(|clip| clip.place);
        Ok(Wall { size, clips })
    }

    /// The largest size of strips at which all of the clips fit into `room` bytes, or the smallest one and as many clips as
    /// fit then.
    fn fitting(&self, room: u64, by_worth: &[Chosen]) -> Result<Fit> {
        let probes: Vec<Chosen> = by_worth.iter().copied().step_by(by_worth.len().div_ceil(PROBES).max(1)).collect();
        let mut fit = Fit { size: StripSize::ALL[0], most: 0, made: HashMap::new(), again: false };
        for size in StripSize::ALL {
            let looks_for = self.looks_for.filter(|_| fit.made.is_empty());
            let mut seen: HashMap<_, _> = fit.made.drain().map(|(place, clip)| (place, clip.seen)).collect();
            fit.made = self.made(&probes, size, looks_for)?;
            fit.made.values_mut().for_each(|clip| clip.seen = clip.seen.take().or(seen.remove(&clip.place).flatten()));
            fit.size = size;
            let bytes: u64 = fit.made.values().map(ShownClip::bytes).sum();
            let each = bytes as f64 / probes.len().max(1) as f64 * MARGIN;
            if each * by_worth.len() as f64 <= room as f64 {
                return Ok(Fit { most: by_worth.len(), ..fit });
            }
            fit.most = ((room as f64 / each) as usize).min(by_worth.len());
        }
        Ok(fit)
    }

    /// Some clips with their strips.
    fn made(&self, clips: &[Chosen], size: StripSize, looks_for: Option<Wanted>) -> Result<HashMap<Chosen, ShownClip>> {
        let one = |tools: &mut Tools, place: &Chosen| Ok((*place, self.one(tools, *place, size, looks_for)?));
        self.pool.install(|| clips.par_iter().map_init(Tools::default, one).collect())
    }

    fn one(&self, tools: &mut Tools, place: Chosen, size: StripSize, looks_for: Option<Wanted>) -> Result<ShownClip> {
        let set = &self.sets[place.set].set;
        let clip = set.clip(place.clip)?;
        let mut facts = ClipFacts::of(place, &clip)?;
        let strip = made_once(&mut tools.maker, || StripMaker::new(size))?.strip(&clip)?;
        let look = |wanted| made_once(&mut tools.eyes, Eyes::new)?.look(set, place.clip, wanted);
        let seen = looks_for.map(look).transpose()?;
        facts.strip = strip.as_ref().map(|strip| StripFacts::of(strip, &clip)).transpose()?;
        let frames = strip.as_ref().map_or(0, |strip| strip.frames.len() as u64);
        let strip = strip.map_or_else(String::new, |strip| STANDARD.encode(strip.jpeg));
        Ok(ShownClip { place, facts: in_script(&facts)?, strip, frames, seen })
    }
}

fn made_once<T>(place: &mut Option<T>, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    match place {
        Some(made) => Ok(made),
        None => Ok(place.insert(make()?)),
    }
}
