//! The options of `vidrec pack` that say what happens when something goes wrong.

use std::ffi::OsString;

use vidrec::pack::RunOptions;
use vidrec::pack::given::{Seconds, interrupted};

#[derive(clap::Args)]
#[command(next_help_heading = "Safety")]
pub struct SafetyArgs {
    /// Resume an interrupted run of the same inputs and options; begin if there is none.
    #[arg(long)]
    resume: bool,
    /// Discard an interrupted run and start over.
    #[arg(long)]
    restart: bool,
    /// Write finished clips to the disk this often, in seconds; 0: after each video.
    #[arg(long, default_value_t = Seconds(RunOptions::default().commit_every), value_name = "SECONDS")]
    commit_every: Seconds,
    /// Pack again only what failed when the data set in OUTPUT was packed with the same inputs and options. Everything else
    /// is copied, and the result is that of a run in which it had not failed.
    #[arg(long)]
    pub retry_failed: bool,
    /// Decode in separate processes, one for each of --threads: a codec that crashes costs one video and not the run, and
    /// one that hangs is killed after --timeout. The bytes are the same.
    #[arg(long)]
    pub isolate: bool,
    /// Be such a process.
    #[arg(long, hide = true)]
    pub isolated_worker: bool,
}

impl SafetyArgs {
    pub fn run(&self, overwrite: bool) -> RunOptions {
        RunOptions {
            overwrite,
            interrupted: interrupted(self.resume, self.restart),
            retry_failed: self.retry_failed,
            commit_every: self.commit_every.0,
            ..RunOptions::default()
        }
    }

    pub fn commit_every(&self) -> std::time::Duration {
        self.commit_every.0
    }
}

/// A command line again, for a process that decodes.
pub fn worker_command(mut command_line: Vec<OsString>) -> Vec<OsString> {
    command_line.push("--isolated-worker".into());
    command_line
}
