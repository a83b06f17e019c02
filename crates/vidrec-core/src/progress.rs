//! The progress of a long call, and the way to stop it.

use std::ops::ControlFlow;

use vidrec_format::error::{Error, Result};

/// The work that a call has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Items done. The function that takes the callback says what an item is: a video, a clip, a frame.
    pub done: u64,
    /// Total number of items, if it is known before the end.
    pub total: Option<u64>,
    /// Frames written or checked so far.
    pub frames: u64,
    /// Bytes of records written so far.
    pub bytes: u64,
    /// Items skipped so far because they could not be read.
    pub failed: u64,
}

/// The callback that receives the progress of a long call. Return [`ControlFlow::Break`] to stop the call. It then
/// fails with [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted), and leaves existing files unchanged, or leaves a
/// pack that can be resumed.
///
/// ```
/// use std::ops::ControlFlow;
///
/// let ignore = &mut |_: &vidrec::Progress| ControlFlow::Continue(());
/// let _: &mut vidrec::ProgressFn<'_> = ignore;
/// ```
pub type ProgressFn<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + Send + 'a;

/// A callback that ignores progress and never stops the call.
///
/// ```
/// assert!(vidrec::no_progress(&vidrec::Progress::default()).is_continue());
/// ```
pub fn no_progress(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Counts finished items and reports them.
pub struct Counter<'p, 'f> {
    progress: &'p mut ProgressFn<'f>,
    so_far: Progress,
}

impl<'p, 'f> Counter<'p, 'f> {
    /// Starts at 0 of `total` items, if the total is known.
    pub fn new(total: Option<u64>, progress: &'p mut ProgressFn<'f>) -> Self {
        Counter { progress, so_far: Progress { total, ..Progress::default() } }
    }

    /// Counts one more item with `frames` frames and `bytes` bytes.
    pub fn add(&mut self, frames: u64, bytes: u64) -> Result<()> {
        self.so_far.done += 1;
        self.so_far.frames += frames;
        self.so_far.bytes += bytes;
        self.tell()
    }

    /// Counts `frames` more frames, for calls whose items are frames.
    pub fn frames(&mut self, frames: u64) -> Result<()> {
        self.so_far.done += frames;
        self.so_far.frames += frames;
        self.tell()
    }

    /// Counts one more skipped item.
    pub fn skip(&mut self) -> Result<()> {
        self.so_far.failed += 1;
        self.tell()
    }

    /// Reports the current progress, so that the caller can stop even while one item takes long.
    pub fn tell(&mut self) -> Result<()> {
        tell(self.progress, &self.so_far)
    }
}

/// Reports to `progress`, and turns its request to stop into an error.
pub fn tell(progress: &mut ProgressFn<'_>, how_far: &Progress) -> Result<()> {
    match progress(how_far) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::interrupted("interrupted")),
    }
}
