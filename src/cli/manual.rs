//! `vidrec manual`: man pages.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::cli::{Outcome, Run, local};
use clap::Command;
use clap_mangen::Man;

/// Write man pages: vidrec.1, and one for each subcommand, such as vidrec-pack.1.
#[derive(clap::Args)]
pub struct Args {
    /// The folder to write to.
    #[arg(value_parser = local)]
    dir: PathBuf,
}

pub fn run(args: &Args, mut program: Command) -> Run {
    let dir = &args.dir;
    fs::create_dir_all(dir).map_err(|e| format!("{}: could not create the folder: {e}", dir.display()))?;
    program.build();
    write(&program, "vidrec", dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    Ok(Outcome::Done)
}

/// Writes the page of a command, and those of its subcommands.
fn write(command: &Command, name: &str, dir: &Path) -> io::Result<()> {
    let page =
        Man::new(command.clone()).title(name.to_uppercase()).source(format!("vidrec {}", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(dir.join(format!("{name}.1")), text)?;
    let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help");
    shown.into_iter().try_for_each(|inner| write(inner, &format!("{name}-{}", inner.get_name()), dir))
}
