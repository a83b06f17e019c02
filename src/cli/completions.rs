//! `vidrec completions`: what a shell completes.

use std::io::{self, Write};

use crate::cli::{Outcome, Run};
use clap::Command;
use clap_complete::Shell;

/// Print what a shell needs to complete the commands of vidrec.
///
/// A new shell completes them once the text is where it looks: for zsh in a file `_vidrec` in a folder of `fpath`, for
/// PowerShell in the profile.
#[derive(clap::Args)]
pub struct Args {
    /// The shell.
    shell: Shell,
}

pub fn run(args: &Args, mut program: Command) -> Run {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "vidrec", &mut text);
    io::stdout().write_all(&text)?;
    Ok(Outcome::Done)
}
