//! Computes statistics of columns, which LeRobot needs to normalize them.

use serde_json::{Map, Value, json};

use vidrec_core::dataset::writer::TrackValues;

/// The quantiles of LeRobot, in percent.
pub(super) const QUANTILES: [u32; 5] = [1, 10, 50, 90, 99];

/// The most numbers of a column that are kept for its quantiles. Longer columns keep every second, fourth, …
/// value.
const KEPT: usize = 1 << 22;

/// The statistics of a column of numbers. As in LeRobot, there is one for each position along the last side of its
/// values, over all other sides.
pub(super) struct ColumnStats {
    /// The number of numbers in a value.
    each: usize,
    count: u64,
    places: Vec<Moments>,
    kept: Vec<f64>,
    /// One of this many values is kept.
    stride: u64,
}

/// Minimum, maximum, mean and the sum of squared distances to the mean (Welford, Technometrics 4, 1962), of finite
/// numbers.
#[derive(Clone, Copy)]
struct Moments {
    count: u64,
    min: f64,
    max: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, n: f64) {
        if n.is_finite() {
            self.count += 1;
            (self.min, self.max) = (self.min.min(n), self.max.max(n));
            let before = n - self.mean;
            self.mean += before / self.count as f64;
            self.squares += before * (n - self.mean);
        }
    }
}

impl ColumnStats {
    pub fn new(shape: &[u32]) -> Self {
        let each = shape.iter().map(|&side| side as usize).product();
        let last = shape.last().map_or(1, |&side| side as usize);
        let none = Moments { count: 0, min: f64::INFINITY, max: f64::NEG_INFINITY, mean: 0.0, squares: 0.0 };
        ColumnStats { each, count: 0, places: vec![none; last], kept: Vec::new(), stride: 1 }
    }

    /// Adds values. Texts have no statistics.
    pub fn add(&mut self, values: &TrackValues) {
        match values {
            TrackValues::F32(n) => self.add_all(n.iter().map(|&n| n.into())),
            TrackValues::F64(n) => self.add_all(n.iter().copied()),
            TrackValues::I16(n) => self.add_all(n.iter().map(|&n| n.into())),
            TrackValues::I32(n) => self.add_all(n.iter().map(|&n| n.into())),
            TrackValues::I64(n) => self.add_all(n.iter().map(|&n| n as f64)),
            TrackValues::U8(n) => self.add_all(n.iter().map(|&n| n.into())),
            TrackValues::U16(n) => self.add_all(n.iter().map(|&n| n.into())),
            TrackValues::Bool(n) => self.add_all(n.iter().map(|&b| f64::from(u8::from(b)))),
            TrackValues::Texts(_) => {}
        }
    }

    fn add_all(&mut self, numbers: impl Iterator<Item = f64>) {
        let (each, last) = (self.each, self.places.len());
        for (i, n) in numbers.enumerate() {
            self.places[i % last].add(n);
            if self.count.is_multiple_of(self.stride) {
                self.kept.push(n);
            }
            if i % each == each - 1 {
                self.count += 1;
                self.thin();
            }
        }
    }

    /// Keeps only every second value if too many are kept.
    fn thin(&mut self) {
        if self.kept.len() > KEPT.max(2 * self.each) {
            self.kept = self.kept.chunks_exact(self.each).step_by(2).flatten().copied().collect();
            self.stride *= 2;
        }
    }

    /// Returns the statistics as LeRobot writes them; `None` if there are no values.
    pub fn to_json(&self) -> Option<Value> {
        if self.count == 0 {
            return None;
        }
        let finite = |n: f64| if n.is_finite() { n } else { 0.0 };
        let all = |of: &dyn Fn(&Moments) -> f64| self.places.iter().map(|m| finite(of(m))).collect::<Value>();
        let mut json = Map::new();
        json.insert("min".into(), all(&|m| m.min));
        json.insert("max".into(), all(&|m| m.max));
        json.insert("mean".into(), all(&|m| m.mean));
        json.insert("std".into(), all(&|m| (m.squares / m.count.max(1) as f64).sqrt()));
        json.insert("count".into(), json!([self.count]));
        let last = self.places.len();
        let sorted = |place: usize| {
            let numbers = self.kept.iter().skip(place).step_by(last).copied();
            let mut numbers: Vec<f64> = numbers.filter(|n| n.is_finite()).collect();
            numbers.sort_unstable_by(f64::total_cmp);
            numbers
        };
        let sorted: Vec<Vec<f64>> = (0..last).map(sorted).collect();
        for percent in QUANTILES {
            let of_all: Value = sorted.iter().map(|numbers| quantile(numbers, percent)).collect();
            json.insert(format!("q{percent:02}"), of_all);
        }
        Some(json.into())
    }
}

/// Returns a quantile of sorted numbers, interpolated between two of them; 0 if there are none.
fn quantile(sorted: &[f64], percent: u32) -> f64 {
    let at = sorted.len().saturating_sub(1) as f64 * f64::from(percent) / 100.0;
    let of = |i: f64| sorted.get(i as usize).copied().unwrap_or_default();
    of(at.floor()) + (of(at.ceil()) - of(at.floor())) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_numbers() {
        let mut stats = ColumnStats::new(&[2]);
        stats.add(&TrackValues::F32(vec![1.0, 10.0, 2.0, f32::NAN]));
        stats.add(&TrackValues::F32(vec![3.0, 30.0]));
        let json = stats.to_json().unwrap();
        assert_eq!((&json["min"], &json["max"]), (&json!([1.0, 10.0]), &json!([3.0, 30.0])));
        assert_eq!((&json["mean"], &json["count"]), (&json!([2.0, 20.0]), &json!([3])));
        assert!((json["std"][0].as_f64().unwrap() - (2.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(json["std"][1], 10.0);
        assert_eq!((&json["q50"], &json["q99"][0]), (&json!([2.0, 20.0]), &json!(2.98)));
        assert_eq!(ColumnStats::new(&[]).to_json(), None);
    }

    #[test]
    fn values_of_several_sides_have_those_of_their_last_side() {
        let mut stats = ColumnStats::new(&[2, 3]);
        stats.add(&TrackValues::U8((0..6).collect()));
        let json = stats.to_json().unwrap();
        assert_eq!((&json["mean"], &json["count"]), (&json!([1.5, 2.5, 3.5]), &json!([1])));
        let mut one = ColumnStats::new(&[]);
        one.add(&TrackValues::I64(vec![4, 6]));
        assert_eq!(one.to_json().unwrap()["mean"], json!([5.0]));
    }

    #[test]
    fn many_values_are_thinned_and_keep_their_quantiles() {
        let mut stats = ColumnStats::new(&[]);
        let many: Vec<i64> = (0..3 * KEPT as i64).collect();
        stats.add(&TrackValues::I64(many));
        assert!(stats.kept.len() <= KEPT && stats.stride == 4);
        let median = stats.to_json().unwrap()["q50"][0].as_f64().unwrap();
        assert!((median / (1.5 * KEPT as f64) - 1.0).abs() < 1e-3, "{median}");
    }
}
