//! How far some work is, in words and as JSON.

use std::time::Duration;

use crate::Progress;
use serde_json::{Value, json};

use crate::cli::output::{bytes, grouped};

/// What is counted.
#[derive(Clone, Copy)]
pub enum Items {
    Bytes,
    /// Such as "videos".
    Named(&'static str),
}

impl Items {
    /// So many of so many, if that is known.
    fn share(self, done: u64, total: Option<u64>) -> String {
        let number = |n| if let Items::Bytes = self { bytes(n) } else { grouped(n) };
        let of = total.map(|total| format!(" of {}", number(total))).unwrap_or_default();
        let name = if let Items::Named(name) = self { format!(" {name}") } else { String::new() };
        format!("{}{of}{name}", number(done))
    }

    /// So many of them in a second, or in a minute where that is less than one in a second.
    fn rate(self, per_second: f64) -> String {
        match self {
            Items::Bytes => format!("{}/s", bytes(per_second as u64)),
            Items::Named(name) if per_second < 1.0 => format!("{:.1} {name}/min", 60.0 * per_second),
            Items::Named(name) if per_second < 100.0 => format!("{per_second:.1} {name}/s"),
            Items::Named(name) => format!("{} {name}/s", grouped(per_second as u64)),
        }
    }
}

/// How far some work is.
pub struct HowFar {
    items: Items,
    /// What it had done when it first told, and how long after the start: what an earlier run had done is in it, so it says
    /// nothing about the speed of this one.
    first: Option<(Progress, Duration)>,
    last: Progress,
}

impl HowFar {
    pub fn new(items: Items) -> Self {
        HowFar { items, first: None, last: Progress::default() }
    }

    /// What the work tells, so long after its start.
    pub fn take(&mut self, progress: &Progress, elapsed: Duration) {
        self.first.get_or_insert((*progress, elapsed));
        self.last = *progress;
    }

    /// Items done, and how many there are, if that is known.
    pub fn share(&self) -> (u64, Option<u64>) {
        (self.last.done, self.last.total)
    }

    /// Items in a second, unless there is nothing to tell it by.
    fn per_second(&self, elapsed: Duration) -> Option<f64> {
        let (first, since) = self.first.as_ref()?;
        let (done, time) = (self.last.done.saturating_sub(first.done), elapsed.saturating_sub(*since));
        (done > 0 && time >= Duration::from_millis(1)).then(|| done as f64 / time.as_secs_f64())
    }

    fn left(&self, elapsed: Duration) -> Option<Duration> {
        let left = self.last.total?.saturating_sub(self.last.done);
        Duration::try_from_secs_f64(left as f64 / self.per_second(elapsed)?).ok()
    }

    pub fn at_start(&self) -> String {
        format!("{} done; a line a minute follows", self.items.share(self.last.done, self.last.total))
    }

    /// How far the work is, so long after its start.
    pub fn so_far(&self, elapsed: Duration) -> String {
        let left = self.left(elapsed).map(|left| format!("{} left", time(left)));
        self.described(elapsed, left)
    }

    pub fn at_end(&self, elapsed: Duration) -> String {
        self.described(elapsed, Some(format!("ended after {}", time(elapsed))))
    }

    fn described(&self, elapsed: Duration, last: Option<String>) -> String {
        let count = self.items.share(self.last.done, self.last.total);
        let rate = self.per_second(elapsed).map(|rate| self.items.rate(rate));
        let failed = (self.last.failed > 0).then(|| format!("{} skipped", grouped(self.last.failed)));
        [Some(count), rate, last, failed].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The same for programs.
    pub fn json(&self, state: &str, elapsed: Duration) -> Value {
        let items = match self.items {
            Items::Bytes => "bytes",
            Items::Named(name) => name,
        };
        json!({
            "state": state, "items": items, "done": self.last.done, "total": self.last.total, "failed": self.last.failed,
            "seconds": tenths(elapsed.as_secs_f64()), "per_second": self.per_second(elapsed).map(tenths),
            "seconds_left": self.left(elapsed).map(|left| tenths(left.as_secs_f64())),
        })
    }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6000 => format!("{} min", (seconds + 30) / 60),
        seconds @ 6000..360_000 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        seconds => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn videos(done: u64, failed: u64) -> Progress {
        Progress { done, total: Some(12_000), failed, ..Progress::default() }
    }

    #[test]
    fn it_says_count_rate_time_left_and_failures() {
        let mut how_far = HowFar::new(Items::Named("videos"));
        assert_eq!(how_far.so_far(seconds(60)), "0 videos");
        how_far.take(&videos(0, 0), seconds(0));
        assert_eq!(how_far.so_far(seconds(60)), "0 of 12,000 videos");
        how_far.take(&videos(1500, 2), seconds(50));
        assert_eq!(how_far.so_far(seconds(60)), "1,500 of 12,000 videos, 25.0 videos/s, 7 min left, 2 skipped");
        assert_eq!(how_far.at_end(seconds(75)).split(", ").nth(2), Some("ended after 75 s"));
    }

    #[test]
    fn what_an_earlier_run_did_says_nothing_about_the_speed() {
        let mut how_far = HowFar::new(Items::Named("videos"));
        how_far.take(&videos(11_000, 0), seconds(10));
        how_far.take(&videos(11_010, 0), seconds(30));
        let json = how_far.json("running", seconds(30));
        assert_eq!((&json["per_second"], &json["seconds_left"]), (&json!(0.5), &json!(1980.0)));
        assert!(how_far.so_far(seconds(30)).contains("30.0 videos/min, 33 min left"));
    }

    #[test]
    fn bytes_have_units_and_a_total_may_be_unknown() {
        let mut how_far = HowFar::new(Items::Bytes);
        how_far.take(&Progress::default(), seconds(0));
        how_far.take(&Progress { done: 3_000_000, ..Progress::default() }, seconds(2));
        assert_eq!(how_far.so_far(seconds(2)), format!("{}, {}/s", bytes(3_000_000), bytes(1_500_000)));
        assert_eq!(how_far.json("running", seconds(2))["seconds_left"], Value::Null);
    }
}
