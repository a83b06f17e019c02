//! Several data sets from which a loader takes samples in given shares.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::options::{OwnOptions, ResolvedOptions, best_order};
use super::state::{LoaderState, MixState, SourceState};
use crate::dataset::edit::joined_classes;
use crate::dataset::{Clip, Dataset};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::sampler::order::{Mixed, Order, Shares, SourceOrder};

/// The number of blocks of a remote source whose samples are mixed. It is lower than for a single remote data set,
/// because the windows of several sources are in memory at a time and end at different times.
const WINDOW: u32 = 16;

/// The rules for drawing from a [`Mix`].
///
/// As JSON (serde): an object with these fields. Those that are not named have their defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MixOptions {
    /// The number of samples in an epoch. Default `None`: as many as all sources have.
    pub samples_per_epoch: Option<u64>,
    /// The number of samples in a window: 1 to 65,536, default 1000. Any run of this many samples has each source
    /// as often as its weight says, rounded down or up.
    ///
    /// If the number of samples of all ranks in a batch divides this number, each rank finds the same sources at
    /// the same places of the same batches, over and over. 1000 avoids that for most batch sizes.
    pub window: u32,
    /// Changes of the weights. Each has the sample from which it applies, and a weight for each source, by name.
    /// Samples are counted from 0 over all ranks and epochs. Default: none.
    pub schedule: Vec<(u64, Vec<(String, f64)>)>,
    /// Options of the loader that some sources have of their own, by name. Default: none.
    pub own: BTreeMap<String, OwnOptions>,
}

impl Default for MixOptions {
    fn default() -> Self {
        MixOptions { samples_per_epoch: None, window: 1000, schedule: Vec::new(), own: BTreeMap::new() }
    }
}

/// Several data sets with weights, for [`Loader::mix`](crate::loader::Loader::mix).
///
/// The sources may differ in classes, sizes and location. Each sample of a source comes once before any comes
/// again ([`Mixed`] has the rule). Clips are numbered through: those of the first source, then those of the
/// second, and so on.
///
/// ```
/// # use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let make = |name: &str, clips: u32, classes: [&str; 2]| -> vidrec::Result<std::path::PathBuf> {
/// #     let mut jpeg = Vec::new();
/// #     vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
/// #     let meta = vidrec::Meta { classes: classes.map(String::from).into(), ..vidrec::Meta::default() };
/// #     let mut writer = Writer::create(folder.path().join(name), WriterOptions { meta, ..WriterOptions::default() })?;
/// #     for i in 0..clips {
/// #         let clip = ClipInfo { label: Some(i % 2), ..ClipInfo::default() };
/// #         writer.append(&clip, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }])?;
/// #     }
/// #     writer.finish()?;
/// #     Ok(folder.path().join(name))
/// # };
/// # let (kinetics, ssv2) = (make("kinetics", 30, ["run", "sit"])?, make("ssv2", 8, ["push", "run"])?);
/// use vidrec::{Crop, Dataset, Loader, LoaderOptions, Mix, MixOptions};
///
/// let (kinetics, ssv2) = (Dataset::open(kinetics)?, Dataset::open(ssv2)?);
/// let options = MixOptions { samples_per_epoch: Some(20), window: 10, ..MixOptions::default() };
/// let mix = Mix::new([("kinetics", kinetics, 0.7), ("ssv2", ssv2, 0.3)], options)?;
/// assert_eq!(mix.classes(), ["run", "sit", "push"]);
///
/// let options = LoaderOptions { batch_size: 10, crop: Crop::center((16, 16)), ..LoaderOptions::default() };
/// let loader = Loader::mix(&mix, options)?;
/// let batch = loader.batch(0, 1)?;
/// assert_eq!(batch.source_ids.iter().filter(|&&source| source == 1).count(), 3);
/// assert_eq!(loader.sources(0, 1)[0].samples, 7);
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mix {
    shares: Shares,
    sets: Vec<Dataset>,
    all: Dataset,
    /// The number of the first clip of each source.
    starts: Vec<u64>,
    samples_per_epoch: Option<u64>,
    /// Class names by label; empty where there are none.
    classes: Vec<String>,
    /// The label by old label, of each source. Labels of a source without a list do not change.
    labels: Vec<Vec<u32>>,
    /// The options of each source of its own.
    pub(super) own: Vec<OwnOptions>,
}

impl Mix {
    /// Creates a mix of data sets, each with a name and a weight. Weights are in any unit. They hold from the
    /// first sample on, unless the schedule begins there.
    ///
    /// # Errors
    ///
    /// The errors of [`Shares::new`]; a source without clips; an epoch without samples; class names in some
    /// sources and plain integers in others; a class twice in one source; labels for a source or class that does
    /// not exist; or no label for a class that exists. Each error names the source.
    pub fn new<N: AsRef<str>>(
        sources: impl IntoIterator<Item = (N, Dataset, f64)>,
        options: MixOptions,
    ) -> Result<Self> {
        let MixOptions { samples_per_epoch, window, schedule, mut own } = options;
        let (mut weights, mut sets) = (Vec::new(), Vec::new());
        for (name, set, weight) in sources {
            if set.is_empty() {
                return Err(Error::usage(format!("mix: source \"{}\" has no clips", name.as_ref())));
            }
            weights.push((name.as_ref().to_owned(), weight));
            sets.push(set);
        }
        if samples_per_epoch == Some(0) {
            return Err(Error::usage("mix: samples_per_epoch is out of range").expected("1 or more").found(0));
        }
        let shares = shares(window, weights, schedule)?;
        let mut starts = Vec::new();
        sets.iter().fold(0, |start, set| {
            starts.push(start);
            start + set.len()
        });
        let (classes, labels) = joined_classes(&sets)?;
        let each_own = shares.names().iter().map(|name| own.remove(name).unwrap_or_default()).collect();
        if let Some((unknown, _)) = own.pop_first() {
            let e = Error::usage("mix: options of a source that does not exist").found(unknown);
            return Err(e.expected(format!("one of {}", shares.names().join(", "))));
        }
        let all = Dataset::concat_of_any_classes(&sets)?;
        Ok(Mix { shares, sets, all, starts, samples_per_epoch, classes, labels, own: each_own })
    }

    /// The names of the sources, in order.
    pub fn names(&self) -> &[String] {
        self.shares.names()
    }

    /// The data set of each source.
    pub fn sources(&self) -> &[Dataset] {
        &self.sets
    }

    /// The clips of all sources, one source after another. [`Batch::clips`](crate::loader::Batch::clips) counts these
    /// clips. They have the labels of their sources, and [`Dataset::classes`] is that of the first source.
    pub fn dataset(&self) -> &Dataset {
        &self.all
    }

    /// Class names by label. Empty if labels have no names. Classes are joined by name, as [`merge`](crate::dataset::edit::merge)
    /// joins them: those of the first source keep their labels, and new names get the next labels. If no source has class
    /// names, labels do not change.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The number of the source of a clip, and the clip's ordinal in it. `None` if there is no such clip.
    pub fn place(&self, clip: u64) -> Option<(usize, u64)> {
        let source = self.starts.partition_point(|&start| start <= clip).checked_sub(1)?;
        (clip < self.all.len()).then(|| (source, clip - self.starts[source]))
    }

    /// The number of the source of a clip, which has this ordinal in the mix, and its label; -1 for none.
    pub(super) fn source_and_label(&self, clip: &Clip<'_>, ordinal: u64) -> Result<(u32, i64)> {
        let (source, _) = self.place(ordinal).ok_or_else(|| Error::internal("a clip of no source"))?;
        let labels = &self.labels[source];
        let Some(label) = clip.label() else { return Ok((source as u32, -1)) };
        let new = if labels.is_empty() { Some(&label) } else { labels.get(label as usize) };
        let e = || Error::format("clip-class", format!("label {label} has no class name")).in_clip(ordinal);
        Ok((source as u32, new.copied().ok_or_else(|| self.named(e()))?.into()))
    }

    /// What a state says of the sources. `samples` has the number of samples of each. The sources of a run that is resumed keep
    /// their orders if no order is asked for, even if they have moved.
    ///
    /// # Errors
    ///
    /// The first sources are not those of the `resumed` run, or the window is not.
    pub(super) fn source_states(
        &self,
        samples: &[u64],
        order: &Order,
        resumed: Option<&MixState>,
    ) -> Result<Vec<SourceState>> {
        let kept = resumed.filter(|_| *order == Order::Sequential).map_or(&[][..], |state| &state.sources);
        let mut states = Vec::with_capacity(self.sets.len());
        for (at, set) in self.sets.iter().enumerate() {
            let order = kept.get(at).map_or_else(|| source_order(set, order), |kept| Ok(kept.order))?;
            let own = match self.own[at] == OwnOptions::default() {
                true => JsonObject::default(),
                false => JsonObject::of(&self.own[at])?,
            };
            let (name, dataset) = (self.names()[at].clone(), set.fingerprint());
            states.push(SourceState { name, samples: samples[at], order, own, dataset });
        }
        resumed.map_or(Ok(()), |state| state.check(self.shares.window(), &states, &self.sets))?;
        Ok(states)
    }

    /// The order of samples of these sources. In a run that is `resumed`, the shares up to its place are those of its state, and
    /// so is the length of an epoch if the mix does not say it. Returns also a warning if the shares then change, although the
    /// schedule does not say so.
    pub(super) fn order(
        &self,
        sources: &[SourceState],
        options: &ResolvedOptions,
        resumed: Option<&LoaderState>,
    ) -> Result<(Mixed, Option<String>)> {
        let all = sources.iter().fold(0u64, |sum, source| sum.saturating_add(source.samples));
        let before = resumed.map(|state| state.samples);
        let samples_per_epoch = self.samples_per_epoch.or(before).unwrap_or(all).max(1);
        let (mut shares, mut change) = (self.shares.clone(), None);
        if let Some((state, mix)) = resumed.and_then(|state| Some((state, state.mix.as_ref()?))) {
            let sample = shares_end(samples_per_epoch, (state.epoch, state.consumed), options.divides());
            shares = shares.resumed(&mix.shares, sample)?;
            change = self.change(&shares, sample);
        }
        let sources = sources.iter().map(|source| (source.samples, source.order)).collect();
        Ok((Mixed::new(shares, sources, samples_per_epoch, options.seed)?, change))
    }

    fn change(&self, shares: &Shares, sample: u64) -> Option<String> {
        let (_, units) = shares.before(sample.saturating_add(1)).last()?;
        let all = units.iter().sum::<u64>() as f64;
        let share = |(name, units): (&String, &u64)| format!("{name} {:.3}", *units as f64 / all);
        let shares_now: Vec<String> = self.names().iter().zip(units).map(share).collect();
        let is_new = shares.change_at(sample) && !self.shares.change_at(sample);
        is_new
            .then(|| format!("the mix has other shares than before from sample {sample} on: {}", shares_now.join(", ")))
    }

    /// The number of samples of each source, with its name and the length of a round.
    pub(super) fn named_counts(&self, order: &Mixed, counts: Vec<u64>) -> Vec<SourceCount> {
        let names = self.names().iter().cloned();
        let counts = names.zip(counts).zip(order.rounds());
        counts.map(|((name, samples), round)| SourceCount { name, samples, samples_per_round: round }).collect()
    }

    /// Adds the clip and its source to an error, if the error is about a clip.
    pub(super) fn named(&self, e: Error) -> Error {
        match e.clip().and_then(|clip| self.place(clip)) {
            Some((source, clip)) => e.also_help(format!("it is clip {clip} of source \"{}\"", self.names()[source])),
            None => e,
        }
    }
}

/// The sample up to which shares are decided at a place of an epoch, counted over all epochs. If clips are divided into buckets,
/// that is the end of an epoch in progress, because its first batches may have its last samples.
pub(super) fn shares_end(samples_per_epoch: u64, (epoch, consumed): (u64, u64), divides: bool) -> u64 {
    let consumed = if divides && consumed > 0 { samples_per_epoch } else { consumed };
    epoch.saturating_mul(samples_per_epoch).saturating_add(consumed)
}

fn shares(window: u32, weights: Vec<(String, f64)>, mut schedule: Vec<(u64, Vec<(String, f64)>)>) -> Result<Shares> {
    let first = [(0, weights)];
    let names = Shares::new(window, &first)?.names().to_vec();
    if schedule.first().is_none_or(|(from, _)| *from > 0) {
        schedule.splice(0..0, first);
    }
    Shares::of(names, window, &schedule)
}

/// The order of a source for the requested order.
fn source_order(set: &Dataset, order: &Order) -> Result<SourceOrder> {
    match *order {
        Order::Sequential => Ok(match best_order(set) {
            Order::Blocks { block, .. } | Order::Homes { block, .. } => SourceOrder::Blocks { block, window: WINDOW },
            _ => SourceOrder::Shuffled,
        }),
        Order::Shuffled => Ok(SourceOrder::Shuffled),
        Order::Blocks { block, window } => Ok(SourceOrder::Blocks { block, window }),
        _ => {
            let e = Error::usage("loader option order: a mix has an order of its own");
            Err(e.expected("sequential, shuffled or blocks").found(order).hint(Hint::Unset("order")))
        }
    }
}

/// The use of one source of a mix up to a place in the run: see [`Loader::sources`](crate::loader::Loader::sources).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SourceCount {
    /// The name of the source.
    pub name: String,
    /// The number of its samples that all ranks together have used.
    pub samples: u64,
    /// The number of samples in one round through the source.
    pub samples_per_round: u64,
}

impl SourceCount {
    /// The average number of uses of its samples: its epochs, with a fraction.
    pub fn rounds(&self) -> f64 {
        self.samples as f64 / self.samples_per_round.max(1) as f64
    }
}
