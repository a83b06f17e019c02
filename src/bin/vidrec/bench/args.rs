//! The options of `vidrec bench`.

use std::path::PathBuf;

use vidrec::OpenOptions;

use super::loading::Loading;
use crate::storage::{MemoryArgs, StorageArgs, local};

/// Measure the loader on a data set: shuffled batches, as a training loop takes them.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    pub dataset: PathBuf,
    #[command(flatten)]
    pub loading: Loading,
    /// What batches hold.
    #[arg(long, value_enum, default_value_t)]
    pub output: Output,
    /// Threads that decode. [default: one for each core, up to 8]
    #[arg(long, value_parser = crate::threads::parse)]
    pub threads: Option<usize>,
    /// How long to measure, after a second of warming up.
    #[arg(long, default_value_t = 5.0, value_parser = parse_seconds)]
    pub seconds: f64,
    /// Measure this many epochs, however long they take.
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    pub epochs: Option<u64>,
    /// Begin with the files out of the system's cache, and without warming up; --epochs 1 reads each clip but once.
    ///
    /// Of a remote data set, begin with nothing in memory and nothing in --cache, which must be empty. What the server has
    /// in its own caches stays there.
    #[arg(long)]
    pub cold: bool,
    /// Write a JSON line for each batch: when it came, how long it was waited for, how many were ready.
    #[arg(long, value_name = "FILE", value_parser = local)]
    pub trace: Option<PathBuf>,
    /// Measure with several numbers of threads and say which is best.
    #[arg(long, conflicts_with_all = ["threads", "trace"])]
    pub tune: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: StorageArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// What batches hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Output {
    /// Decoded frames.
    #[default]
    Pictures,
    /// The frames' JPEGs, for a decoder on a GPU.
    Jpeg,
}

impl Args {
    /// How the data set is opened.
    pub fn open_options(&self) -> Result<OpenOptions, String> {
        let mut options = OpenOptions::from(self.storage.with_memory(&self.memory)?);
        options.io = self.loading.io();
        Ok(options)
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|s| (0.0..=86_400.0).contains(s)).ok_or_else(|| "expected 0 to 86400 seconds".into())
}
