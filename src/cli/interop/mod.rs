//! The commands for data sets of other projects.

use crate::cli::Run;
mod export;
mod import;

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
