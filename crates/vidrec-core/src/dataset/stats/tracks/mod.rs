//! Statistics of the numbers of tracks, for normalization.

mod number;
mod quantiles;
mod scan;
mod sum;
mod totals;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use number::Number;
use quantiles::Quantiles;
use scan::Scan;
use totals::Totals;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::{TrackSchema, TrackType};

/// The most numbers of a value whose statistics are made at a time.
const GROUP: usize = 64;

/// Statistics of the numbers of a track, one for each number of a value, in row-major order.
///
/// Infinite numbers and those that are not a number are counted and left out. Clips without the track are counted, too.
/// If a place has no other numbers, its statistics are 0. Numbers are exact for any number of threads: sums are
/// compensated and in the order of the clips, and quantiles are stored numbers.
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
/// tracks of all clips, a few times, with all cores.
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
    let of_numbers = |schema: &&TrackSchema| schema.kind != TrackType::Utf8 && !schema.is_picture();
    let wanted: Vec<&TrackSchema> = match names {
        None => known.values().filter(of_numbers).collect(),
        Some(names) => names.iter().map(|name| find(&known, name)).collect::<Result<_>>()?,
    };
    wanted.into_iter().map(|schema| Ok((schema.name.clone(), of_kind(&sources, schema)?))).collect()
}

fn find<'a>(known: &'a BTreeMap<String, TrackSchema>, name: &str) -> Result<&'a TrackSchema> {
    match known.get(name) {
        Some(schema) if schema.is_picture() => {
            Err(Error::usage(format!("the track {name:?} has pictures, which have no statistics"))
                .found(schema.words()))
        }
        Some(schema) if schema.kind != TrackType::Utf8 => Ok(schema),
        Some(_) => Err(Error::usage(format!("the track {name:?} has texts, which have no statistics"))),
        None => {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            Err(Error::usage(format!("there is no track {name:?}")).expected(format!("one of {}", names.join(", "))))
        }
    }
}

fn of_kind(sources: &[(&Dataset, u64)], schema: &TrackSchema) -> Result<TrackStats> {
    match schema.kind {
        TrackType::F32 => of::<f32>(sources, schema),
        TrackType::F64 => of::<f64>(sources, schema),
        TrackType::I16 => of::<i16>(sources, schema),
        TrackType::I32 => of::<i32>(sources, schema),
        TrackType::I64 => of::<i64>(sources, schema),
        TrackType::U8 | TrackType::Bool => of::<u8>(sources, schema),
        TrackType::U16 => of::<u16>(sources, schema),
        TrackType::Utf8 => Err(Error::internal("statistics of texts")),
    }
}

fn of<T: Number>(sources: &[(&Dataset, u64)], schema: &TrackSchema) -> Result<TrackStats> {
    let each = schema.numbers_per_value();
    let mut stats = TrackStats { shape: schema.shape.clone(), ..TrackStats::default() };
    for start in (0..each).step_by(GROUP) {
        let scan = Scan { sources, schema, places: start..each.min(start + GROUP) };
        let mut quantiles = Quantiles::new(scan.places.len(), sources.len());
        let totals = scan.first::<T>(&mut quantiles)?;
        let means = totals.means();
        let squares = scan.next::<T>(&mut quantiles, &totals, &means)?;
        while !quantiles.are_found::<T>() {
            scan.next::<T>(&mut quantiles, &totals, &means)?;
        }
        stats.add(&totals, means, totals.deviations(&squares), &quantiles.of::<T>());
    }
    Ok(stats)
}

impl TrackStats {
    /// Adds the statistics of some places.
    fn add(&mut self, totals: &Totals, means: Vec<f64>, deviations: Vec<f64>, quantiles: &[[f64; 5]]) {
        (self.clips, self.clips_without) = (totals.clips, totals.clips_without);
        self.mean.extend(means);
        self.std.extend(deviations);
        for (place, quantiles) in totals.of_all().iter().zip(quantiles) {
            let known = |n: f64| if place.count > 0 { n } else { 0.0 };
            self.count.push(place.count);
            self.not_finite.push(place.not_finite);
            self.min.push(known(place.min));
            self.max.push(known(place.max));
            let all = [&mut self.q01, &mut self.q10, &mut self.q50, &mut self.q90, &mut self.q99];
            all.into_iter().zip(quantiles).for_each(|(to, &from)| to.push(known(from)));
        }
    }
}
