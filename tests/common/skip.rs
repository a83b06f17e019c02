//! Tests that cannot run on this machine say so, and fail where everything has to run.

// Each test program uses some of this.
#![allow(dead_code)]

use std::io::Write;
use std::process::{Command, Stdio};

/// Says on standard error that the test is skipped, and why. With `VIDREC_REQUIRE=1`, which continuous integration sets,
/// this panics.
#[track_caller]
pub fn skip(why: &str) {
    let required = std::env::var_os("VIDREC_REQUIRE").is_some_and(|value| !value.is_empty() && value != "0");
    assert!(!required, "this test cannot run, and VIDREC_REQUIRE is set: {why}");
    let thread = std::thread::current();
    // Not `eprintln!`: what that prints is shown of failed tests only.
    let _ = writeln!(std::io::stderr(), "skipped: {}: {why}", thread.name().unwrap_or("a test"));
}

/// Whether there is an `ffmpeg` program; if not, the test is skipped.
#[track_caller]
pub fn has_ffmpeg() -> bool {
    let run = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = run.is_ok_and(|status| status.success());
    if !found {
        skip("no ffmpeg program");
    }
    found
}

/// Whether this is a debug build, in which decoders can be made to fail; if not, the test is skipped.
#[track_caller]
pub fn has_decoder_faults() -> bool {
    let found = cfg!(debug_assertions);
    if !found {
        skip("decoders fail on purpose only in debug builds");
    }
    found
}
