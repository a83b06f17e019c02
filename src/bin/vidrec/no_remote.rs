//! Commands about remote data sets in a build that reads from no server, which explains why it cannot.

use std::ffi::OsString;

use crate::outcome::Run;

/// Not available: this build reads from no server.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// The arguments of the command.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}

pub fn run(_: &Args) -> Run {
    Err(why().into())
}

/// Why a remote location is of no use here, and what to do.
pub fn why() -> &'static str {
    "this build of vidrec reads and writes local data sets only: it was built without its feature \"remote\"\n\
     help: use a released wheel or program, or build one from a checkout with `cargo install --path .`"
}
