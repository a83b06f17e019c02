//! The commands for data sets of other projects.

mod export;
mod import;

use crate::cli::outcome::Run;

#[derive(clap::Subcommand)]
pub enum Command {
    Import(import::Args),
    Export(export::Args),
}

impl Command {
    pub fn run(&self) -> Run {
        match self {
            Command::Import(args) => import::run(args),
            Command::Export(args) => export::run(args),
        }
    }
}
