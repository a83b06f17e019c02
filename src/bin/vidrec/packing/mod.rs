//! The commands that need FFmpeg.

mod pack;
mod plan;
mod plan_status;
mod progress;
mod publish;

use std::ffi::OsString;

use crate::outcome::Run;

#[derive(clap::Subcommand)]
pub enum Command {
    Pack(pack::Args),
    Plan(plan::Args),
    Status(plan_status::Args),
    Publish(publish::Args),
}

impl Command {
    /// Runs the command. `start` and `args` are the command that starts a further process of this program, as a worker.
    pub fn run(&self, start: Vec<OsString>, args: &[OsString]) -> Run {
        match self {
            Command::Pack(parsed) => pack::run(parsed, start.into_iter().chain(args.iter().cloned()).collect()),
            Command::Plan(args) => plan::run(args),
            Command::Status(args) => plan_status::run(args),
            Command::Publish(args) => publish::run(args),
        }
    }
}

/// The FFmpeg libraries that read videos.
pub fn libraries() -> String {
    vidrec::video::libraries()
}
