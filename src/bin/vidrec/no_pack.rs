//! `vidrec pack` in a build without FFmpeg: says so, instead of not knowing the word.

use std::ffi::OsString;

use crate::Run;

/// Not in this build: it was made without FFmpeg.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Whatever `vidrec pack` takes.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}

pub fn run(_: &Args) -> Run {
    Err("this build of vidrec cannot pack: it was made without FFmpeg\n\
         help: released wheels and programs can; from a checkout, `cargo install --path .` makes one that can"
        .into())
}
