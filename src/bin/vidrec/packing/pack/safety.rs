//! The options of `vidrec pack` that say what happens when something goes wrong.

use std::ffi::OsString;

use vidrec::pack::RunOptions;
use vidrec::pack::arguments::{Seconds, interrupted};

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
    /// Decode in this process. By default, each of --threads has a process that decodes for it and can do nothing else: no
    /// video, however hostile, reaches your files, your network or the other videos, and a codec that crashes or hangs
    /// costs one video. The bytes are the same.
    #[arg(long)]
    pub no_isolate: bool,
    /// Be a process that decodes.
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

    /// For an output that is made in a scratch folder first. What is there is of an earlier run of the same command, which
    /// is resumed unless told otherwise.
    pub fn in_scratch(&self, run: &mut RunOptions) {
        run.interrupted = interrupted(!self.restart, self.restart);
        run.overwrite = self.restart;
    }

    pub fn commit_every(&self) -> std::time::Duration {
        self.commit_every.0
    }
}

/// A command line again, for a process that decodes. Options of the storage may be secret: the run gives them in another
/// way.
pub fn worker_command(command_line: Vec<OsString>) -> Vec<OsString> {
    let mut args = command_line.into_iter();
    let mut command = Vec::new();
    while let Some(arg) = args.next() {
        if arg == "--storage" {
            args.next();
        } else if !arg.as_encoded_bytes().starts_with(b"--storage=") {
            command.push(arg);
        }
    }
    command.push("--isolated-worker".into());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_does_not_have_the_options_of_the_storage_in_its_command_line() {
        let line = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let given = line("vidrec pack --storage secret=1 a.csv --storage=secret=2 --storage-timeout 5 -o x");
        assert_eq!(worker_command(given), line("vidrec pack a.csv --storage-timeout 5 -o x --isolated-worker"));
    }
}
