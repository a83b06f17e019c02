//! What stands for `browse` in a build without the feature "remote", and so without a server.

use std::ffi::OsString;

use crate::outcome::Run;

/// Not available: this build was made without the feature "remote".
#[derive(clap::Args)]
#[command(hide = true, disable_help_flag = true)]
pub struct Args {
    /// The arguments of `vidrec browse`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}

pub fn run(_: &Args) -> Run {
    Err("this build of vidrec cannot serve pages: it was built without its feature \"remote\"\n\
         help: use a released wheel or program, or build one from a checkout with `cargo install --path .`"
        .into())
}
