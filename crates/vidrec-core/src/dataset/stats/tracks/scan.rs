//! Passes over the numbers of a track in all clips.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::number::Number;
use super::quantiles::{Counts, Quantiles};
use super::sum::Sum;
use super::totals::{Place, Totals};
use crate::dataset::{Dataset, TrackView};
use crate::threads::in_order;
use crate::{stop, threads};
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::TrackSchema;

/// The number of clips that are summed one after another. Their sums are joined in order, whatever the number of threads.
const CLIPS: u64 = 64;

/// The numbers to pass over.
pub(super) struct Scan<'a> {
    pub sources: &'a [(&'a Dataset, u64)],
    pub schema: &'a TrackSchema,
    /// The places of a value.
    pub places: Range<usize>,
}

impl Scan<'_> {
    /// The first pass: totals, and the first digit of the quantiles.
    pub fn first<T: Number>(&self, quantiles: &mut Quantiles) -> Result<Totals> {
        let shares = self.sources.iter().map(|(_, share)| *share).collect();
        let mut totals = Totals { of_sources: Vec::new(), shares, clips: 0, clips_without: 0 };
        let mut counts = Vec::new();
        for (dataset, _) in self.sources {
            let add = |(places, counts): &mut (Vec<Place>, Counts), place: usize, number: T| {
                if number.is_finite() {
                    places[place].add(number);
                    quantiles.count(counts, place, number);
                } else {
                    places[place].not_finite += 1;
                }
            };
            let of_set = Mutex::new(quantiles.no_counts());
            let new = || (vec![Place::NONE; self.places.len()], quantiles.no_counts());
            let parts = self.pass(dataset, new, add, |(places, counts)| {
                lock(&of_set).add(&counts);
                places
            })?;
            let mut all = vec![Place::NONE; self.places.len()];
            for (places, clips, without) in parts {
                all.iter_mut().zip(&places).for_each(|(all, place)| all.join(place));
                (totals.clips, totals.clips_without) = (totals.clips + clips, totals.clips_without + without);
            }
            totals.of_sources.push(all);
            counts.push(of_set.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        quantiles.find::<T>(&counts, &self.shares(&totals));
        Ok(totals)
    }

    /// A later pass: for each source, the sums of the squares of the distances to these means, and the next digit of
    /// the quantiles.
    pub fn next<T: Number>(&self, quantiles: &mut Quantiles, totals: &Totals, means: &[f64]) -> Result<Vec<Vec<Sum>>> {
        let (mut all_squares, mut counts) = (Vec::new(), Vec::new());
        for (dataset, _) in self.sources {
            let add = |(squares, counts): &mut (Vec<Sum>, Counts), place: usize, number: T| {
                if number.is_finite() {
                    let distance = number.float() - means[place];
                    squares[place].add(distance * distance);
                    quantiles.count(counts, place, number);
                }
            };
            let of_set = Mutex::new(quantiles.no_counts());
            let new = || (vec![Sum::default(); self.places.len()], quantiles.no_counts());
            let parts = self.pass(dataset, new, add, |(squares, counts)| {
                lock(&of_set).add(&counts);
                squares
            })?;
            let mut all = vec![Sum::default(); self.places.len()];
            for (squares, ..) in parts {
                all.iter_mut().zip(squares).for_each(|(all, square)| all.join(square));
            }
            all_squares.push(all);
            counts.push(of_set.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        quantiles.find::<T>(&counts, &self.shares(totals));
        Ok(all_squares)
    }

    fn shares(&self, totals: &Totals) -> Vec<Vec<(f64, u64)>> {
        (0..self.places.len()).map(|place| totals.shares_of(place)).collect()
    }

    /// Adds all numbers of some clips at a time to what `new` makes. Returns what `done` makes of it, in order of the
    /// clips, with the numbers of clips that have the track and that do not.
    fn pass<T: Number, L, R: Send>(
        &self,
        dataset: &Dataset,
        new: impl Fn() -> L + Sync,
        add: impl Fn(&mut L, usize, T) + Sync,
        done: impl Fn(L) -> R + Sync,
    ) -> Result<Vec<(R, u64, u64)>> {
        let parts = usize::try_from(dataset.len().div_ceil(CLIPS)).unwrap_or(usize::MAX);
        let part = |part: usize| {
            let (mut local, mut with, start) = (new(), 0, part as u64 * CLIPS);
            let clips = start..dataset.len().min(start + CLIPS);
            for clip in clips.clone() {
                stop::check()?;
                if let Some(track) = dataset.clip(clip)?.track(&self.schema.name)? {
                    self.values(&track, |place, number| add(&mut local, place, number))?;
                    with += 1;
                }
            }
            Ok((done(local), with, clips.end - clips.start - with))
        };
        in_order(parts, threads::cores(), part)
    }

    fn values<T: Number>(&self, track: &TrackView<'_>, mut add: impl FnMut(usize, T)) -> Result<()> {
        let differs = || Error::internal("a track of another type than its schema");
        let (numbers, each) = (track.numbers::<T>().ok_or_else(differs)?, self.schema.numbers_per_value());
        for value in numbers.chunks_exact(each) {
            value[self.places.clone()].iter().enumerate().for_each(|(place, &number)| add(place, number));
        }
        track.prove_still_there()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
