//! Shows on standard error how far a command is, and a clean stop after Ctrl-C.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Progress;
use crate::cli::outcome::stop_at_signal;
use crate::cli::output::{self, bytes, grouped};

/// Stops the work after Ctrl-C or SIGTERM, and shows how far it is until it is dropped.
pub type ProgressCallback = Box<dyn FnMut(&Progress) -> ControlFlow<()> + Send>;

/// Without a terminal, shorter work shows nothing, so that the logs of scripts stay short.
const QUIET: Duration = Duration::from_secs(5);
/// The time between two lines.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// Options of how progress is shown.
#[derive(clap::Args, Clone, Copy)]
pub struct ProgressArgs {
    /// The way to show on standard error how far the work is. [default: bar on a terminal, otherwise lines, if
    /// the work takes longer than 5 seconds]
    #[arg(long, value_name = "HOW", hide_short_help = true)]
    progress: Option<Style>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Style {
    /// A bar that is drawn again and again, for a terminal.
    Bar,
    /// For a log: a line a minute, and one at the end.
    Lines,
    /// Nothing.
    None,
}

impl ProgressArgs {
    /// Shows how many items are done: "clips", for example, or "bytes".
    pub fn of(self, items: &'static str) -> ProgressCallback {
        let style = self.progress.unwrap_or(if stderr().is_terminal() { Style::Bar } else { Style::Lines });
        let delay = if self.progress.is_none() { QUIET } else { Duration::ZERO };
        let mut display = (style != Style::None).then(|| Display::new(style == Style::Bar, delay, items));
        // Without the flag, a signal ends the process at once, as usual.
        let stop = stop_at_signal().ok();
        Box::new(move |progress| {
            display.iter_mut().for_each(|display| display.update(progress));
            match stop {
                Some(stop) if stop.load(Ordering::Relaxed) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        })
    }

    /// As [`ProgressArgs::of`], for an upload that begins after work that shows its own progress.
    pub fn of_upload(self) -> ProgressCallback {
        let mut begun = None;
        Box::new(move |progress| begun.get_or_insert_with(|| self.of("bytes"))(progress))
    }
}

/// The progress of some work: a bar, or lines about a bar that is not drawn.
struct Display {
    bar: ProgressBar,
    is_drawn: bool,
    items: &'static str,
    failed: u64,
    /// The time of the next line.
    next: Instant,
    /// Whether there was a report, or a line.
    has_begun: bool,
    has_told: bool,
}

impl Display {
    fn new(is_drawn: bool, delay: Duration, items: &'static str) -> Self {
        let target = if is_drawn { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        // Of no known length: a bar of length 0 would be drawn full until the first item is done.
        let bar = ProgressBar::with_draw_target(None, target);
        let template = ProgressStyle::with_template("{spinner} {bar:30} {msg}");
        bar.set_style(template.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let next = Instant::now() + delay;
        let display = Display { bar, is_drawn, items, failed: 0, next, has_begun: false, has_told: false };
        if is_drawn {
            display.bar.set_message(display.text());
            // A long video must not look like a program that hangs.
            display.bar.enable_steady_tick(Duration::from_millis(250));
        }
        display
    }

    fn update(&mut self, progress: &Progress) {
        self.failed = progress.failed;
        progress.total.iter().for_each(|total| self.bar.set_length(*total));
        self.bar.set_position(progress.done);
        if !std::mem::replace(&mut self.has_begun, true) {
            // The first report includes what an earlier run had done, so it says nothing about the speed of this one.
            self.bar.reset_eta();
        }
        if self.is_drawn {
            self.bar.set_message(self.text());
        } else if Instant::now() >= self.next {
            output::tell(self.text());
            self.next += BETWEEN_LINES;
            self.has_told = true;
        }
    }

    fn text(&self) -> String {
        let is_bytes = self.items == "bytes";
        let number = |n| if is_bytes { bytes(n) } else { grouped(n) };
        let of = self.bar.length().map(|total| format!(" of {}", number(total))).unwrap_or_default();
        let name = if is_bytes { String::new() } else { format!(" {}", self.items) };
        let mut text = format!("{}{of}{name}", number(self.bar.position()));
        let rate = self.bar.per_sec();
        if rate > 0.0 {
            text += &match rate {
                _ if is_bytes => format!(", {}/s", bytes(rate as u64)),
                rate if rate < 1.0 => format!(", {:.1}{name}/min", 60.0 * rate),
                rate if rate < 100.0 => format!(", {rate:.1}{name}/s"),
                rate => format!(", {}{name}/s", grouped(rate as u64)),
            };
        }
        if rate > 0.0 && self.bar.length().is_some() && !self.bar.is_finished() {
            text += &format!(", {} left", time(self.bar.eta()));
        }
        if self.failed > 0 { format!("{text}, {} skipped", grouped(self.failed)) } else { text }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if self.has_told {
            output::tell(format_args!("{}, ended after {}", self.text(), time(self.bar.elapsed())));
        }
    }
}

fn time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6000 => format!("{} min", (seconds + 30) / 60),
        seconds @ 6000..360_000 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        seconds => format!("{} d", seconds / 86_400),
    }
}
