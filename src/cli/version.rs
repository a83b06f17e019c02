//! The output of `vidrec --version`.

use std::sync::LazyLock;

use crate::cli::packing;

/// The version, and the FFmpeg libraries that read videos. `-V` prints only the first line.
pub fn long() -> &'static str {
    static LONG: LazyLock<String> =
        LazyLock::new(|| format!("{}\nFFmpeg: {}", env!("CARGO_PKG_VERSION"), packing::libraries()));
    &LONG
}
