//! Progress on a terminal, and a clean stop after Ctrl-C.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use vidrec::Progress;

use crate::interrupt;

/// Stops the work after Ctrl-C or SIGTERM, and shows how far it is until then.
pub type Watch = Box<dyn FnMut(&Progress) -> ControlFlow<()> + Send>;

/// Shows how many items are done, until it is dropped.
pub fn of(items: &str) -> Watch {
    shown(&format!("{{spinner}} {{pos}} {items}  {{per_sec}}"))
}

/// As [`of`], where an item is a byte, and their number is known.
pub fn of_bytes() -> Watch {
    shown("{spinner} {bar:30} {binary_bytes}/{binary_total_bytes}  {binary_bytes_per_sec}  {eta} left")
}

fn shown(template: &str) -> Watch {
    let bar = if stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template(template);
    let bar = bar.with_finish(ProgressFinish::AndClear);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    // Without the flag, a signal ends the process at once, as usual.
    let interrupted = interrupt::flag().ok();
    Box::new(move |progress| {
        if let Some(total) = progress.total {
            bar.set_length(total);
        }
        bar.set_position(progress.done);
        match &interrupted {
            Some(flag) if flag.load(Ordering::Relaxed) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    })
}
