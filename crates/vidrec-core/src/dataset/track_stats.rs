//! Statistics of the numbers of tracks and of the levels of pictures, for normalization.

use std::collections::BTreeMap;
use std::ops::Range;

use half::f16;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use vidrec_jpeg::Decoder;

use crate::dataset::{Dataset, TrackView};
use crate::stop;
use crate::threads::{cores, in_order};
use vidrec_format::sampler::uniform;
use vidrec_format::track::payload::TrackNumber;
use vidrec_format::track::schema::{TrackSchema, TrackType};
use vidrec_format::{Error, Result};

/// The most numbers of a value whose statistics are computed together.
const GROUP: usize = 32;
/// The number of clips that are read one after another. Their statistics are joined in order, whatever the number of threads.
const CLIPS: u64 = 64;
/// The most numbers at one place of a value from which quantiles are taken.
const SAMPLE: u64 = 1 << 18;

/// Statistics of the numbers of a track, one for each number of a value, or of an item of lists, in row-major order.
///
/// Infinite numbers and those that are not a number are counted and left out. Clips without the track are counted, too.
/// If a place has no other numbers, its statistics are 0. They are the same for any number of threads. Quantiles are
/// stored numbers: of all values, or of 262,144 that are spread
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
/// A name of no track, or of a track of texts or pictures; or
/// [`Format`](vidrec_format::error::ErrorKind::Format) if a track is damaged.
///
/// ```no_run
/// let stats = vidrec::track_stats(&vidrec::Dataset::open("train")?, Some(&["action"]))?;
/// println!("{:?} plus or minus {:?}", stats["action"].mean, stats["action"].std);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn track_stats(dataset: &Dataset, names: Option<&[&str]>) -> Result<BTreeMap<String, TrackStats>> {
    let known = dataset.tracks()?;
    let has_numbers = |schema: &&TrackSchema| schema.kind != TrackType::Utf8 && !schema.is_picture();
    let chosen: Vec<&TrackSchema> = match names {
        None => known.iter().filter(has_numbers).collect(),
        Some(names) => names.iter().map(|name| find(&known, name)).collect::<Result<_>>()?,
    };
    chosen.into_iter().map(|schema| Ok((schema.name.clone(), stats_of_schema(dataset, schema)?))).collect()
}

fn find<'a>(known: &'a [TrackSchema], name: &str) -> Result<&'a TrackSchema> {
    let Some(schema) = known.iter().find(|schema| schema.name == name) else {
        let names: Vec<&str> = known.iter().map(|schema| schema.name.as_str()).collect();
        let e = Error::usage(format!("there is no track {name:?}"));
        return Err(e.expected(format!("one of {}", names.join(", "))));
    };
    let has = match schema.kind {
        _ if schema.is_picture() => "pictures",
        TrackType::Utf8 => "texts",
        _ => return Ok(schema),
    };
    Err(Error::usage(format!("the track {name:?} has {has}, which have no statistics")).found(schema.words()))
}

fn stats_of_schema(dataset: &Dataset, schema: &TrackSchema) -> Result<TrackStats> {
    match schema.kind {
        TrackType::F16 => stats_of_type::<f16>(dataset, schema),
        TrackType::F32 => stats_of_type::<f32>(dataset, schema),
        TrackType::F64 => stats_of_type::<f64>(dataset, schema),
        TrackType::I16 => stats_of_type::<i16>(dataset, schema),
        TrackType::I32 => stats_of_type::<i32>(dataset, schema),
        TrackType::I64 => stats_of_type::<i64>(dataset, schema),
        TrackType::U8 | TrackType::Bool => stats_of_type::<u8>(dataset, schema),
        TrackType::U16 => stats_of_type::<u16>(dataset, schema),
        TrackType::Utf8 => Err(Error::internal("statistics of texts")),
    }
}

fn stats_of_type<T: TrackNumber>(dataset: &Dataset, schema: &TrackSchema) -> Result<TrackStats> {
    let lengths = in_parts(dataset, |clips| {
        let track = |clip: u64| dataset.clip(clip)?.tracks()?.unproven(&schema.name);
        clips.filter_map(|clip| track(clip).transpose()).map(|track| count(&track?)).collect::<Result<Vec<_>>>()
    })?
    .concat();
    let (clips, values) = (lengths.len() as u64, lengths.iter().sum::<u64>());
    let shape = schema.shape.clone();
    let mut stats = TrackStats { shape, clips, clips_without: dataset.len() - clips, ..TrackStats::default() };
    let (each, step) = (schema.numbers_per_value(), values.div_ceil(SAMPLE).max(1));
    for start in (0..each).step_by(GROUP) {
        let group = start..each.min(start + GROUP);
        let found = in_parts(dataset, |clips| {
            let (mut places, mut value) = (vec![Place::default(); group.len()], clips.start / CLIPS);
            for clip in clips {
                let Some(track) = dataset.clip(clip)?.track(&schema.name)? else { continue };
                let numbers = track.numbers::<T>();
                let numbers = numbers.ok_or_else(|| Error::internal("a track of another type than its schema"))?;
                for numbers in numbers.chunks_exact(each) {
                    let is_sampled = value.is_multiple_of(step);
                    let numbers = numbers[group.clone()].iter().zip(&mut places);
                    numbers.for_each(|(n, place)| place.add(n.to_f64(), 1, is_sampled));
                    value += 1;
                }
                track.prove_still_there()?;
            }
            Ok(places)
        })?;
        let mut all = vec![Place::default(); group.len()];
        found.into_iter().for_each(|part| all.iter_mut().zip(part).for_each(|(all, place)| all.join(place)));
        all.into_iter().for_each(|place| stats.push(place));
    }
    Ok(stats)
}

/// The number of values of a track, or of the items of its lists.
fn count(track: &TrackView<'_>) -> Result<u64> {
    if !track.schema().list {
        return Ok(track.len() as u64);
    }
    track.prove()?;
    Ok(track.len().checked_sub(1).and_then(|last| track.items(last)).map_or(0, |items| items.end as u64))
}

/// Calls `work` with ranges of clips, on all cores, and returns its results in the order of the clips.
fn in_parts<T: Send>(dataset: &Dataset, work: impl Fn(Range<u64>) -> Result<T> + Sync) -> Result<Vec<T>> {
    let parts = usize::try_from(dataset.len().div_ceil(CLIPS)).unwrap_or(usize::MAX);
    in_order(parts, cores(), |part| {
        stop::check()?;
        let start = part as u64 * CLIPS;
        work(start..dataset.len().min(start + CLIPS))
    })
}

/// Computes statistics of the levels of red, green and blue, as fractions of full: one for each of these three, of all pixels
/// of at most `frames` frames of each clip, which are spread evenly over it. They are the same for any number of threads.
///
/// ```no_run
/// let stats = vidrec::picture_stats(&vidrec::Dataset::open("train")?, 4)?;
/// println!("{:?} plus or minus {:?}", stats.mean, stats.std);
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// A frame is damaged, or a file cannot be read.
pub fn picture_stats(dataset: &Dataset, frames: u32) -> Result<TrackStats> {
    let all = Mutex::new([[0; 256]; 3]);
    in_parts(dataset, |clips| {
        let (mut counts, mut decoder) = ([[0u64; 256]; 3], Decoder::new()?);
        for clip in clips {
            let clip = dataset.clip(clip)?;
            for t in uniform(clip.frame_count(), frames.min(clip.frame_count())) {
                let frame = clip.frame(t)?;
                frame.check()?;
                let picture = decoder.decode_picture(frame.jpeg()).map_err(|e| frame.place(e))?;
                for pixel in picture.pixels.as_chunks::<3>().0 {
                    counts.iter_mut().zip(pixel).for_each(|(channel, &level)| channel[usize::from(level)] += 1);
                }
            }
        }
        all.lock().iter_mut().flatten().zip(counts.iter().flatten()).for_each(|(all, count)| *all += count);
        Ok(())
    })?;
    let mut stats = TrackStats { shape: vec![3], clips: dataset.len(), ..TrackStats::default() };
    for counts in all.into_inner() {
        let mut place = Place::default();
        (0u32..).zip(counts).for_each(|(level, count)| place.add(f64::from(level) / 255.0, count, true));
        stats.push(place);
    }
    Ok(stats)
}

impl TrackStats {
    /// Adds the statistics of a place.
    fn push(&mut self, mut place: Place) {
        place.sample.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (min, max) = place.ends.unwrap_or_default();
        self.count.push(place.count);
        self.not_finite.push(place.not_finite);
        self.mean.push(place.mean);
        self.std.push((place.squares / place.count.max(1) as f64).sqrt());
        self.min.push(min);
        self.max.push(max);
        self.q01.push(place.quantile(1));
        self.q10.push(place.quantile(10));
        self.q50.push(place.quantile(50));
        self.q90.push(place.quantile(90));
        self.q99.push(place.quantile(99));
    }
}

/// The numbers at one place of a value.
#[derive(Debug, Clone, Default)]
struct Place {
    count: u64,
    not_finite: u64,
    /// The smallest and the largest number.
    ends: Option<(f64, f64)>,
    mean: f64,
    /// The sum of the squares of the distances to the mean.
    squares: f64,
    /// Numbers, and how often each occurs.
    sample: Vec<(f64, u64)>,
}

impl Place {
    fn widen(&mut self, (min, max): (f64, f64)) {
        self.ends = Some(self.ends.map_or((min, max), |ends| (ends.0.min(min), ends.1.max(max))));
    }

    /// Adds a number that occurs `times` times (Welford, Technometrics 4, 1962).
    fn add(&mut self, n: f64, times: u64, is_sampled: bool) {
        if times == 0 {
            return;
        }
        if !n.is_finite() {
            self.not_finite += times;
            return;
        }
        self.count += times;
        self.widen((n, n));
        let distance = n - self.mean;
        self.mean += distance * (times as f64 / self.count as f64);
        self.squares += times as f64 * distance * (n - self.mean);
        // Adding 0 turns the negative zero into the positive one.
        self.sample.extend(is_sampled.then_some((n + 0.0, times)));
    }

    /// Adds the numbers of another place (Chan, Golub and LeVeque, COMPSTAT 1982).
    fn join(&mut self, other: Place) {
        let count = self.count + other.count;
        let (distance, part) = (other.mean - self.mean, other.count as f64 / count.max(1) as f64);
        self.mean += distance * part;
        self.squares += other.squares + distance * distance * self.count as f64 * part;
        self.count = count;
        self.not_finite += other.not_finite;
        other.ends.into_iter().for_each(|ends| self.widen(ends));
        self.sample.extend(other.sample);
    }

    /// The smallest number of the sorted sample that at least this many percent do not exceed.
    fn quantile(&self, percent: u64) -> f64 {
        let (all, mut below) = (self.sample.iter().map(|(_, times)| times).sum::<u64>(), 0);
        let mut reaches = |times: u64| {
            below += times;
            below * 100 >= all * percent
        };
        self.sample.iter().find(|(_, times)| reaches(*times)).map_or(0.0, |(n, _)| *n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_distances_between_large_numbers_are_not_lost() {
        let place = |numbers: &[f64]| {
            let mut place = Place::default();
            numbers.iter().for_each(|&n| place.add(n, 1, true));
            place
        };
        let mut joined = place(&[1e15, 1e15 + 2.0]);
        joined.join(place(&[1e15, 1e15 + 2.0, f64::NAN]));
        let mut stats = TrackStats::default();
        stats.push(joined);
        assert_eq!((stats.mean[0], stats.std[0], stats.not_finite[0]), (1e15 + 1.0, 1.0, 1));
        assert_eq!((stats.q01[0], stats.q50[0], stats.q90[0]), (1e15, 1e15, 1e15 + 2.0));
        stats.push(place(&[]));
        assert_eq!((stats.mean[1], stats.std[1], stats.min[1], stats.q50[1]), (0.0, 0.0, 0.0, 0.0));
    }
}
