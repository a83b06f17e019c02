//! What progress is shown on.

use std::io::{Write, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::how_far::HowFar;
use crate::cli::output;

/// What progress is shown on. All of it is standard error.
pub enum Screen {
    Bar(ProgressBar),
    Lines {
        /// Work that ends earlier shows nothing.
        after: Duration,
    },
    Json,
}

impl Screen {
    pub fn bar() -> Self {
        Screen::on(ProgressDrawTarget::stderr())
    }

    pub(super) fn on(target: ProgressDrawTarget) -> Self {
        // Of no known length: a bar of length 0 would be drawn full until the first item is done.
        Screen::Bar(ProgressBar::with_draw_target(None, target).with_style(style("{spinner} {bar:30} {msg}")))
    }

    /// How often to show it.
    pub fn interval(&self) -> Duration {
        match self {
            // A long video must not look like a program that hangs.
            Screen::Bar(_) => Duration::from_millis(250),
            Screen::Lines { .. } => Duration::from_secs(60),
            Screen::Json => Duration::from_secs(1),
        }
    }

    /// How long after the start it is shown first.
    pub fn delay(&self) -> Duration {
        if let Screen::Lines { after } = self { *after } else { Duration::ZERO }
    }

    pub fn start(&self, how_far: &HowFar) {
        match self {
            Screen::Bar(_) => self.show(how_far, Duration::ZERO),
            Screen::Lines { .. } => output::tell(how_far.at_start()),
            Screen::Json => print(&how_far.json("started", Duration::ZERO)),
        }
    }

    pub fn show(&self, how_far: &HowFar, elapsed: Duration) {
        match self {
            Screen::Bar(bar) => draw(bar, how_far, elapsed),
            Screen::Lines { .. } => output::tell(how_far.so_far(elapsed)),
            Screen::Json => print(&how_far.json("running", elapsed)),
        }
    }

    pub fn end(&self, how_far: &HowFar, elapsed: Duration) {
        match self {
            Screen::Bar(bar) => bar.finish_and_clear(),
            Screen::Lines { .. } => output::tell(how_far.at_end(elapsed)),
            Screen::Json => print(&how_far.json("ended", elapsed)),
        }
    }
}

fn draw(bar: &ProgressBar, how_far: &HowFar, elapsed: Duration) {
    let (done, total) = how_far.share();
    if let Some(total) = total {
        bar.set_length(total);
    }
    bar.set_message(how_far.so_far(elapsed));
    bar.set_position(done);
    bar.tick();
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn print(object: &serde_json::Value) {
    // If standard error is closed, there is nothing to do.
    let _ = stderr().write_all(format!("{object}\n").as_bytes());
}

#[cfg(test)]
pub mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use crate::Progress;
    use indicatif::TermLike;

    use super::super::how_far::Items;
    use super::*;

    /// What a terminal of 120 columns was sent.
    #[derive(Debug, Clone, Default)]
    pub struct Terminal(Arc<Mutex<String>>);

    impl Terminal {
        /// All that it was sent.
        pub fn text(&self) -> String {
            self.0.lock().unwrap().clone()
        }

        fn add(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
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
        let terminal = Terminal::default();
        let screen = Screen::on(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        let mut how_far = HowFar::new(Items::Named("videos"));
        screen.start(&how_far);
        let drawn = terminal.text();
        assert!(drawn.contains("0 videos") && !drawn.contains('█'), "{drawn}");
        how_far.take(&Progress { done: 1, total: Some(2), ..Progress::default() }, Duration::ZERO);
        screen.show(&how_far, Duration::from_secs(1));
        let Screen::Bar(bar) = &screen else { unreachable!("it is a bar") };
        bar.force_draw();
        let drawn = terminal.text();
        assert!(drawn.contains("1 of 2 videos") && drawn.contains('█'), "{drawn}");
    }
}
