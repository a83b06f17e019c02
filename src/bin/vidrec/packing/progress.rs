//! The progress bar: on a terminal only.

use std::error::Error;
use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use vidrec::{Progress, ProgressFn};

use crate::interrupt;
use crate::output::{bytes, grouped};

/// A bar on standard error, or nothing where that is no terminal.
pub struct Bar {
    bar: ProgressBar,
    /// When the first video was done, and how many frames there were then: those of an interrupted run are among them.
    first: Option<(Instant, u64)>,
}

impl Bar {
    pub fn new() -> Self {
        Bar::on(if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() })
    }

    fn on(target: ProgressDrawTarget) -> Self {
        // Of no known length: a bar of length 0 would be drawn full until the first video is done.
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{spinner} {bar:30} {pos}/{len} videos  {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        // A long video must not look like a program that hangs.
        bar.enable_steady_tick(Duration::from_millis(250));
        Bar { bar, first: None }
    }

    pub fn show(&mut self, p: &Progress) {
        let is_first = self.first.is_none();
        let (since, frames) = *self.first.get_or_insert((Instant::now(), p.frames));
        let rate = rate(p.frames.saturating_sub(frames), since.elapsed());
        let failed = if p.failed > 0 { format!("  {} skipped", grouped(p.failed)) } else { String::new() };
        self.bar.set_length(p.total.unwrap_or(p.done));
        self.bar.set_message(format!("{rate}{}{failed}", bytes(p.bytes)));
        self.bar.set_position(p.done);
        if is_first {
            // What an interrupted run had done says nothing about the speed of this one.
            self.bar.reset_eta();
        }
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

/// Does `work` with a bar that shows its progress, and stops it after Ctrl-C or SIGTERM.
pub fn with_bar<T>(work: impl FnOnce(&mut ProgressFn<'_>) -> vidrec::Result<T>) -> Result<T, Box<dyn Error>> {
    within_bar(|progress| Ok(work(progress)?))
}

/// The same for work with errors of other kinds.
pub fn within_bar<T>(work: impl FnOnce(&mut ProgressFn<'_>) -> Result<T, Box<dyn Error>>) -> Result<T, Box<dyn Error>> {
    let interrupted = interrupt::flag()?;
    let mut bar = Bar::new();
    let done = work(&mut |progress| {
        bar.show(progress);
        if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.clear();
    done
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    #[test]
    fn a_rate_needs_frames_and_time() {
        assert_eq!([rate(0, Duration::from_secs(9)), rate(8, Duration::ZERO)], ["", ""]);
        assert_eq!(rate(100, Duration::from_secs(4)), "25 frames/s  ");
    }

    /// What a terminal of 120 columns was sent.
    #[derive(Debug, Clone, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl Screen {
        fn add(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            120
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.add(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.add(text)
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_bar_is_empty_until_something_is_done() {
        let screen = Screen::default();
        let bar = Bar::on(ProgressDrawTarget::term_like(Box::new(screen.clone())));
        bar.bar.disable_steady_tick();
        bar.bar.tick();
        bar.bar.force_draw();
        let drawn = screen.0.lock().unwrap().clone();
        assert!(drawn.contains("videos") && !drawn.contains('█'), "{drawn}");
    }
}
