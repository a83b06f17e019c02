//! The module `packing` of a build without FFmpeg: a command that explains why it cannot pack.

use crate::cli::Run;
use std::ffi::OsString;
use std::path::Path;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Not available: this build has no FFmpeg.
    #[command(hide = true, disable_help_flag = true)]
    Pack {
        /// The arguments of `vidrec pack`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        _rest: Vec<OsString>,
    },
}

impl Command {
    /// Returns the reason why this build cannot pack.
    pub fn run(&self, _: Vec<OsString>) -> Run {
        Err("this build of vidrec cannot pack: it was built without FFmpeg\n\
             help: use a released wheel or program; or, in a checkout, run\n    \
             apt-get install clang libclang-dev pkg-config libavcodec-dev libavformat-dev libavutil-dev libswscale-dev libswresample-dev\n    \
             pip install --force-reinstall ./python    (for the program alone: cargo install --path .)"
            .into())
    }
}

/// Recipes are written by packing.
pub fn recipe_of(_: &Path, _: crate::Storage) -> crate::Result<String> {
    Err(crate::Error::usage("this build of vidrec has no recipes: it was built without FFmpeg"))
}

/// The FFmpeg libraries that read videos.
pub fn libraries() -> String {
    "none; this build does everything except `vidrec pack`".to_owned()
}
