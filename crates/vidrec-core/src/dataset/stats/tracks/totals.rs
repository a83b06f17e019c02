//! Counts, sums and bounds of the numbers at some places of a value.

use super::number::Number;
use super::sum::Sum;

/// The numbers of one data set at one place of a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub count: u64,
    pub not_finite: u64,
    pub min: f64,
    pub max: f64,
    sum: Sum,
}

impl Place {
    pub const NONE: Place =
        Place { count: 0, not_finite: 0, min: f64::INFINITY, max: f64::NEG_INFINITY, sum: Sum::ZERO };

    /// Adds a number, which is finite.
    pub fn add<T: Number>(&mut self, number: T) {
        let n = number.float();
        self.count += 1;
        (self.min, self.max) = (self.min.min(n), self.max.max(n));
        self.sum.add(n);
    }

    pub fn join(&mut self, other: &Place) {
        self.count += other.count;
        self.not_finite += other.not_finite;
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
        self.sum.join(other.sum);
    }
}

/// The numbers of all sources.
pub(super) struct Totals {
    /// The places of each source.
    pub of_sources: Vec<Vec<Place>>,
    /// The share of each source.
    pub shares: Vec<u64>,
    /// The number of clips that have the track.
    pub clips: u64,
    pub clips_without: u64,
}

impl Totals {
    /// The share of each source in the numbers of a place, and the number of its numbers.
    pub fn shares_of(&self, place: usize) -> Vec<(f64, u64)> {
        let known = || self.shares.iter().zip(&self.of_sources).map(|(&share, places)| (share, places[place].count));
        let all: u64 = known().filter(|(_, count)| *count > 0).map(|(share, _)| share).sum();
        known().map(|(share, count)| if count > 0 { (share as f64 / all as f64, count) } else { (0.0, 0) }).collect()
    }

    /// The mean of one number for each number, over all sources: of the sums of the sources at a place.
    fn mean_of(&self, place: usize, sums: impl Iterator<Item = Sum>) -> f64 {
        let mut all = Sum::default();
        for ((share, count), sum) in self.shares_of(place).into_iter().zip(sums) {
            if count > 0 {
                all.add(share * (sum.total() / count as f64));
            }
        }
        all.total()
    }

    /// The mean of each place; 0 where there are no numbers.
    pub fn means(&self) -> Vec<f64> {
        let sums = |place: usize| self.of_sources.iter().map(move |places| places[place].sum);
        (0..self.places()).map(|place| self.mean_of(place, sums(place))).collect()
    }

    /// The standard deviation of each place, of the sums of squares of the distances to the means.
    pub fn deviations(&self, squares: &[Vec<Sum>]) -> Vec<f64> {
        let sums = |place: usize| squares.iter().map(move |places| places[place]);
        (0..self.places()).map(|place| self.mean_of(place, sums(place)).sqrt()).collect()
    }

    /// Each place of all sources together.
    pub fn of_all(&self) -> Vec<Place> {
        let mut all = vec![Place::NONE; self.places()];
        self.of_sources.iter().for_each(|places| all.iter_mut().zip(places).for_each(|(all, place)| all.join(place)));
        all
    }

    fn places(&self) -> usize {
        self.of_sources.first().map_or(0, Vec::len)
    }
}
