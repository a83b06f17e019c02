//! The options of `vidrec pack` that say how it is done, and with how much of the machine.

use std::ffi::OsString;

use crate::cli::ProgressArgs;
use crate::cli::arguments::words;
use crate::pack::arguments::number_of;
use crate::pack::{IfExists, PackOptions, Resources, RunOptions};

#[derive(clap::Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// The action if OUTPUT has a data set or an interrupted pack.
    ///
    /// resume: continue the pack, if inputs and options are the same. retry-failed: pack the shards again that have videos
    /// which failed. replace: replace the data set when the new one is complete.
    #[arg(long, value_name = "HOW", default_value_t, value_parser = words::<IfExists>())]
    pub if_exists: IfExists,
    /// Videos to decode at a time. [default: one for each core]
    #[arg(short = 'j', long, value_name = "N", value_parser = number_of::<usize>("threads"))]
    threads: Option<usize>,
    /// Memory for all videos that are decoded at a time and for JPEGs that wait to be written, such as 2GiB. A video that
    /// needs more is decoded alone. [default: 480MiB for each thread]
    #[arg(long, value_name = "BYTES", hide_short_help = true, value_parser = crate::parse_bytes)]
    memory: Option<u64>,
    /// Decode in this process. By default, each thread has a process that decodes for it and can do nothing else: no video,
    /// however hostile, reaches your files, your network or the other videos, and a codec that crashes or hangs costs one
    /// video. The bytes are the same.
    #[arg(long, hide_short_help = true)]
    pub no_isolate: bool,
    #[command(flatten)]
    pub progress: ProgressArgs,
    /// Be a process that decodes, with these options.
    #[arg(long, hide = true, value_name = "OPTIONS")]
    pub isolated_worker: Option<String>,
}

impl RunArgs {
    pub fn run(&self) -> RunOptions {
        RunOptions { if_exists: self.if_exists, ..RunOptions::default() }
    }

    pub fn resources(&self) -> Resources {
        Resources { threads: self.threads, memory: self.memory, isolate: None }
    }
}

/// The command that starts a process that decodes.
pub fn worker_command(mut start: Vec<OsString>, options: &PackOptions) -> crate::Result<Vec<OsString>> {
    start.extend(["pack".into(), "--isolated-worker".into(), options.to_json()?.into()]);
    Ok(start)
}
