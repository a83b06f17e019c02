//! The progress bar: on a terminal only.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};
use vidrec::pack::Progress;

use crate::output::{bytes, grouped};

/// A bar on standard error, or nothing where that is no terminal.
pub struct Bar {
    bar: ProgressBar,
    started: std::time::Instant,
}

impl Bar {
    pub fn new() -> Self {
        let bar = if stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {bar:30} {pos}/{len} videos  {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        // A long video must not look like a program that hangs.
        bar.enable_steady_tick(std::time::Duration::from_millis(250));
        Bar { bar, started: std::time::Instant::now() }
    }

    pub fn show(&mut self, p: &Progress) {
        let rate = p.frames as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        let failed = if p.failed > 0 { format!("  {} left out", grouped(p.failed)) } else { String::new() };
        self.bar.set_length(p.total);
        self.bar.set_message(format!("{rate:.0} frames/s  {}{failed}", bytes(p.bytes)));
        self.bar.set_position(p.videos);
    }

    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
