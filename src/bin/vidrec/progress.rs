//! The progress bar: on a terminal only.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use vidrec::Progress;

use crate::output::{bytes, grouped};

/// A bar on standard error, or nothing where that is no terminal.
pub struct Bar {
    bar: ProgressBar,
    /// When the first video was done, and how many frames there were then: those of an interrupted run are among them.
    first: Option<(Instant, u64)>,
}

impl Bar {
    pub fn new() -> Self {
        let bar = if stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {bar:30} {pos}/{len} videos  {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        // A long video must not look like a program that hangs.
        bar.enable_steady_tick(Duration::from_millis(250));
        Bar { bar, first: None }
    }

    pub fn show(&mut self, p: &Progress) {
        let (since, frames) = *self.first.get_or_insert((Instant::now(), p.frames));
        let rate = rate(p.frames.saturating_sub(frames), since.elapsed());
        let failed = if p.failed > 0 { format!("  {} skipped", grouped(p.failed)) } else { String::new() };
        self.bar.set_length(p.total.unwrap_or(p.done));
        self.bar.set_message(format!("{rate}{}{failed}", bytes(p.bytes)));
        self.bar.set_position(p.done);
    }

    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Frames a second; nothing while there is nothing to tell it by.
fn rate(frames: u64, time: Duration) -> String {
    if frames == 0 || time < Duration::from_millis(1) {
        return String::new();
    }
    format!("{:.0} frames/s  ", frames as f64 / time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_needs_frames_and_time() {
        assert_eq!([rate(0, Duration::from_secs(9)), rate(8, Duration::ZERO)], ["", ""]);
        assert_eq!(rate(100, Duration::from_secs(4)), "25 frames/s  ");
    }
}
