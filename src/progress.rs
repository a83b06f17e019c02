//! How far a long call has come, and the way to stop it.

use std::ops::ControlFlow;

use crate::{Error, Result};

/// How far a call has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Items done. The function that takes the callback says what an item is: a video, a clip, a frame.
    pub done: u64,
    /// Items in all, if that is known before the end.
    pub total: Option<u64>,
    /// Frames written or checked so far.
    pub frames: u64,
    /// Bytes of records written so far.
    pub bytes: u64,
    /// Items skipped so far because they could not be read.
    pub failed: u64,
}

/// What a long call tells its progress to. Return [`ControlFlow::Break`] to stop the call: it ends with
/// [`Interrupted`](crate::ErrorKind::Interrupted) and leaves what was there before, or a pack that can be resumed.
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

/// Counts what is done and tells of it.
pub(crate) struct Counter<'p, 'f> {
    progress: &'p mut ProgressFn<'f>,
    so_far: Progress,
}

impl<'p, 'f> Counter<'p, 'f> {
    pub fn new(total: Option<u64>, progress: &'p mut ProgressFn<'f>) -> Self {
        Counter { progress, so_far: Progress { total, ..Progress::default() } }
    }

    /// One item more is done, of so many frames and bytes.
    pub fn add(&mut self, frames: u64, bytes: u64) -> Result<()> {
        self.so_far.done += 1;
        self.so_far.frames += frames;
        self.so_far.bytes += bytes;
        self.tell()
    }

    /// So many frames more are done, where a frame is an item.
    pub fn frames(&mut self, frames: u64) -> Result<()> {
        self.so_far.done += frames;
        self.so_far.frames += frames;
        self.tell()
    }

    /// One item more is skipped.
    #[cfg(feature = "interop")]
    pub fn skip(&mut self) -> Result<()> {
        self.so_far.failed += 1;
        self.tell()
    }

    /// Gives the caller a chance to stop while an item takes long.
    pub fn tell(&mut self) -> Result<()> {
        tell(self.progress, &self.so_far)
    }
}

/// Tells `progress` and turns its wish to stop into an error.
pub(crate) fn tell(progress: &mut ProgressFn<'_>, how_far: &Progress) -> Result<()> {
    match progress(how_far) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::interrupted("interrupted")),
    }
}
