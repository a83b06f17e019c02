//! The order of a mix: samples of several sources, each as often as its share requires. Any window of the stream has each source as
//! often as its share says, rounded down or up.

use std::collections::HashSet;

use super::{Blocks, Permutation};
use crate::error::{Error, Result};
use crate::random::{Random, stream};

/// The order of a mix of several sources. It is an endless stream of samples, cut into epochs.
///
/// [`Shares`] determines the source of each position of the stream: exactly, in any window. The samples of a
/// source come in an order of their own, and all of them come once before the next round through them. Both are
/// functions of the position, so any position is found at once and nothing has to be remembered.
///
/// Samples are numbered through: those of the first source, then those of the second, and so on.
///
/// ```
/// use vidrec::order::{Mixed, Shares, SourceOrder};
///
/// let shares = Shares::new(10, &[(0, vec![("a", 0.7), ("b", 0.3)])])?;
/// let mixed = Mixed::new(shares, vec![(1000, SourceOrder::Shuffled), (6, SourceOrder::Shuffled)], 20, 42)?;
/// assert_eq!(mixed.counts(20), [14, 6]);
/// let of_b = (0..20).filter_map(|i| mixed.draw(i)).filter(|draw| draw.source == 1);
/// let mut samples: Vec<u64> = of_b.map(|draw| draw.sample - 1000).collect();
/// samples.sort_unstable();
/// assert_eq!(samples, [0, 1, 2, 3, 4, 5]);
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mixed {
    shares: Shares,
    sources: Vec<Source>,
    stretches: Vec<Stretch>,
    samples_per_epoch: u64,
}

#[derive(Debug, Clone, PartialEq)]
struct Source {
    /// The first sample of the source. `len` is its number of samples.
    start: u64,
    len: u64,
    order: SourceOrder,
    seed: u64,
}

/// Consecutive positions with the same weights.
#[derive(Debug, Clone, PartialEq)]
struct Stretch {
    from: u64,
    /// The number of samples of each source that come before.
    before: Vec<u64>,
    quotas: Quotas,
}

/// The sample at a position of a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// The number of the source.
    pub source: usize,
    /// The sample, numbered through all sources.
    pub sample: u64,
    /// The number of times that all samples of the source have come before.
    pub round: u64,
}

impl Mixed {
    /// Creates a mix of sources with their numbers of samples and their orders, under a seed.
    ///
    /// # Errors
    ///
    /// The numbers of sources and shares differ; a source has no samples; blocks of 0; an epoch has no samples; or
    /// there are more samples than 64 bits can count.
    pub fn new(shares: Shares, sources: Vec<(u64, SourceOrder)>, samples_per_epoch: u64, seed: u64) -> Result<Self> {
        if sources.len() != shares.names().len() {
            let e = Error::usage("mix: the number of sources is not the number of names");
            return Err(e.expected(shares.names().len()).found(sources.len()));
        }
        if samples_per_epoch == 0 {
            return Err(Error::usage("mix: samples_per_epoch is out of range").expected("1 or more").found(0));
        }
        let mut start = 0u64;
        let mut all = Vec::with_capacity(sources.len());
        for (number, (name, (len, order))) in (1..).zip(shares.names().iter().zip(sources)) {
            if len == 0 {
                return Err(Error::usage(format!("mix: source \"{name}\" has no samples")));
            }
            order.check()?;
            let seed = Random::new(seed, &[stream::MIX, number]).next_u64();
            all.push(Source { start, len, order, seed });
            start =
                start.checked_add(len).ok_or_else(|| Error::limit("there are more samples than 64 bits can count"))?;
        }
        let stretches = stretches(&shares, seed);
        Ok(Mixed { shares, sources: all, stretches, samples_per_epoch })
    }

    /// The shares of the sources.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// The number of samples in an epoch.
    pub fn samples_per_epoch(&self) -> u64 {
        self.samples_per_epoch
    }

    /// The number of samples of all sources.
    pub fn samples(&self) -> u64 {
        self.sources.last().map_or(0, |last| last.start + last.len)
    }

    /// The sample at a position of the stream, counted from 0 over all epochs.
    ///
    /// `None` past what 64 bits can count.
    pub fn draw(&self, position: u64) -> Option<Draw> {
        let stretch = self.stretch(position)?;
        let (source, index) = stretch.quotas.at(position - stretch.from);
        let index = stretch.before.get(source)?.checked_add(index)?;
        let Source { start, len, order, seed } = self.sources.get(source)?;
        let round = index / len;
        let sample = start + order.get((*len, *seed, round), index % len)?;
        Some(Draw { source, sample, round })
    }

    /// The sample at a position of an epoch; `None` past its end.
    pub fn in_epoch(&self, epoch: u64, position: u64) -> Option<Draw> {
        if position >= self.samples_per_epoch {
            return None;
        }
        self.draw(epoch.checked_mul(self.samples_per_epoch)?.checked_add(position)?)
    }

    /// The number of samples of each source before a position of the stream.
    pub fn counts(&self, position: u64) -> Vec<u64> {
        let Some(stretch) = self.stretch(position) else { return vec![0; self.sources.len()] };
        let of = |(i, before): (usize, &u64)| before + stretch.quotas.before(i, position - stretch.from);
        stretch.before.iter().enumerate().map(of).collect()
    }

    /// The number of samples of each source, which is the length of a round through it.
    pub fn rounds(&self) -> impl Iterator<Item = u64> {
        self.sources.iter().map(|source| source.len)
    }

    /// The position in the stream of a position in an epoch.
    pub fn position(&self, epoch: u64, position: u64) -> u64 {
        epoch.saturating_mul(self.samples_per_epoch).saturating_add(position)
    }

    /// The samples of the source that contains this sample.
    pub fn source_of(&self, sample: u64) -> std::ops::Range<u64> {
        let at = self.sources.partition_point(|source| source.start <= sample).saturating_sub(1);
        self.sources.get(at).map_or(0..0, |source| source.start..source.start + source.len)
    }

    /// Whether the samples of any source come in blocks, which are best read together.
    pub fn has_blocks(&self) -> bool {
        self.sources.iter().any(|source| matches!(source.order, SourceOrder::Blocks { .. }))
    }

    /// Describes in words which sources the samples before a position are from.
    pub fn describe(&self, position: u64) -> String {
        let lengths: Vec<String> = self.rounds().map(|len| len.to_string()).collect();
        format!("{}; of {} samples", self.shares.describe(position), lengths.join(", "))
    }

    fn stretch(&self, position: u64) -> Option<&Stretch> {
        let at = self.stretches.partition_point(|stretch| stretch.from <= position);
        self.stretches.get(at.checked_sub(1)?)
    }
}

fn stretches(shares: &Shares, seed: u64) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (from, units) in shares.stretches() {
        let before = match stretches.last() {
            Some(last) => {
                let grown = |(i, before): (usize, &u64)| before + last.quotas.before(i, from - last.from);
                last.before.iter().enumerate().map(grown).collect()
            }
            None => vec![0; units.len()],
        };
        let random = Random::new(seed, &[stream::MIX, 0, *from]);
        stretches.push(Stretch { from: *from, before, quotas: Quotas::new(units, shares.window().into(), random) });
    }
    stretches
}

/// The maximum length of a window.
const MOST_WINDOW: u32 = 1 << 16;

/// The maximum number of stretches of a run that is resumed. Each needs the memory of a window.
const MOST_STRETCHES: usize = 1 << 14;

/// The share of each source in a mix, and how it changes.
///
/// Weights are in any unit. They are rounded to a thousandth of a sample of a window: to a millionth for windows
/// of 1,000 samples.
///
/// ```
/// use vidrec::order::Shares;
///
/// let schedule = [(0, vec![("kinetics", 0.7), ("ssv2", 0.3)]), (50_000, vec![("ssv2", 1.0), ("kinetics", 0.0)])];
/// let shares = Shares::new(1000, &schedule)?;
/// assert_eq!(shares.names(), ["kinetics", "ssv2"]);
/// let e = Shares::new(1000, &[(0, vec![("kinetics", 0.7), ("ssv2", -0.3)])]).unwrap_err();
/// assert!(e.to_string().contains("ssv2"));
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shares {
    names: Vec<String>,
    window: u32,
    /// The first sample of each stretch, and the units of each source in it.
    stretches: Vec<(u64, Vec<u64>)>,
}

impl Shares {
    /// Creates shares from a schedule. Each entry has the sample from which it applies, and a weight for each
    /// source, by name. The first entry applies from sample 0, and its names are those of all sources, in their
    /// order. Any `window` consecutive samples have each source as often as its weight says, rounded down or up.
    ///
    /// # Errors
    ///
    /// No source, or two with the same name; a weight that is negative, not finite or too small for this window;
    /// no positive weight; a name that is not among those of the sources, or a missing one; samples that do not
    /// begin with 0 or do not increase; or a window of 0, or of more than 65,536 samples.
    pub fn new<N: AsRef<str>>(window: u32, schedule: &[(u64, Vec<(N, f64)>)]) -> Result<Self> {
        let sources = schedule.first().map_or(&[][..], |(_, sources)| sources);
        let names = sources.iter().map(|(name, _)| name.as_ref().to_owned()).collect();
        Shares::of(names, window, schedule)
    }

    /// Creates shares as [`new`](Self::new) does, for sources with these names.
    pub fn of<N: AsRef<str>>(names: Vec<String>, window: u32, schedule: &[(u64, Vec<(N, f64)>)]) -> Result<Self> {
        if !(1..=MOST_WINDOW).contains(&window) {
            let e = Error::usage("mix: the window is out of range").expected(format!("1 to {MOST_WINDOW} samples"));
            return Err(e.found(window));
        }
        if names.is_empty() {
            return Err(Error::usage("mix: there are no sources"));
        }
        let mut shares = Shares { names, window, stretches: Vec::new() };
        for (from, weights) in schedule {
            let expected = shares.stretches.last().map_or(0..=0, |(before, _)| before + 1..=u64::MAX);
            if !expected.contains(from) {
                let e = Error::usage("mix: the steps of the schedule do not increase");
                let least = expected.start();
                return Err(e
                    .expected(if expected.end() == least {
                        "0 as the first step".into()
                    } else {
                        format!("{least} or more")
                    })
                    .found(from));
            }
            let units = shares
                .units_of(weights)
                .map_err(|e| if *from > 0 { e.help(format!("this is the step from sample {from}")) } else { e })?;
            shares.stretches.push((*from, units));
        }
        Ok(shares)
    }

    /// The sources, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of samples in a window.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// The first sample of each stretch of equal weights, and each source's share of a window in thousandths of a
    /// sample.
    pub(super) fn stretches(&self) -> &[(u64, Vec<u64>)] {
        &self.stretches
    }

    /// The stretches of equal shares that begin before sample `end`: the first sample of each, and the share of each source in
    /// thousandths of a sample of a window.
    pub fn before(&self, end: u64) -> impl Iterator<Item = &(u64, Vec<u64>)> {
        self.stretches.iter().filter(move |(from, _)| *from == 0 || *from < end)
    }

    /// Whether other shares begin with this sample.
    pub fn change_at(&self, sample: u64) -> bool {
        self.stretches.iter().any(|(from, _)| *from == sample)
    }

    /// These shares for a run that had others [`before`](Self::before) a sample: those until then, and these from it on. Sources
    /// that are new to the run are the last ones.
    ///
    /// If the shares stay as they were, their stretch goes on, so that it has the same sources at the same places.
    ///
    /// # Errors
    ///
    /// Those before are no shares of such a run: a stretch has more sources, or shares that are not of this window.
    ///
    /// ```
    /// use vidrec::order::Shares;
    ///
    /// let run = Shares::new(10, &[(0, vec![("a", 0.7), ("b", 0.3)])])?;
    /// let joined = Shares::new(10, &[(0, vec![("a", 0.5), ("b", 0.3), ("c", 0.2)])])?;
    /// let before: Vec<_> = run.before(25).cloned().collect();
    /// let resumed = joined.resumed(&before, 25)?;
    /// assert_eq!(resumed.before(100).map(|(from, _)| *from).collect::<Vec<_>>(), [0, 25]);
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    pub fn resumed(&self, before: &[(u64, Vec<u64>)], sample: u64) -> Result<Shares> {
        if sample == 0 {
            return Ok(self.clone());
        }
        let all = u64::from(self.window) * PARTS;
        let is_sound = |(_, units): &(u64, Vec<u64>)| {
            units.len() <= self.names.len() && units.iter().try_fold(0u64, |sum, &n| sum.checked_add(n)) == Some(all)
        };
        let begin_and_increase =
            before.first().is_some_and(|(from, _)| *from == 0) && before.is_sorted_by(|a, b| a.0 < b.0);
        if !begin_and_increase || !before.iter().all(is_sound) || before.len() > MOST_STRETCHES {
            return Err(Error::usage("the shares in the saved state are not those of a run of this mix"));
        }
        let padded = |(from, units): &(u64, Vec<u64>)| {
            let none = std::iter::repeat_n(0, self.names.len() - units.len());
            (*from, units.iter().copied().chain(none).collect())
        };
        let mut stretches: Vec<(u64, Vec<u64>)> =
            before.iter().filter(|(from, _)| *from < sample).map(padded).collect();
        let now = self.stretches.iter().rfind(|(from, _)| *from <= sample);
        if let Some((from, units)) = now
            && (*from == sample || stretches.last().is_none_or(|(_, last)| last != units))
        {
            stretches.push((sample, units.clone()));
        }
        stretches.extend(self.stretches.iter().filter(|(from, _)| *from > sample).cloned());
        Ok(Shares { names: self.names.clone(), window: self.window, stretches })
    }

    /// Describes what decides the source of samples before `end`: the last shares in words, and a checksum of
    /// those before.
    pub(super) fn describe(&self, end: u64) -> String {
        let in_words = |(from, units): &(u64, Vec<u64>)| {
            let units: Vec<String> = units.iter().map(u64::to_string).collect();
            format!("from {from}: {}", units.join(" "))
        };
        let mut stretches: Vec<String> = self.before(end).map(in_words).collect();
        let last = stretches.pop().unwrap_or_default();
        let mut words = format!("mix in windows of {}; {last}", self.window);
        if !stretches.is_empty() {
            words += &format!("; before that {:08x}", crc32fast::hash(stretches.join("; ").as_bytes()));
        }
        words
    }

    /// The shares of all sources, in their order.
    fn units_of<N: AsRef<str>>(&self, weights: &[(N, f64)]) -> Result<Vec<u64>> {
        let mut seen = HashSet::new();
        let mut found = vec![None; self.names.len()];
        for (name, weight) in weights {
            let name = name.as_ref();
            let Some(place) = self.names.iter().position(|known| known == name) else {
                let e = Error::usage(format!("mix: there is no source \"{name}\""));
                return Err(e.expected(self.names.join(", ")));
            };
            if !seen.insert(name) {
                return Err(Error::usage(format!("mix: source \"{name}\" is given twice")));
            }
            if !(0.0..f64::INFINITY).contains(weight) {
                let e = Error::usage(format!("mix: the weight of \"{name}\" is out of range"));
                return Err(e.expected("a finite number of 0 or more").found(weight));
            }
            found[place] = Some(*weight);
        }
        if let Some(missing) = found.iter().position(Option::is_none) {
            let e = Error::usage(format!("mix: \"{}\" has no weight", self.names[missing]));
            return Err(e.help("give it a weight of 0 to leave it out"));
        }
        let weights: Vec<f64> = found.into_iter().flatten().collect();
        if weights.iter().all(|&weight| weight == 0.0) {
            return Err(Error::usage(format!("mix: no weight is positive: {}", self.names.join(", "))));
        }
        let units = units(&weights, self.window.into());
        match weights.iter().zip(&units).position(|(&weight, &units)| weight > 0.0 && units == 0) {
            Some(small) => {
                let e = Error::usage(format!("mix: the weight of \"{}\" is too small", self.names[small]));
                let least = format!("at least 1/{} of all", u64::from(self.window) * PARTS);
                Err(e.expected(least).found(weights[small]).help("make the window longer"))
            }
            None => Ok(units),
        }
    }
}

/// Turns weights, of which at least one is positive, into whole numbers with a sum of `window * PARTS`. They are
/// rounded down, and the rest goes to those that lost most.
pub(super) fn units(weights: &[f64], window: u64) -> Vec<u64> {
    // The weights are first divided by the largest, so that the sum is finite.
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let sum: f64 = weights.iter().map(|weight| weight / largest).sum();
    let all = window * PARTS;
    let exact: Vec<f64> = weights.iter().map(|weight| weight / largest / sum * all as f64).collect();
    let mut units: Vec<u64> = exact.iter().map(|exact| exact.floor() as u64).collect();
    let mut by_loss: Vec<usize> = (0..weights.len()).collect();
    by_loss.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    let left = all.saturating_sub(units.iter().sum());
    by_loss.iter().take(left as usize).for_each(|&i| units[i] += 1);
    units
}

/// The order of the samples of one source of a [`Mixed`](super::Mixed). Each round through them has a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum SourceOrder {
    /// An exact shuffle: [`Permutation`]. The default.
    #[default]
    Shuffled,
    /// Blocks of neighbors, shuffled within a window of blocks: [`Blocks`]. This is for data sets that are read
    /// much faster in sequence than at random.
    Blocks {
        /// The number of adjacent samples in a block, at least 1.
        block: u32,
        /// The number of blocks whose samples are mixed, at least 1.
        window: u32,
    },
}

impl SourceOrder {
    /// Returns an error for blocks without samples, or windows without blocks.
    pub(super) fn check(self) -> Result<()> {
        match self {
            SourceOrder::Blocks { block, window } => check_blocks(block, window),
            SourceOrder::Shuffled => Ok(()),
        }
    }

    /// The sample at a position of a round through `n` samples; `None` past the end.
    pub(super) fn get(self, (n, seed, round): (u64, u64, u64), position: u64) -> Option<u64> {
        match self {
            SourceOrder::Shuffled => Permutation::new(n, seed, round).get(position),
            SourceOrder::Blocks { block, window } => Blocks::new(n, block, window, seed, round).get(position),
        }
    }
}

/// Returns an error for blocks without samples, or windows without blocks.
pub(super) fn check_blocks(block: u32, window: u32) -> Result<()> {
    match [("block", block), ("window", window)].into_iter().find(|&(_, number)| number == 0) {
        Some((option, _)) => {
            Err(Error::usage(format!("order of blocks: {option} is out of range")).expected("1 or more").found(0))
        }
        None => Ok(()),
    }
}

/// The number of parts into which the share of one sample of a window is divided.
pub(super) const PARTS: u64 = 1000;

/// A stream in which any `window` consecutive positions have each source as often as its share says, rounded down
/// or up.
///
/// A source with a share of `units / PARTS` samples of a window has `units / PARTS`, rounded down, places of its
/// own in it. They are the same in each window, so a window that slides over the stream contains each of them
/// once. Each window has `slots` places left. The sources take turns in these slots, for the rest of their shares:
///
/// ```text
/// tape    each source has units % PARTS cells in a row; all together have slots x PARTS cells
/// slot s  in window m belongs to the source at cell s x PARTS + m of the tape, which is a circle
/// ```
///
/// Slots are `PARTS` cells apart, and no source has that many cells. No source therefore has two slots of a
/// window, or another slot in the next window: it keeps its slot, then has none for a while. A sliding window thus
/// contains at most one slot of each source. In `PARTS` windows, the slots pass every cell once, and shares are
/// then exact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quotas {
    window: u64,
    /// For each place of a window, its source or its slot.
    owners: Vec<Owner>,
    /// For each source, its own places, in ascending order.
    places: Vec<Vec<u64>>,
    /// The place of each slot.
    slots: Vec<u64>,
    /// For each source, the end of its cells on the tape.
    ends: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Owner {
    Source(usize),
    Slot(usize),
}

impl Quotas {
    /// Creates quotas. `units` must have a sum of `window * PARTS`.
    pub fn new(units: &[u64], window: u64, random: Random) -> Self {
        let own: Vec<u64> = units.iter().map(|units| units / PARTS).collect();
        let mut all = own.iter().enumerate().flat_map(|(i, &n)| std::iter::repeat_n(Owner::Source(i), n as usize));
        let mut all: Vec<Owner> = all.by_ref().collect();
        all.extend((0..(window as usize).saturating_sub(all.len())).map(Owner::Slot));
        let shuffle = Permutation::keyed(window, random);
        let owners: Vec<Owner> = (0..window).filter_map(|i| all.get(shuffle.get(i)? as usize).copied()).collect();
        let mut places = vec![Vec::new(); units.len()];
        let mut slots = vec![0; all.iter().filter(|owner| matches!(owner, Owner::Slot(_))).count()];
        for (place, owner) in (0..).zip(&owners) {
            match *owner {
                Owner::Source(i) => places[i].push(place),
                Owner::Slot(s) => slots[s] = place,
            }
        }
        let mut end = 0;
        let mut ends = Vec::with_capacity(units.len());
        for units in units {
            end += units % PARTS;
            ends.push(end);
        }
        Quotas { window, owners, places, slots, ends }
    }

    /// The source at a position, and the number of its positions before that.
    pub fn at(&self, position: u64) -> (usize, u64) {
        let (number, place) = (position / self.window, position % self.window);
        let source = match self.owners[place as usize] {
            Owner::Source(source) => source,
            Owner::Slot(slot) => {
                let tape = self.slots.len() as u64 * PARTS;
                let cell = (slot as u64 * PARTS + number % tape) % tape;
                self.ends.partition_point(|&end| end <= cell)
            }
        };
        (source, self.before(source, position))
    }

    /// The number of positions of a source before this one.
    pub fn before(&self, source: usize, position: u64) -> u64 {
        let (number, place) = (position / self.window, position % self.window);
        let own = &self.places[source];
        let whole = number * own.len() as u64 + self.extras(source, number);
        let slot = self.slot_of(source, number).filter(|&slot| self.slots[slot] < place);
        whole + own.partition_point(|&own| own < place) as u64 + u64::from(slot.is_some())
    }

    /// The cells of a source: the first, and the one after the last.
    fn cells(&self, source: usize) -> (u64, u64) {
        (source.checked_sub(1).map_or(0, |last| self.ends[last]), self.ends[source])
    }

    /// The number of slots of a source in the first `windows` windows.
    fn extras(&self, source: usize, windows: u64) -> u64 {
        let (begin, end) = self.cells(source);
        let (whole, rest) = (windows / PARTS, windows % PARTS);
        // In `rest` windows, each slot passes this many cells. Together, the slots pass the first `rest` of each
        // `PARTS` cells.
        let passed = |cells: u64| cells / PARTS * rest + (cells % PARTS).min(rest);
        whole * (end - begin) + passed(end) - passed(begin)
    }

    /// The slot of a source in a window.
    fn slot_of(&self, source: usize, number: u64) -> Option<usize> {
        let slots = self.slots.len() as u64;
        let (begin, end) = self.cells(source);
        let (round, at) = (number / PARTS, number % PARTS);
        // The slots are at cells `at`, `PARTS + at`, …. This looks for one of these among the source's cells.
        let stand = begin.saturating_sub(at).div_ceil(PARTS);
        (stand * PARTS + at < end).then(|| ((stand + slots - round % slots) % slots) as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 4] = ["a", "b", "c", "d"];

    fn mixed(window: u32, schedule: &[(u64, Vec<f64>)], lengths: &[u64], epoch: u64, seed: u64) -> Mixed {
        let named = |weights: &Vec<f64>| NAMES.into_iter().zip(weights.iter().copied()).collect::<Vec<_>>();
        let schedule: Vec<_> = schedule.iter().map(|(from, weights)| (*from, named(weights))).collect();
        let sources = lengths.iter().map(|&len| (len, SourceOrder::Shuffled)).collect();
        Mixed::new(Shares::new(window, &schedule).unwrap(), sources, epoch, seed).unwrap()
    }

    fn stream(mixed: &Mixed, n: u64) -> Vec<Draw> {
        (0..n).map(|i| mixed.draw(i).unwrap()).collect()
    }

    fn cases() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<u64>, Vec<u64>, u32, u64)> {
        (1usize..5, 1usize..4).prop_flat_map(|(k, stretches)| {
            (
                prop::collection::vec(prop::collection::vec(0.05..1.0f64, k), stretches),
                prop::collection::vec(1u64..200, stretches),
                prop::collection::vec(1u64..50, k),
                1u32..40,
                any::<u64>(),
            )
        })
    }

    fn schedule(weights: Vec<Vec<f64>>, lengths: &[u64]) -> Vec<(u64, Vec<f64>)> {
        let mut from = 0;
        let step = |(weights, length): (Vec<f64>, &u64)| {
            let one = (from, weights);
            from += length;
            one
        };
        weights.into_iter().zip(lengths).map(step).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// Walks through each source in rounds, over all changes of weights. The counts must be those of the
        /// stream.
        #[test]
        fn each_round_has_each_sample_of_a_source_once((weights, stretches, lengths, window, seed) in cases()) {
            let mixed = mixed(window, &schedule(weights, &stretches), &lengths, 100, seed);
            let starts: Vec<u64> = lengths.iter().scan(0, |end, len| { *end += len; Some(*end - len) }).collect();
            let mut seen: Vec<Vec<u64>> = vec![Vec::new(); lengths.len()];
            for (position, draw) in (0..).zip(stream(&mixed, 700)) {
                prop_assert_eq!(mixed.counts(position), seen.iter().map(|s| s.len() as u64).collect::<Vec<_>>());
                let (seen, len) = (&mut seen[draw.source], lengths[draw.source]);
                prop_assert_eq!(draw.round, seen.len() as u64 / len);
                seen.push(draw.sample - starts[draw.source]);
            }
            for (seen, &len) in seen.iter().zip(&lengths) {
                for round in seen.chunks(len as usize) {
                    let mut samples = round.to_vec();
                    samples.sort_unstable();
                    samples.dedup();
                    prop_assert!(samples.len() == round.len() && samples.iter().all(|&s| s < len));
                }
            }
        }

        #[test]
        fn weights_that_change_leave_what_is_before((weights, stretches, lengths, window, seed) in cases(), cut in 1u64..500) {
            let schedule = schedule(weights, &stretches);
            let mut other: Vec<_> = schedule.iter().filter(|(from, _)| *from < cut).cloned().collect();
            other.push((cut, (1..=lengths.len()).map(|i| i as f64).collect()));
            let (a, b) = (mixed(window, &schedule, &lengths, 100, seed), mixed(window, &other, &lengths, 7, seed));
            prop_assert_eq!(stream(&a, cut), stream(&b, cut));
            prop_assert_eq!(a.counts(cut), b.counts(cut));
            prop_assert_eq!(a.describe(cut), b.describe(cut));
        }

        /// A mix with other weights and one more source, resumed: the old sources go on, and the new one begins with its first.
        #[test]
        fn a_run_that_is_resumed_keeps_what_was((weights, stretches, lengths, window, seed) in cases(), cut in 1u64..500) {
            prop_assume!(lengths.len() < NAMES.len());
            let run = mixed(window, &schedule(weights, &stretches), &lengths, 100, seed);
            let more: Vec<u64> = lengths.iter().copied().chain([7]).collect();
            let weights: Vec<_> = NAMES.into_iter().zip((1..=more.len()).map(|i| i as f64)).collect();
            let later = Shares::new(window, &[(0, weights)]).unwrap();
            let before: Vec<_> = run.shares().before(cut).cloned().collect();
            let shares = later.resumed(&before, cut).unwrap();
            let sources = more.iter().map(|&len| (len, SourceOrder::Shuffled)).collect();
            let joined = Mixed::new(shares, sources, 100, seed).unwrap();
            prop_assert_eq!(stream(&joined, cut), stream(&run, cut));
            prop_assert_eq!(joined.counts(cut), [run.counts(cut), vec![0]].concat());
            // Resumed again, it is the same run.
            let again: Vec<_> = joined.shares().before(cut + 50).cloned().collect();
            prop_assert_eq!(&later.resumed(&again, cut + 50).unwrap(), joined.shares());
        }
    }

    #[test]
    fn a_mix_never_changes() {
        let mixed = mixed(10, &[(0, vec![0.55, 0.25, 0.2])], &[4, 3, 5], 20, 42);
        let found: Vec<u64> = stream(&mixed, 20).iter().map(|draw| draw.sample).collect();
        assert_eq!(
            found,
            [10, 1, 2, 6, 3, 0, 2, 8, 5, 3, 7, 0, 1, 4, 3, 2, 0, 9, 4, 1],
            "resumed and repeated runs depend on it"
        );
    }

    #[test]
    fn any_position_is_found_at_once() {
        let mixed =
            mixed(1000, &[(0, vec![0.7, 0.2, 0.1]), (1 << 40, vec![1.0, 1.0, 1.0])], &[240_000, 169_000, 7], 1, 3);
        for position in [0, 1_000_000_000, (1 << 40) - 1, 1 << 40, u64::MAX - 1, u64::MAX] {
            let draw = mixed.draw(position).unwrap();
            assert!(mixed.source_of(draw.sample).contains(&draw.sample));
            assert_eq!(mixed.counts(position).iter().map(|&n| u128::from(n)).sum::<u128>(), u128::from(position));
        }
        assert_eq!(mixed.counts(1_000_000_000), [700_000_000, 200_000_000, 100_000_000]);
        assert_eq!(mixed.in_epoch(u64::MAX, 0).map(|draw| draw.source), mixed.draw(u64::MAX).map(|draw| draw.source));
    }

    fn refused(schedule: &[(u64, Vec<(&str, f64)>)]) -> String {
        Shares::new(10, schedule).unwrap_err().to_string()
    }

    #[test]
    fn shares_that_make_no_sense_are_refused_by_name() {
        let good = || vec![("a", 0.7), ("b", 0.3)];
        for other in [f64::INFINITY, 1e-9] {
            let e = refused(&[(0, good()), (7, vec![("a", 1.0), ("b", other)])]);
            assert!(e.contains("weight") && e.contains("\"b\""), "{e}");
        }
        for steps in [[1, 2].as_slice(), &[0, 0], &[0, 9, 8]] {
            let schedule: Vec<_> = steps.iter().map(|&step| (step, good())).collect();
            assert!(refused(&schedule).contains("steps of the schedule"), "{steps:?}");
        }
        assert!(refused(&[]).contains("no sources"));
        for window in [0, MOST_WINDOW + 1] {
            assert!(Shares::new(window, &[(0, good())]).unwrap_err().to_string().contains("window"));
        }
    }

    #[test]
    fn weights_are_in_any_unit_and_in_any_order() {
        let shares = |w: Vec<(&str, f64)>| Shares::new(1000, &[(0, vec![("a", 0.7), ("b", 0.3)]), (1, w)]).unwrap();
        let same =
            [vec![("a", 7.0), ("b", 3.0)], vec![("b", 0.3e300), ("a", 0.7e300)], vec![("a", 7e-300), ("b", 3e-300)]];
        for weights in same {
            assert_eq!(shares(weights.clone()).stretches()[1].1, [700_000, 300_000], "{weights:?}");
        }
        assert_eq!(shares(vec![("a", f64::MAX), ("b", f64::MAX)]).stretches()[1].1, [500_000, 500_000]);
    }

    proptest! {
        #[test]
        fn units_are_less_than_one_off_and_sum_up(weights in prop::collection::vec(0.0..1.0f64, 1..20), window in 1u64..5000) {
            prop_assume!(weights.iter().any(|&w| w > 0.0));
            let units = units(&weights, window);
            prop_assert_eq!(units.iter().sum::<u64>(), window * PARTS);
            let sum: f64 = weights.iter().sum();
            for (unit, weight) in units.iter().zip(&weights) {
                prop_assert!((*unit as f64 - weight / sum * (window * PARTS) as f64).abs() < 1.0 + 1e-6);
            }
        }
    }

    fn quotas(weights: &[f64], window: u64, seed: u64) -> (Quotas, Vec<u64>) {
        let units = units(weights, window);
        (Quotas::new(&units, window, Random::new(seed, &[stream::MIX, 0])), units)
    }

    fn weights() -> impl Strategy<Value = Vec<f64>> {
        let some = |weights: &Vec<f64>| weights.iter().any(|&w| w > 0.0);
        prop::collection::vec(prop_oneof![3 => 0.01..1.0f64, 1 => Just(0.0), 1 => Just(0.5)], 1..8)
            .prop_filter("all are 0", some)
    }

    /// Walks from window to window as the rule describes, without a closed form.
    fn walked(quotas: &Quotas, windows: u64) -> Vec<usize> {
        let tape: Vec<usize> = (0..quotas.ends.len())
            .flat_map(|i| {
                let (begin, end) = quotas.cells(i);
                std::iter::repeat_n(i, (end - begin) as usize)
            })
            .collect();
        let mut heads: Vec<usize> = (0..quotas.slots.len()).map(|s| s * PARTS as usize).collect();
        let mut stream = Vec::new();
        for _ in 0..windows {
            stream.extend(quotas.owners.iter().map(|owner| match *owner {
                Owner::Source(i) => i,
                Owner::Slot(s) => tape[heads[s]],
            }));
            heads.iter_mut().for_each(|head| *head = (*head + 1) % tape.len());
        }
        stream
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Checks the closed form, and every window that slides over the stream, more than once around the tape.
        #[test]
        fn any_window_has_the_quotas_at_most_one_off(weights in weights(), window in 1u64..24, seed: u64) {
            let (quotas, units) = quotas(&weights, window, seed);
            let stream = walked(&quotas, (quotas.slots.len() as u64 + 1) * PARTS + 3);
            let (mut counts, mut in_window) = (vec![0; weights.len()], vec![0u64; weights.len()]);
            for (i, &source) in stream.iter().enumerate() {
                prop_assert_eq!(quotas.at(i as u64), (source, counts[source]), "position {}", i);
                counts[source] += 1;
                in_window[source] += 1;
                if let Some(gone) = i.checked_sub(window as usize) {
                    in_window[stream[gone]] -= 1;
                }
                if i + 1 >= window as usize {
                    for (count, units) in in_window.iter().zip(&units) {
                        prop_assert!((count * PARTS).abs_diff(*units) < PARTS, "{:?} of {:?} at {}", in_window, units, i);
                    }
                }
            }
        }
    }
}
