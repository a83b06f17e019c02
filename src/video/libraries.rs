//! Which FFmpeg this is.

use ffmpeg_next::{codec, format, software::scaling};

/// FFmpeg's libraries that this build decodes with, their versions, and the licence they are under, in one line.
///
/// ```
/// assert!(vidrec::video::libraries().starts_with("libavformat "));
/// ```
#[must_use]
pub fn libraries() -> String {
    // As scripts/build_ffmpeg.sh makes it, and no system does.
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

/// FFmpeg's version numbers have major, minor and micro in 16, 8 and 8 bits.
fn dotted(version: u32) -> String {
    format!("{}.{}.{}", version >> 16, (version >> 8) & 0xff, version & 0xff)
}
