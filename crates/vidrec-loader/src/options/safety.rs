//! The detection of damaged data, and what happens to it.

use vidrec_format::words::words;

/// What happens to a clip that cannot be read or decoded.
///
/// As a word (`FromStr`, `Display`): `error` or `substitute`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OnBadFrame {
    /// The batch is an error that names file, clip, frame and offset. The default.
    #[default]
    Error,
    /// Another sample replaces the whole clip. The replacement is drawn from (seed, epoch, sample), so it is
    /// always the same one.
    ///
    /// [`Batch::clips`](crate::Batch::clips) has the replacing clip, and the mask is that of the replaced sample.
    /// [`SampleParams::instead_of`](crate::SampleParams::instead_of) names the replaced clip, and
    /// [`LoaderStats`](crate::LoaderStats) counts the replacements. It is an error if 16 draws in turn cannot be
    /// read.
    Substitute,
}

words!(OnBadFrame, "on_bad_frame", { "error" => Error, "substitute" => Substitute });

/// The detection of damaged data, and what happens to it.
///
/// ```
/// # mod vidrec { pub use vidrec_loader::{LoaderOptions, OnBadFrame, Safety}; }
/// use vidrec::{LoaderOptions, OnBadFrame, Safety};
///
/// let safety = Safety { on_bad_frame: OnBadFrame::Substitute, ..Safety::default() };
/// let options = LoaderOptions { safety, ..LoaderOptions::default() };
/// assert!(options.safety.check_crc);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Safety {
    /// Whether to compare the CRC-32 of every frame. Default `true`; it takes a few microseconds a frame.
    ///
    /// [`DecodedCache`](crate::DecodedCache) only keeps frames whose CRC-32 was compared, whatever this says. A
    /// frame whose planes come from the cache is not read again, so later damage to its record goes unnoticed.
    pub check_crc: bool,
    /// What happens to a clip that cannot be read or decoded. Default [`OnBadFrame::Error`].
    pub on_bad_frame: OnBadFrame,
}

impl Default for Safety {
    fn default() -> Self {
        Safety { check_crc: true, on_bad_frame: OnBadFrame::Error }
    }
}
