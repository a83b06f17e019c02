//! The progress of a long call, and the way to stop it.

use std::ops::ControlFlow;

use crate::{Error, Result};

/// How far a call has got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
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

/// The callback that a long call reports its progress to. Return [`ControlFlow::Break`] to stop the call: it then fails
/// with [`Interrupted`](crate::ErrorKind::Interrupted) and leaves existing files as they were, or a pack that can be
/// resumed.
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
/// ```no_run
/// let report = vidrec::verify("train", vidrec::VerifyOptions::default(), &mut vidrec::no_progress)?;
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn no_progress(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Counts what is done and reports it.
pub(crate) struct Counter<'p, 'f> {
    progress: &'p mut ProgressFn<'f>,
    so_far: Progress,
}

impl<'p, 'f> Counter<'p, 'f> {
    pub fn new(total: Option<u64>, progress: &'p mut ProgressFn<'f>) -> Self {
        Counter { progress, so_far: Progress { total, ..Progress::default() } }
    }

    /// One more item is done. It has `frames` frames and `bytes` bytes.
    pub fn add(&mut self, frames: u64, bytes: u64) -> Result<()> {
        self.so_far.done += 1;
        self.so_far.frames += frames;
        self.so_far.bytes += bytes;
        self.tell()
    }

    /// `frames` more frames are done, where an item is a frame.
    pub fn frames(&mut self, frames: u64) -> Result<()> {
        self.so_far.done += frames;
        self.so_far.frames += frames;
        self.tell()
    }

    /// One more item is skipped.
    #[cfg(feature = "interop")]
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
pub(crate) fn tell(progress: &mut ProgressFn<'_>, how_far: &Progress) -> Result<()> {
    match progress(how_far) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::interrupted("interrupted")),
    }
}
