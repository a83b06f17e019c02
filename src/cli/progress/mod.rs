//! How far a command is, on standard error, and a clean stop after Ctrl-C.

mod how_far;
mod meter;
mod screen;

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Progress;
use clap::ValueEnum;

use self::how_far::Items;
use self::meter::Meter;
use self::screen::Screen;
use crate::cli::interrupt;

/// Stops the work after Ctrl-C or SIGTERM, and shows how far it is until it is dropped.
pub type Watch = Box<dyn FnMut(&Progress) -> ControlFlow<()> + Send>;

/// Without a terminal, shorter work shows nothing, so that the logs of scripts stay short.
const QUIET: Duration = Duration::from_secs(5);

/// How progress is shown.
#[derive(clap::Args, Clone, Copy)]
pub struct ProgressArgs {
    /// How to show on standard error how far the work is. [default: bar on a terminal, otherwise lines, if
    /// the work takes longer than 5 seconds]
    #[arg(long, value_name = "HOW", hide_short_help = true)]
    progress: Option<Style>,
}

#[derive(Clone, Copy, ValueEnum)]
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
    /// Shows how many items are done: "clips", for example.
    pub fn of(self, items: &'static str) -> Watch {
        self.watch(Items::Named(items))
    }

    /// As [`ProgressArgs::of`], where an item is a byte.
    pub fn of_bytes(self) -> Watch {
        self.watch(Items::Bytes)
    }

    /// As [`ProgressArgs::of_bytes`], for an upload that begins after work that shows its own progress.
    pub fn of_upload(self) -> Watch {
        let mut begun = None;
        Box::new(move |progress| begun.get_or_insert_with(|| self.of_bytes())(progress))
    }

    fn watch(self, items: Items) -> Watch {
        let meter = self.screen().map(|screen| Meter::start(screen, items));
        // Without the flag, a signal ends the process at once, as usual.
        let interrupted = interrupt::flag().ok();
        Box::new(move |progress| {
            if let Some(meter) = &meter {
                meter.tell(progress);
            }
            match &interrupted {
                Some(flag) if flag.load(Ordering::Relaxed) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        })
    }

    fn screen(self) -> Option<Screen> {
        match self.progress {
            None if stderr().is_terminal() => Some(Screen::bar()),
            None => Some(Screen::Lines { after: QUIET }),
            Some(Style::Lines) => Some(Screen::Lines { after: Duration::ZERO }),
            Some(Style::Bar) => Some(Screen::bar()),
            Some(Style::Json) => Some(Screen::Json),
            Some(Style::None) => None,
        }
    }
}
