//! Makes the clips of a page with their strips, within a limit of bytes.

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
use crate::report::check::{Eyes, Seen, Wanted};
use vidrec_core::progress::Counter;
use vidrec_format::error::Result;

/// The clips that are shown, in order of their numbers.
pub(super) struct Wall {
    pub size: StripSize,
    pub clips: Vec<ShownClip>,
}

/// A clip that is shown.
pub(super) struct ShownClip {
    pub place: Chosen,
    described: ClipFacts,
    /// Its facts as JSON for a script.
    pub facts: String,
    /// Its strip in base64.
    pub strip: String,
    /// The larger strip in base64 that is shown when somebody opens the clip; empty without one.
    pub opened: String,
    /// The number of frames in the strip.
    frames: u64,
    /// The result of looking at the clip for a check, if that was done.
    pub seen: Option<Seen>,
}

impl ShownClip {
    /// Returns the bytes of the page that the clip takes.
    fn bytes(&self) -> u64 {
        (self.facts.len() + self.strip.len() + self.opened.len()) as u64 + PER_CLIP
    }
}

/// The most bytes of the elements around the strips of a clip and of the separators between facts.
const PER_CLIP: u64 = 128;
/// The number of clips whose strips are made in several sizes, to find the largest size that fits. For remote data
/// sets, about this many clips stay in memory meanwhile.
const PROBES: usize = 48;
/// The number of clips between two calls of the progress callback.
const TOGETHER: usize = 64;
/// How much larger than estimated the strips may turn out.
const MARGIN: f64 = 1.06;

impl Wall {
    /// Makes as many of the clips, from the first on, as fit into `room` bytes, with the largest strips that fit.
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
            // Nothing is read twice over a network. Showing a few clips less is better.
            let may_be_read_again = !workshop.sets.iter().any(|set| set.set.is_remote());
            let smaller = size.smaller().filter(|_| should_fit && may_be_read_again);
            match smaller {
                Some(size) if wall.clips.len() < by_worth.len() => {
                    fit = Fit { size, most: by_worth.len(), made: HashMap::new(), again: true };
                }
                _ if may_be_read_again => return workshop.enlarged(wall, room, by_worth, counter),
                _ => return Ok(wall),
            }
        }
    }

    /// Returns the number of clips that have a larger strip.
    pub fn enlarged(&self) -> u64 {
        self.clips.iter().filter(|clip| !clip.opened.is_empty()).count() as u64
    }

    /// Takes the results of looking at the clips: data set, clip, and result.
    pub fn take_seen(&mut self) -> Vec<(usize, u64, Seen)> {
        self.clips.iter_mut().filter_map(|clip| Some((clip.place.set, clip.place.clip, clip.seen.take()?))).collect()
    }

    /// Returns the bytes of the page that the clips take.
    pub fn bytes(&self) -> u64 {
        self.clips.iter().map(ShownClip::bytes).sum()
    }
}

/// The size of the strips, the number of clips that fit at this size, and the clips that were made to find it.
struct Fit {
    size: StripSize,
    most: usize,
    made: HashMap<Chosen, ShownClip>,
    /// Whether more clips should have fit at a larger size.
    again: bool,
}

/// Everything that making clips needs.
pub(super) struct Workshop<'a> {
    pub sets: &'a [NamedSet],
    pub pool: &'a ThreadPool,
    /// The kinds of results to look for in the clips, if they are checked at the same time. The data of a clip is
    /// then read only once.
    pub looks_for: Option<Wanted>,
}

/// The tools with which a thread makes clips.
#[derive(Default)]
struct Tools {
    maker: Option<StripMaker>,
    eyes: Option<Eyes>,
}

impl Workshop<'_> {
    /// Makes the clips that should fit, until the room is used up.
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
                // Clips that are made a second time were already counted.
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

    /// Spends what is left of the room on larger strips of clips that somebody may open, from the first on.
    fn enlarged(&self, mut wall: Wall, room: u64, by_worth: &[Chosen], counter: &mut Counter<'_, '_>) -> Result<Wall> {
        let (size, mut left) = (wall.size.opened(), room.saturating_sub(wall.bytes()));
        let shown: HashMap<Chosen, usize> = wall.clips.iter().enumerate().map(|(at, clip)| (clip.place, at)).collect();
        let places: Vec<usize> = by_worth.iter().filter_map(|place| shown.get(place).copied()).collect();
        for some in places.chunks(TOGETHER) {
            let clips = &wall.clips;
            let one = |tools: &mut Tools, &at: &usize| Ok((at, self.larger(tools, &clips[at], size)?));
            let made: Vec<(usize, Option<ShownClip>)> =
                self.pool.install(|| some.par_iter().map_init(Tools::default, one).collect::<Result<_>>())?;
            for (at, larger) in made {
                counter.tell()?;
                let Some(larger) = larger else { continue };
                let Some(rest) = (left + wall.clips[at].bytes()).checked_sub(larger.bytes()) else { return Ok(wall) };
                left = rest;
                let seen = wall.clips[at].seen.take();
                wall.clips[at] = ShownClip { seen, ..larger };
            }
        }
        Ok(wall)
    }

    /// Makes the larger strip of a clip, unless its frames are no larger than those of its strip.
    fn larger(&self, tools: &mut Tools, clip: &ShownClip, size: StripSize) -> Result<Option<ShownClip>> {
        let source = self.sets[clip.place.set].set.clip(clip.place.clip)?;
        let small = clip.described.strip.as_ref().map_or(u32::MAX, |strip| strip.height);
        // Most clips state their height, and then there may be nothing to do.
        if (1..=small).contains(&source.height()) {
            return Ok(None);
        }
        let strip = made_once(&mut tools.maker, || StripMaker::new(size))?.strip(&source)?;
        let Some(strip) = strip.filter(|strip| strip.frame.1 > small) else { return Ok(None) };
        let mut described = clip.described.clone();
        described.opened = Some(StripFacts::of(&strip, &source)?);
        let facts = in_script(&described)?;
        let opened = STANDARD.encode(strip.jpeg);
        let (place, strip, frames) = (clip.place, clip.strip.clone(), clip.frames);
        Ok(Some(ShownClip { place, described, facts, strip, opened, frames, seen: None }))
    }

    /// Returns the largest size of strips at which all of the clips fit into `room` bytes. If none is small
    /// enough, returns the smallest size and the number of clips that fit at it.
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

    /// Makes some clips with their strips.
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
        let text = in_script(&facts)?;
        Ok(ShownClip { place, described: facts, facts: text, strip, opened: String::new(), frames, seen })
    }
}

fn made_once<T>(place: &mut Option<T>, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    match place {
        Some(made) => Ok(made),
        None => Ok(place.insert(make()?)),
    }
}
