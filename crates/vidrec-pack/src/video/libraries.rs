//! Prepares FFmpeg's libraries and reports their versions.

use std::sync::Once;

use ffmpeg_next::{codec, format, software::scaling};

use super::log;

/// Prepares FFmpeg. Further calls cost little.
///
/// Loads its error texts. Also takes over its log messages in the whole process, to count them
/// ([`VideoFacts::logged_errors`](super::VideoFacts::logged_errors)) and never print them.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // This only loads error texts; nothing in it can fail.
        let _ = ffmpeg_next::init();
        ffmpeg_next::log::set_level(ffmpeg_next::log::Level::Quiet);
        log::take_over();
    });
}

/// Returns the versions of FFmpeg's libraries in use, such as `libavcodec 59.37.100, libavformat 59.27.100,
/// libswscale 6.7.100`.
///
/// The same file, options and versions give the same pictures.
#[must_use]
pub fn ffmpeg_version() -> String {
    let (avcodec, avformat, swscale) =
        (dotted(codec::version()), dotted(format::version()), dotted(scaling::version()));
    format!("libavcodec {avcodec}, libavformat {avformat}, libswscale {swscale}")
}

/// Returns one line with the FFmpeg libraries that this build decodes with, their versions and their license.
///
/// ```
/// assert!(vidrec::video::libraries().starts_with("libavformat "));
/// ```
#[must_use]
pub fn libraries() -> String {
    // Only scripts/build_ffmpeg.sh configures FFmpeg this way. No distribution does.
    let inside = codec::configuration().contains("--disable-shared");
    let linked = if inside { "inside" } else { "of the system" };
    format!(
        "libavformat {}, libavcodec {}, libswscale {} ({linked}, {})",
        dotted(format::version()),
        dotted(codec::version()),
        dotted(scaling::version()),
        codec::license(),
    )
}

/// Formats a version number of FFmpeg, which has major, minor and micro in 16, 8 and 8 bits.
fn dotted(version: u32) -> String {
    format!("{}.{}.{}", version >> 16, (version >> 8) & 0xff, version & 0xff)
}
