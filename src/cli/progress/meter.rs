//! A thread that shows how far some work is, even while none of it gets done.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::Progress;

use super::how_far::{HowFar, Items};
use super::screen::Screen;

/// Shows how far some work is, from its start until it is dropped.
pub struct Meter {
    how_far: Arc<Mutex<HowFar>>,
    start: Instant,
    /// Ends the thread when it is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Meter {
    pub fn start(screen: Screen, items: Items) -> Self {
        let (how_far, start) = (Arc::new(Mutex::new(HowFar::new(items))), Instant::now());
        let (stop, stopped) = channel::<()>();
        let shown = Arc::clone(&how_far);
        let delay = screen.delay();
        if delay.is_zero() {
            screen.start(&lock(&shown));
        }
        // Without a thread there is no progress to see, and the work goes on.
        let thread = thread::Builder::new().name("progress".into()).spawn(move || {
            if !delay.is_zero() {
                if stopped.recv_timeout(delay) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                screen.start(&lock(&shown));
            }
            while stopped.recv_timeout(screen.interval()) == Err(RecvTimeoutError::Timeout) {
                screen.show(&lock(&shown), start.elapsed());
            }
            screen.end(&lock(&shown), start.elapsed());
        });
        Meter { how_far, start, stop: Some(stop), thread: thread.ok() }
    }

    pub fn tell(&self, progress: &Progress) {
        lock(&self.how_far).take(progress, self.start.elapsed());
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.stop = None;
        // A panic in it has been told already.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn lock(how_far: &Mutex<HowFar>) -> MutexGuard<'_, HowFar> {
    how_far.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use indicatif::ProgressDrawTarget;

    use super::super::screen::tests::Terminal;
    use super::*;

    #[test]
    fn it_shows_again_and_again_how_far_the_work_is_until_it_ends() {
        let terminal = Terminal::default();
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let meter = Meter::start(Screen::on(target), Items::Named("videos"));
        meter.tell(&Progress { done: 1, total: Some(2), ..Progress::default() });
        // Nothing more gets done, and the bar moves on.
        while terminal.text().matches("1 of 2 videos").count() < 2 {
            thread::sleep(Duration::from_millis(10));
        }
        drop(meter);
    }
}
