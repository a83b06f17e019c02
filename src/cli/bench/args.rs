//! The options of `vidrec bench`.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::{Io, LoaderOptions, OpenOptions};

use crate::cli::arguments::words;
use crate::cli::storage::{HEADING, StorageArgs};

/// The loader that is measured if no options are named.
const USUAL: [&str; 5] =
    [r#"crop={"RandomResizedCrop": {"size": 224}}"#, "flip=0.5", "shuffle=true", "dtype=float32", "normalize=imagenet"];

/// The options of the loader that errors name.
pub const LOADER: [&str; 7] = ["batch_size", "batching", "decoded_cache", "frames", "normalize", "order", "tracks"];

/// Measure the loader on a data set, without a training step.
///
/// Options of the loader have Python's names, and values in JSON: `vidrec bench train batch_size=32 frames=8 crop=112`. A class
/// is an object with its name: `'crop={"RandomResizedCrop": {"size": 112}}'`. One JSON object with all options is taken, too.
/// Options that are not given have Python's defaults; only if none are given, the batches are those of a usual training loop.
/// `device=cuda` measures batches that a GPU makes, with the program of the Python package.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    pub dataset: PathBuf,
    /// Options of the loader, with values in JSON.
    #[arg(value_name = "NAME=VALUE", default_values = USUAL)]
    loader: Vec<String>,
    /// The way to read local files.
    #[arg(long, default_value_t, value_parser = words::<Io>())]
    io: Io,
    /// The seconds to measure, after a second of warming up.
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
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: StorageArgs,
    /// The most bytes of objects to hold in memory, such as 512MiB: those that were used last, and in up to three eighths of
    /// it those that the loader needs next. Two batches always fit. [default: 2GiB]
    #[arg(long, value_name = "SIZE", help_heading = HEADING, value_parser = crate::parse_bytes)]
    memory_bytes: Option<u64>,
}

impl Args {
    /// Returns the options for opening the data set.
    pub fn open_options(&self) -> Result<OpenOptions, String> {
        let mut storage = self.storage.storage()?;
        self.memory_bytes.iter().for_each(|bytes| storage.memory_bytes = *bytes);
        let mut options = OpenOptions::from(storage);
        options.io = self.io;
        Ok(options)
    }

    /// The options of the loader.
    pub fn loader_options(&self) -> crate::Result<LoaderOptions> {
        if self.loader.iter().any(|option| option.starts_with("device=")) {
            let e = crate::Error::usage("loader option device: its kernels are in the Python package");
            return Err(e.help("install it with: pip install 'vidrec[gpu]'; its program measures them"));
        }
        let mut options = Map::new();
        for text in &self.loader {
            let given = match (serde_json::from_str(text), text.split_once('=')) {
                (Ok(Value::Object(given)), _) => given,
                (_, Some((name, value))) => {
                    // A word needs no quotes.
                    Map::from_iter([(name.into(), serde_json::from_str(value).unwrap_or_else(|_| value.into()))])
                }
                _ => return Err(wrong(text).expected("NAME=VALUE, such as frames=8")),
            };
            for (name, value) in given {
                // The error of all options together would not say which one is wrong.
                if let Err(e) = serde_json::from_value::<LoaderOptions>(json!({ &name: &value })) {
                    let e = wrong(format!("{name}: {e}"));
                    return Err(e.help(r#"give a class as an object: 'crop={"RandomResizedCrop": {"size": 112}}'"#));
                }
                if options.insert(name.clone(), value).is_some() {
                    return Err(wrong(format!("{name} is given twice")));
                }
            }
        }
        serde_json::from_value(options.into()).map_err(wrong)
    }
}

fn wrong(what: impl std::fmt::Display) -> crate::Error {
    crate::Error::usage(format!("loader options: {what}"))
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|s| (0.0..=86_400.0).contains(s)).ok_or_else(|| "expected 0 to 86400 seconds".into())
}
