//! How damaged data is found, and what happens to it.

use crate::words::words;

/// What happens to a clip that cannot be read or decoded.
///
/// As a word (`FromStr`, `Display`): `error` or `substitute`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OnBadFrame {
    /// The batch is an error that names file, clip, frame and offset. The default.
    #[default]
    Error,
    /// Another sample replaces the whole clip: a draw from (seed, epoch, sample), so always the same one.
    ///
    /// [`Batch::clips`](crate::Batch::clips) says which clip it is; its mask is that of the sample it replaces.
    /// [`SampleParams::instead_of`](crate::SampleParams::instead_of) says which clip it replaces, and
    /// [`LoaderStats`](crate::LoaderStats) counts. After 16 draws that cannot be read either, it is an error.
    Substitute,
}

words!(OnBadFrame, "on_bad_frame", { "error" => Error, "substitute" => Substitute });

/// How damaged data is found, and what happens to it.
///
/// ```
/// use vidrec::{LoaderOptions, OnBadFrame, Safety};
///
/// let safety = Safety { on_bad_frame: OnBadFrame::Substitute, ..Safety::default() };
/// let options = LoaderOptions { safety, ..LoaderOptions::default() };
/// assert!(options.safety.check_crc);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Safety {
    /// Whether the CRC-32 of every frame is compared. Default `true`; it costs a few microseconds a frame.
    ///
    /// What [`DecodedCache`](crate::DecodedCache) keeps was compared before it was kept, whatever this says. A frame whose
    /// planes come from there is not read again, so its record may be damaged in the meantime without notice.
    pub check_crc: bool,
    /// What happens to a clip that cannot be read or decoded. Default [`OnBadFrame::Error`].
    pub on_bad_frame: OnBadFrame,
}

impl Default for Safety {
    fn default() -> Self {
        Safety { check_crc: true, on_bad_frame: OnBadFrame::Error }
    }
}
