//! The output of `vidrec --version`.

use std::sync::LazyLock;

/// The version, and the FFmpeg libraries that read videos. `-V` prints only the first line.
pub fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| format!("{}\nFFmpeg: {}", env!("CARGO_PKG_VERSION"), videos()));
    &LONG
}

#[cfg(feature = "pack")]
fn videos() -> String {
    vidrec::video::libraries()
}

#[cfg(not(feature = "pack"))]
fn videos() -> &'static str {
    "none; this build does everything except `vidrec pack`"
}
