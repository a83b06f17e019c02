//! `vidrec pack` in a build without FFmpeg, which explains why it cannot pack.

use std::ffi::OsString;

use crate::Run;

/// Not available: this build has no FFmpeg.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// The arguments of `vidrec pack`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}

pub fn run(_: &Args) -> Run {
    Err("this build of vidrec cannot pack: it was built without FFmpeg\n\
         help: use a released wheel or program, or build one from a checkout with `cargo install --path .`"
        .into())
}
