//! How far a command is, on standard error, and a clean stop after Ctrl-C.

use std::io::{IsTerminal, Write, stderr};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::Progress;
use crate::cli::output::{bytes, grouped};
use crate::cli::{interrupt, output};

/// Stops the work after Ctrl-C or SIGTERM, and shows how far it is until it is dropped.
pub type ProgressCallback = Box<dyn FnMut(&Progress) -> ControlFlow<()> + Send>;

/// Without a terminal, shorter work shows nothing, so that the logs of scripts stay short.
const QUIET: Duration = Duration::from_secs(5);

/// Options of how progress is shown.
#[derive(clap::Args, Clone, Copy)]
pub struct ProgressArgs {
    /// How to show on standard error how far the work is. [default: bar on a terminal, otherwise lines, if
    /// the work takes longer than 5 seconds]
    #[arg(long, value_name = "HOW", hide_short_help = true)]
    progress: Option<Style>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Style {
    /// A bar that is drawn again and again, for a terminal.
    Bar,
    /// For a log: a line at the start, one a minute, and one at the end.
    Lines,
    /// For programs: a JSON object a line, at the start, once a second, and at the end. Its keys: state (started, running,
    /// ended), items (what is counted, such as videos), done, total and seconds_left (null while nobody knows), failed,
    /// seconds, per_second.
    Json,
    /// Nothing.
    None,
}

impl ProgressArgs {
    /// Shows how many items are done: "clips", for example, or "bytes".
    pub fn of(self, items: &'static str) -> ProgressCallback {
        let style = self.progress.unwrap_or(if stderr().is_terminal() { Style::Bar } else { Style::Lines });
        let delay = if self.progress.is_none() && style == Style::Lines { QUIET } else { Duration::ZERO };
        let display = (style != Style::None).then(|| Display::start(style, delay, items, ProgressDrawTarget::stderr()));
        // Without the flag, a signal ends the process at once, as usual.
        let interrupted = interrupt::flag().ok();
        Box::new(move |progress| {
            display.iter().for_each(|display| display.update(progress));
            match &interrupted {
                Some(flag) if flag.load(Ordering::Relaxed) => ControlFlow::Break(()),
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

/// A thread that shows how far some work is, even while nothing gets done, until this is dropped.
struct Display {
    state: Arc<Mutex<State>>,
    start: Instant,
    /// Ends the thread when it is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    fn start(style: Style, delay: Duration, items: &'static str, target: ProgressDrawTarget) -> Self {
        let (state, start) = (Arc::new(Mutex::new(State::new(items))), Instant::now());
        let (stop, stopped) = channel::<()>();
        let shared = Arc::clone(&state);
        // Of no known length: a bar of length 0 would be drawn full until the first item is done.
        let bar = ProgressBar::with_draw_target(None, target);
        let template = ProgressStyle::with_template("{spinner} {bar:30} {msg}");
        bar.set_style(template.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let show = move |moment: Moment| {
            let state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            state.show(style, &bar, moment, start.elapsed());
        };
        let interval = match style {
            // A long video must not look like a program that hangs.
            Style::Bar => Duration::from_millis(250),
            Style::Lines => Duration::from_secs(60),
            Style::Json | Style::None => Duration::from_secs(1),
        };
        if delay.is_zero() {
            show(Moment::Start);
        }
        // Without a thread there is no progress to see, and the work goes on.
        let thread = thread::Builder::new().name("progress".into()).spawn(move || {
            let waits = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !delay.is_zero() {
                if !waits(delay) {
                    return;
                }
                show(Moment::Start);
            }
            while waits(interval) {
                show(Moment::Running);
            }
            show(Moment::End);
        });
        Display { state, start, stop: Some(stop), thread: thread.ok() }
    }

    fn update(&self, progress: &Progress) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).update(progress, self.start.elapsed());
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.stop = None;
        // A panic in the thread has been printed already.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[derive(Clone, Copy)]
enum Moment {
    Start,
    Running,
    End,
}

/// The progress of some work.
struct State {
    items: &'static str,
    /// The first report, and its time. It includes what an earlier run had done, so it says nothing about the speed of this one.
    first: Option<(Progress, Duration)>,
    last: Progress,
}

impl State {
    fn new(items: &'static str) -> Self {
        State { items, first: None, last: Progress::default() }
    }

    fn update(&mut self, progress: &Progress, elapsed: Duration) {
        self.first.get_or_insert((*progress, elapsed));
        self.last = *progress;
    }

    fn show(&self, style: Style, bar: &ProgressBar, moment: Moment, elapsed: Duration) {
        match (style, moment) {
            (Style::Bar, Moment::End) => bar.finish_and_clear(),
            (Style::Bar, _) => {
                self.last.total.iter().for_each(|total| bar.set_length(*total));
                bar.set_message(self.text(Moment::Running, elapsed));
                bar.set_position(self.last.done);
                bar.tick();
            }
            (Style::Lines, _) => output::tell(self.text(moment, elapsed)),
            // If standard error is closed, there is nothing to do.
            (Style::Json, _) => drop(stderr().write_all(format!("{}\n", self.json(moment, elapsed)).as_bytes())),
            (Style::None, _) => {}
        }
    }

    /// Items in a second, once some are done.
    fn per_second(&self, elapsed: Duration) -> Option<f64> {
        let (first, since) = self.first.as_ref()?;
        let (done, time) = (self.last.done.saturating_sub(first.done), elapsed.saturating_sub(*since));
        (done > 0 && time >= Duration::from_millis(1)).then(|| done as f64 / time.as_secs_f64())
    }

    fn left(&self, elapsed: Duration) -> Option<Duration> {
        let left = self.last.total?.saturating_sub(self.last.done);
        Duration::try_from_secs_f64(left as f64 / self.per_second(elapsed)?).ok()
    }

    fn text(&self, moment: Moment, elapsed: Duration) -> String {
        let Progress { done, total, failed, .. } = self.last;
        let is_bytes = self.items == "bytes";
        let number = |n| if is_bytes { bytes(n) } else { grouped(n) };
        let of = total.map(|total| format!(" of {}", number(total))).unwrap_or_default();
        let name = if is_bytes { String::new() } else { format!(" {}", self.items) };
        let share = format!("{}{of}{name}", number(done));
        let rate = self.per_second(elapsed).map(|rate| match rate {
            _ if is_bytes => format!("{}/s", bytes(rate as u64)),
            rate if rate < 1.0 => format!("{:.1}{name}/min", 60.0 * rate),
            rate if rate < 100.0 => format!("{rate:.1}{name}/s"),
            rate => format!("{}{name}/s", grouped(rate as u64)),
        });
        let end = match moment {
            Moment::Start => return format!("{share} done; a line a minute follows"),
            Moment::End => Some(format!("ended after {}", time(elapsed))),
            _ => self.left(elapsed).map(|left| format!("{} left", time(left))),
        };
        let failed = (failed > 0).then(|| format!("{} skipped", grouped(failed)));
        [Some(share), rate, end, failed].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn json(&self, moment: Moment, elapsed: Duration) -> Value {
        let state = match moment {
            Moment::Start => "started",
            Moment::Running => "running",
            Moment::End => "ended",
        };
        let tenths = |value: f64| (value * 10.0).round() / 10.0;
        json!({
            "state": state, "items": self.items, "done": self.last.done, "total": self.last.total, "failed": self.last.failed,
            "seconds": tenths(elapsed.as_secs_f64()), "per_second": self.per_second(elapsed).map(tenths),
            "seconds_left": self.left(elapsed).map(|left| tenths(left.as_secs_f64())),
        })
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

#[cfg(test)]
mod tests {
    use std::io;

    use indicatif::TermLike;

    use super::*;

    /// All that a terminal of 120 columns was sent.
    #[derive(Debug, Clone, Default)]
    struct Terminal(Arc<Mutex<String>>);

    impl Terminal {
        fn text(&self) -> String {
            self.0.lock().unwrap().clone()
        }
    }

    impl TermLike for Terminal {
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
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn text(state: &State, seconds: u64) -> String {
        state.text(Moment::Running, Duration::from_secs(seconds))
    }

    #[test]
    fn it_says_count_rate_time_left_and_failures() {
        let videos = |done, failed| Progress { done, total: Some(12_000), failed, ..Progress::default() };
        let mut state = State::new("videos");
        assert_eq!(text(&state, 60), "0 videos");
        state.update(&videos(0, 0), Duration::ZERO);
        assert_eq!(text(&state, 60), "0 of 12,000 videos");
        state.update(&videos(1500, 2), Duration::from_secs(50));
        assert_eq!(text(&state, 60), "1,500 of 12,000 videos, 25.0 videos/s, 7 min left, 2 skipped");
        let end = state.text(Moment::End, Duration::from_secs(75));
        assert_eq!(end.split(", ").nth(2), Some("ended after 75 s"));
        // The work of an earlier run says nothing about the speed.
        let mut resumed = State::new("videos");
        resumed.update(&videos(11_000, 0), Duration::from_secs(10));
        resumed.update(&videos(11_010, 0), Duration::from_secs(30));
        let json = resumed.json(Moment::Running, Duration::from_secs(30));
        assert_eq!((&json["per_second"], &json["seconds_left"]), (&json!(0.5), &json!(1980.0)));
        assert!(text(&resumed, 30).contains("30.0 videos/min, 33 min left"));
        // Bytes have units, and a total may be unknown.
        let mut fetched = State::new("bytes");
        fetched.update(&Progress::default(), Duration::ZERO);
        fetched.update(&Progress { done: 3_000_000, ..Progress::default() }, Duration::from_secs(2));
        assert_eq!(text(&fetched, 2), format!("{}, {}/s", bytes(3_000_000), bytes(1_500_000)));
        assert_eq!(fetched.json(Moment::Running, Duration::from_secs(2))["seconds_left"], Value::Null);
    }

    #[test]
    fn the_bar_moves_on_while_nothing_gets_done_and_is_empty_at_first() {
        let terminal = Terminal::default();
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let display = Display::start(Style::Bar, Duration::ZERO, "videos", target);
        let first = terminal.text();
        assert!(first.contains("0 videos") && !first.contains('█'), "{first}");
        display.update(&Progress { done: 1, total: Some(2), ..Progress::default() });
        while terminal.text().matches("1 of 2 videos").count() < 2 {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(terminal.text().contains('█'));
        drop(display);
    }
}
