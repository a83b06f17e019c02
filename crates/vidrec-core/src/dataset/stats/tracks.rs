//! Statistics of the numbers of tracks, for normalization.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::threads::in_order;
use crate::{stop, threads};
use vidrec_format::track::payload::TrackNumber;
use vidrec_format::track::schema::{TrackSchema, TrackType};
use vidrec_format::{Error, Result};

/// The most numbers of a value whose statistics are computed together.
const GROUP: usize = 32;
/// The number of clips that are summed one after another. Their sums are joined in order, whatever the number of threads.
const CLIPS: u64 = 64;
/// The most numbers at one place of a value from which quantiles are taken, for each data set.
const SAMPLE: u64 = 1 << 18;
/// The quantiles, in percent.
const PERCENT: [u8; 5] = [1, 10, 50, 90, 99];

/// Statistics of the numbers of a track, one for each number of a value, in row-major order.
///
/// Infinite numbers and those that are not a number are counted and left out. Clips without the track are counted, too.
/// If a place has no other numbers, its statistics are 0. They are the same for any number of threads. Sums are
/// compensated and in the order of the clips. Quantiles are stored numbers: of all values, or of 262,144 that are spread
/// evenly over a data set that has more.
///
/// ```
/// # use vidrec::TrackStats;
/// let stats = TrackStats { mean: vec![0.5], std: vec![0.1], ..TrackStats::default() };
/// assert_eq!(stats.mean.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrackStats {
    /// The shape of a value; empty if a value is one number.
    pub shape: Vec<u32>,
    /// The number of clips that have the track.
    pub clips: u64,
    /// The number of clips that do not have it.
    pub clips_without: u64,
    /// The number of finite numbers.
    pub count: Vec<u64>,
    /// The number of numbers that are infinite or not a number.
    pub not_finite: Vec<u64>,
    /// The mean.
    pub mean: Vec<f64>,
    /// The standard deviation of all numbers (not of a sample of them).
    pub std: Vec<f64>,
    /// The smallest number.
    pub min: Vec<f64>,
    /// The largest number.
    pub max: Vec<f64>,
    /// The 1st percentile: the smallest number that at least 1 % of the numbers do not exceed.
    pub q01: Vec<f64>,
    /// The 10th percentile.
    pub q10: Vec<f64>,
    /// The median.
    pub q50: Vec<f64>,
    /// The 90th percentile.
    pub q90: Vec<f64>,
    /// The 99th percentile.
    pub q99: Vec<f64>,
}

/// Computes statistics of tracks of a data set, by name. Without names, of all tracks of numbers but pictures. Reads these
/// tracks of all clips twice, with all cores.
///
/// # Errors
///
/// A name of no track, or of a track of texts or pictures; a track that differs between clips; or
/// [`Format`](vidrec_format::error::ErrorKind::Format) if a track is damaged.
///
/// ```no_run
/// let stats = vidrec::track_stats(&vidrec::Dataset::open("train")?, Some(&["action"]))?;
/// println!("{:?} plus or minus {:?}", stats["action"].mean, stats["action"].std);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn track_stats(dataset: &Dataset, names: Option<&[&str]>) -> Result<BTreeMap<String, TrackStats>> {
    track_stats_of(&[(dataset, 1)], names)
}

/// Computes statistics of tracks of data sets from which a number is drawn in these shares. All numbers of a data set
/// are drawn equally often. Data sets without numbers at a place have no share in it.
#[doc(hidden)]
pub fn track_stats_of(sources: &[(&Dataset, u64)], names: Option<&[&str]>) -> Result<BTreeMap<String, TrackStats>> {
    let sources: Vec<(&Dataset, u64)> = sources.iter().copied().filter(|(_, share)| *share > 0).collect();
    let mut known: BTreeMap<String, TrackSchema> = BTreeMap::new();
    for (dataset, _) in &sources {
        for schema in dataset.tracks()? {
            let first = known.entry(schema.name.clone()).or_insert_with(|| schema.clone());
            if (first.kind, &first.shape) != (schema.kind, &schema.shape) {
                let e = Error::usage("the track differs between the sources of the mix").in_track(&schema.name);
                return Err(e.expected(first.words()).found(schema.words()));
            }
        }
    }
    let has_numbers = |schema: &&TrackSchema| schema.kind != TrackType::Utf8 && !schema.is_picture();
    let chosen: Vec<&TrackSchema> = match names {
        None => known.values().filter(has_numbers).collect(),
        Some(names) => names.iter().map(|name| find(&known, name)).collect::<Result<_>>()?,
    };
    chosen.into_iter().map(|schema| Ok((schema.name.clone(), stats_of_schema(&sources, schema)?))).collect()
}

fn find<'a>(known: &'a BTreeMap<String, TrackSchema>, name: &str) -> Result<&'a TrackSchema> {
    let Some(schema) = known.get(name) else {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        return Err(
            Error::usage(format!("there is no track {name:?}")).expected(format!("one of {}", names.join(", ")))
        );
    };
    let has = match schema.kind {
        _ if schema.is_picture() => "pictures",
        TrackType::Utf8 => "texts",
        _ => return Ok(schema),
    };
    Err(Error::usage(format!("the track {name:?} has {has}, which have no statistics")).found(schema.words()))
}

fn stats_of_schema(sources: &[(&Dataset, u64)], schema: &TrackSchema) -> Result<TrackStats> {
    match schema.kind {
        TrackType::F32 => stats_of_type::<f32>(sources, schema),
        TrackType::F64 => stats_of_type::<f64>(sources, schema),
        TrackType::I16 => stats_of_type::<i16>(sources, schema),
        TrackType::I32 => stats_of_type::<i32>(sources, schema),
        TrackType::I64 => stats_of_type::<i64>(sources, schema),
        TrackType::U8 | TrackType::Bool => stats_of_type::<u8>(sources, schema),
        TrackType::U16 => stats_of_type::<u16>(sources, schema),
        TrackType::Utf8 => Err(Error::internal("statistics of texts")),
    }
}

fn stats_of_type<T: Number>(sources: &[(&Dataset, u64)], schema: &TrackSchema) -> Result<TrackStats> {
    let each = schema.numbers_per_value();
    let mut stats = TrackStats { shape: schema.shape.clone(), ..TrackStats::default() };
    for start in (0..each).step_by(GROUP) {
        let pass = Pass { schema, places: start..each.min(start + GROUP) };
        let mut totals = Vec::new();
        (stats.clips, stats.clips_without) = (0, 0);
        for (dataset, share) in sources {
            let (places, with, without) = pass.run::<T>(dataset, |place, _, _, n| place.add(n))?;
            (stats.clips, stats.clips_without) = (stats.clips + with, stats.clips_without + without);
            totals.push((*share, places));
        }
        let means: Vec<f64> = (0..pass.places.len()).map(|place| mean(&totals, place, |place| place.sum)).collect();
        for ((dataset, _), (_, places)) in sources.iter().zip(&mut totals) {
            let values = places.iter().map(|place| place.count + place.not_finite).max().unwrap_or(0);
            let step = values.div_ceil(SAMPLE).max(1);
            let add = |place: &mut Place, i: usize, value: u64, n: f64| {
                place.add_distance(n, means[i], value.is_multiple_of(step));
            };
            let (more, ..) = pass.run::<T>(dataset, add)?;
            places.iter_mut().zip(more).for_each(|(place, more)| place.join(more));
        }
        for (place, mean_of_all) in means.into_iter().enumerate() {
            let std = mean(&totals, place, |place| place.squares).sqrt();
            stats.push(&totals, place, mean_of_all, std);
        }
    }
    Ok(stats)
}

/// The places of a data set, with its share in all numbers.
type Totals = [(u64, Vec<Place>)];

impl TrackStats {
    /// Adds the statistics of a place.
    fn push(&mut self, totals: &Totals, place: usize, mean: f64, std: f64) {
        let mut all = Place::EMPTY;
        totals.iter().for_each(|(_, places)| all.join(Place { sample: Vec::new(), ..places[place].clone() }));
        let known = |n: f64| if all.count > 0 { n } else { 0.0 };
        self.count.push(all.count);
        self.not_finite.push(all.not_finite);
        self.mean.push(mean);
        self.std.push(std);
        self.min.push(known(all.min));
        self.max.push(known(all.max));
        let lists = [&mut self.q01, &mut self.q10, &mut self.q50, &mut self.q90, &mut self.q99];
        lists.into_iter().zip(quantiles(totals, place)).for_each(|(list, quantile)| list.push(known(quantile)));
    }
}

/// The share of each source in the numbers of a place.
fn shares(totals: &Totals, place: usize) -> Vec<f64> {
    let has_numbers = |places: &[Place]| places[place].count > 0;
    let all: u64 = totals.iter().filter(|(_, places)| has_numbers(places)).map(|(share, _)| share).sum();
    totals.iter().map(|(share, places)| if has_numbers(places) { *share as f64 / all as f64 } else { 0.0 }).collect()
}

/// The mean of a sum at a place over the numbers of all sources; 0 where there are none.
fn mean(totals: &Totals, place: usize, sum: impl Fn(&Place) -> Sum) -> f64 {
    let mut all = Sum::ZERO;
    for ((_, places), share) in totals.iter().zip(shares(totals, place)) {
        let place = &places[place];
        all.add(if place.count > 0 { share * (sum(place).total() / place.count as f64) } else { 0.0 });
    }
    all.total()
}

/// The quantiles of the numbers of all sources at a place.
fn quantiles(totals: &Totals, place: usize) -> [f64; 5] {
    let samples: Vec<&[f64]> = totals.iter().map(|(_, places)| &*places[place].sample).collect();
    let shares = shares(totals, place);
    let mut numbers: Vec<(f64, usize)> =
        (0..).zip(&samples).flat_map(|(source, sample)| sample.iter().map(move |&n| (n, source))).collect();
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut found, mut next) = (vec![0u64; samples.len()], [0.0; 5], 0);
    for (n, source) in numbers {
        below[source] += 1;
        found[next..].fill(n);
        let parts = below.iter().zip(&samples).zip(&shares);
        let part: f64 = parts.map(|((&n, sample), share)| share * (n as f64 / sample.len().max(1) as f64)).sum();
        while next < PERCENT.len() && part >= f64::from(PERCENT[next]) / 100.0 {
            next += 1;
        }
    }
    found
}

/// Some places of the values of a track, in all clips.
struct Pass<'a> {
    schema: &'a TrackSchema,
    places: Range<usize>,
}

impl Pass<'_> {
    /// Calls `add` with the place, its position among the places, the number of the value, and each number. Returns the
    /// places, and the numbers of clips that have the track and that do not.
    fn run<T: Number>(
        &self,
        dataset: &Dataset,
        add: impl Fn(&mut Place, usize, u64, f64) + Sync,
    ) -> Result<(Vec<Place>, u64, u64)> {
        let part = |part: usize| {
            let (mut places, start) = (vec![Place::EMPTY; self.places.len()], part as u64 * CLIPS);
            let (clips, mut with, mut value) = (start..dataset.len().min(start + CLIPS), 0, part as u64);
            for clip in clips.clone() {
                stop::check()?;
                let Some(track) = dataset.clip(clip)?.track(&self.schema.name)? else { continue };
                let numbers = track.numbers::<T>();
                let numbers = numbers.ok_or_else(|| Error::internal("a track of another type than its schema"))?;
                for numbers in numbers.chunks_exact(self.schema.numbers_per_value()) {
                    let numbers = numbers[self.places.clone()].iter().zip(&mut places).enumerate();
                    numbers.for_each(|(i, (n, place))| add(place, i, value, n.to_f64()));
                    value += 1;
                }
                track.prove_still_there()?;
                with += 1;
            }
            Ok((places, with, clips.end - clips.start - with))
        };
        let (mut all, mut with, mut without) = (vec![Place::EMPTY; self.places.len()], 0, 0);
        let parts = usize::try_from(dataset.len().div_ceil(CLIPS)).unwrap_or(usize::MAX);
        for (places, some, others) in in_order(parts, threads::cores(), part)? {
            all.iter_mut().zip(places).for_each(|(all, place)| all.join(place));
            (with, without) = (with + some, without + others);
        }
        Ok((all, with, without))
    }
}

/// The numbers of one data set at one place of a value.
#[derive(Debug, Clone)]
struct Place {
    count: u64,
    not_finite: u64,
    min: f64,
    max: f64,
    sum: Sum,
    /// The squares of the distances to the mean.
    squares: Sum,
    sample: Vec<f64>,
}

impl Place {
    const EMPTY: Place = Place {
        count: 0,
        not_finite: 0,
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        sum: Sum::ZERO,
        squares: Sum::ZERO,
        sample: Vec::new(),
    };

    fn add(&mut self, n: f64) {
        if !n.is_finite() {
            self.not_finite += 1;
            return;
        }
        self.count += 1;
        (self.min, self.max) = (self.min.min(n), self.max.max(n));
        self.sum.add(n);
    }

    fn add_distance(&mut self, n: f64, mean: f64, is_sampled: bool) {
        if n.is_finite() {
            self.squares.add((n - mean) * (n - mean));
            // Adding 0 turns the negative zero into the positive one.
            self.sample.extend(is_sampled.then_some(n + 0.0));
        }
    }

    fn join(&mut self, other: Place) {
        self.count += other.count;
        self.not_finite += other.not_finite;
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
        self.sum.join(other.sum);
        self.squares.join(other.squares);
        self.sample.extend(other.sample);
    }
}

/// A sum of floats with the error of its rounding (Neumaier, ZAMM 54, 1974).
#[derive(Debug, Clone, Copy)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    const ZERO: Sum = Sum { sum: 0.0, lost: 0.0 };

    fn add(&mut self, n: f64) {
        let sum = self.sum + n;
        self.lost += if self.sum.abs() >= n.abs() { (self.sum - sum) + n } else { (n - sum) + self.sum };
        self.sum = sum;
    }

    fn join(&mut self, other: Sum) {
        self.add(other.sum);
        self.lost += other.lost;
    }

    fn total(self) -> f64 {
        self.sum + self.lost
    }
}

/// A number of a track that is converted to a float: to the nearest if it is a whole number of more than 53 bits.
trait Number: TrackNumber + Sync {
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($($number:ty),+) => {
        $(impl Number for $number {
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, reason = "one macro for all types")]
            fn to_f64(self) -> f64 {
                self as f64
            }
        })+
    };
}

numbers!(f32, f64, i16, i32, i64, u8, u16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_beside_large_ones_are_not_lost() {
        let sum = |numbers: &[f64]| {
            let mut sum = Sum::ZERO;
            numbers.iter().for_each(|&n| sum.add(n));
            sum
        };
        assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100]).total(), 2.0);
        let mut joined = sum(&[1e16, 1.0]);
        joined.join(sum(&[-1e16, 1.0]));
        assert_eq!(joined.total(), 2.0);
    }
}
