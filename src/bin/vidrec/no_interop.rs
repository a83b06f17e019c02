//! What stands for `interop` in a build without that feature: commands that say how to get a build that has them.

use std::ffi::OsString;

use crate::outcome::Run;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Not available: this build was made without the feature "interop".
    #[command(hide = true, disable_help_flag = true)]
    Import(Rest),
    /// Not available: this build was made without the feature "interop".
    #[command(hide = true, disable_help_flag = true)]
    Export(Rest),
}

/// The arguments of the command.
#[derive(clap::Args)]
pub struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}

impl Command {
    pub fn run(&self) -> Run {
        Err("this build of vidrec cannot import or export: it was built without its feature \"interop\"\n\
             help: use a released wheel or program, or build one from a checkout with `cargo install --path .`"
            .into())
    }
}
