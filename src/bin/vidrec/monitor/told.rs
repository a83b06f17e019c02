//! A line of a loader.

use serde::Deserialize;

use crate::output::bytes;

/// The maximum width of the bar, in columns.
const WIDEST: u64 = 32;

/// The fields of a line that are shown. It may have more.
#[derive(Deserialize)]
pub struct Told {
    pub epoch: u64,
    pub batches: u64,
    ready: u64,
    prefetch: u64,
    pub frames_per_second: f64,
    pub waiting: f64,
    pub loader_waiting: f64,
    /// What was fetched, if the data set is remote.
    remote: Option<Remote>,
    /// Whether this is the last line of the loader.
    #[serde(default)]
    pub ended: bool,
}

/// What was fetched of a remote data set.
#[derive(Deserialize)]
struct Remote {
    fetched_bytes: u64,
    retries: u64,
    /// Absent in what the loader itself counts.
    #[serde(default)]
    fetched_per_second: f64,
}

impl Remote {
    fn text(&self) -> String {
        // The conversion saturates, so a line is short whatever the number.
        let rate = bytes(self.fetched_per_second as u64);
        let retries = if self.retries > 0 { format!(", {} retries", self.retries) } else { String::new() };
        format!("  network {rate}/s, {} in all{retries}", bytes(self.fetched_bytes))
    }
}

impl Told {
    pub fn text(&self) -> String {
        let room = self.prefetch.min(WIDEST);
        // A queue that is longer than the bar is scaled down.
        let full = u128::from(self.ready) * u128::from(room) / u128::from(self.prefetch.max(1));
        let full = full.min(room.into()) as usize;
        let bar = "#".repeat(full) + &".".repeat(room as usize - full);
        let Told { epoch, batches, ready, .. } = self;
        let remote = self.remote.as_ref().map_or_else(String::new, Remote::text);
        let (rate, training, loader) =
            (number(self.frames_per_second), share(self.waiting), share(self.loader_waiting));
        format!(
            "epoch {epoch}  [{bar}] {ready} ready  {rate} frames/s  training waits {training}  \
             loader waits {loader}  {batches} batches{remote}"
        )
    }
}

pub fn share(value: f64) -> String {
    number(value * 100.0) + "%"
}

/// A number without decimals, and short even if it is very large.
pub fn number(value: f64) -> String {
    if value.abs() < 1e12 { format!("{value:.0}") } else { format!("{value:.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_short_whatever_the_numbers() {
        let told = |prefetch, ready, rate| Told {
            epoch: u64::MAX,
            batches: u64::MAX,
            ready,
            prefetch,
            frames_per_second: rate,
            waiting: rate,
            loader_waiting: -rate,
            remote: (ready > 0).then_some(Remote { fetched_bytes: ready, retries: ready, fetched_per_second: rate }),
            ended: false,
        };
        assert!(told(4, 3, 1234.4).text().contains("[###.] 3 ready  1234 frames/s  training waits 123440%"));
        assert!(told(4, 3, 2048.0).text().ends_with("batches  network 2.0 kB/s, 3 B in all, 3 retries"));
        assert!(told(0, 3, 0.0).text().contains("[] 3 ready  0 frames/s  training waits 0%"));
        for (prefetch, ready) in [(u64::MAX, u64::MAX), (u64::MAX, 0), (0, u64::MAX)] {
            assert!(told(prefetch, ready, f64::MAX).text().len() < 330);
        }
    }
}
