//! How many clips are done: on a terminal only.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// Shows the number that it is called with, until it is dropped.
pub fn shown() -> impl FnMut(u64) {
    let bar = if stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("{spinner} {pos} clips  {per_sec}");
    let bar = bar.with_finish(ProgressFinish::AndClear);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    move |clips| bar.set_position(clips)
}
