//! The commands that need FFmpeg.

mod pack;
mod plan;
mod plan_status;
mod publish;
mod tracks;

use std::ffi::OsString;
use std::path::Path;

use crate::Storage;
use crate::cli::Run;
use crate::pack::Recipe;

#[derive(clap::Subcommand)]
pub enum Command {
    Pack(Box<pack::Args>),
    Plan(Box<plan::Args>),
    Status(plan_status::Args),
    Publish(publish::Args),
    Tracks(tracks::Args),
}

impl Command {
    /// Runs the command. `start` is the command that starts a further process of this program, as a worker.
    pub fn run(&self, start: Vec<OsString>) -> Run {
        match self {
            Command::Pack(args) => pack::run(args, start),
            Command::Plan(args) => plan::run(args),
            Command::Status(args) => plan_status::run(args),
            Command::Publish(args) => publish::run(args),
            Command::Tracks(args) => tracks::run(args),
        }
    }
}

/// The recipe of a data set, as TOML.
pub fn recipe_of(location: &Path, storage: Storage) -> crate::Result<String> {
    Recipe::of(location, &storage.into())?.to_toml()
}

/// The FFmpeg libraries that read videos.
pub fn libraries() -> String {
    crate::video::libraries()
}
