//! Progress on a terminal, and a clean stop after Ctrl-C.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use vidrec::Progress;

use crate::interrupt;

/// Shows how many items are done, until it is dropped, and stops the work after Ctrl-C or SIGTERM.
pub fn of(items: &str) -> impl FnMut(&Progress) -> ControlFlow<()> + Send + use<> {
    let bar = if stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template(&format!("{{spinner}} {{pos}} {items}  {{per_sec}}"));
    let bar = bar.with_finish(ProgressFinish::AndClear);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    // Without the flag, a signal ends the process at once, as usual.
    let interrupted = interrupt::flag().ok();
    move |progress| {
        bar.set_position(progress.done);
        match &interrupted {
            Some(flag) if flag.load(Ordering::Relaxed) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}
