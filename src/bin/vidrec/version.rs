//! What `vidrec --version` tells.

use std::sync::LazyLock;

/// The version, and what this build reads videos with. The first line is all that `-V` gives.
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
    "none; this build does all but `vidrec pack`"
}
