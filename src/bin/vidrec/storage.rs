//! How commands read data sets in object storage and on web servers, and which paths must be on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use vidrec::{Dataset, OpenOptions, Storage};

/// Heading of these options.
pub const HEADING: &str = "Object storage (s3://, gs://, az://) and web servers (https://)";

/// What the storage is told.
#[derive(clap::Args)]
struct OptionArgs {
    /// An option of the storage, such as region=eu-west-1. May be given several times.
    ///
    /// The names are those of object_store, as in pandas and polars: region, endpoint, skip_signature and so on. An option
    /// comes before the environment and the files of each cloud's own tools. Secrets belong there, because other users of
    /// this machine can see a command line.
    #[arg(long, value_name = "KEY=VALUE", help_heading = HEADING)]
    storage: Vec<String>,
}

impl OptionArgs {
    fn read(&self) -> Result<BTreeMap<String, String>, String> {
        self.storage.iter().map(|text| pair(text)).collect()
    }
}

/// How a remote data set is read, and an output written there. Local ones ignore it.
#[derive(clap::Args)]
pub struct StorageArgs {
    #[command(flatten)]
    options: OptionArgs,
    /// Keep what is read in this folder on local disk, for later runs and other processes. [default: keep nothing]
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    cache: Option<PathBuf>,
    /// The most bytes that the cache may hold, such as 200GB. [default: what is free on its disk, less a tenth of the disk]
    #[arg(long, value_name = "SIZE", requires = "cache", help_heading = HEADING, value_parser = vidrec::parse_bytes)]
    cache_bytes: Option<u64>,
    /// How long a read or write may take, with all tries.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, help_heading = HEADING, value_parser = parse_timeout)]
    timeout: f64,
}

/// How a remote location is written to, or asked about, by a command that reads no data set.
#[derive(clap::Args)]
pub struct OutputStorageArgs {
    #[command(flatten)]
    options: OptionArgs,
    /// How long a request may take, with all tries.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, help_heading = HEADING, value_parser = parse_timeout)]
    timeout: f64,
}

impl OutputStorageArgs {
    /// What the library takes.
    pub fn storage(&self) -> Result<Storage, String> {
        let timeout = Duration::from_secs_f64(self.timeout);
        Ok(Storage { options: self.options.read()?, timeout, ..Storage::default() })
    }
}

/// How remote videos are read, and an output written there.
#[derive(clap::Args)]
pub struct VideoStorageArgs {
    #[command(flatten)]
    options: OptionArgs,
    /// How long a read may take, with all tries. Then the run stops, and can be resumed.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, help_heading = HEADING, value_parser = parse_timeout)]
    storage_timeout: f64,
}

impl VideoStorageArgs {
    /// What the library takes.
    pub fn storage(&self) -> Result<Storage, String> {
        let options = self.options.read()?;
        Ok(Storage { options, timeout: Duration::from_secs_f64(self.storage_timeout), ..Storage::default() })
    }
}

/// The memory for records of a loader. Local data sets ignore it.
#[derive(clap::Args)]
pub struct MemoryArgs {
    /// The most bytes of records that the loader holds in memory ahead of their use, such as 512MiB. [default: 2GiB]
    #[arg(long, value_name = "SIZE", help_heading = HEADING, value_parser = vidrec::parse_bytes)]
    memory_bytes: Option<u64>,
}

impl StorageArgs {
    /// What the library takes.
    pub fn storage(&self) -> Result<Storage, String> {
        Ok(Storage {
            options: self.options.read()?,
            cache: self.cache.clone(),
            cache_bytes: self.cache_bytes,
            timeout: Duration::from_secs_f64(self.timeout),
            ..Storage::default()
        })
    }

    /// The same for a command that has a loader.
    pub fn with_memory(&self, memory: &MemoryArgs) -> Result<Storage, String> {
        let storage = self.storage()?;
        let memory_bytes = memory.memory_bytes.unwrap_or(storage.memory_bytes);
        Ok(Storage { memory_bytes, ..storage })
    }

    /// Opens a data set, wherever it is.
    pub fn open(&self, location: &Path) -> Result<Dataset, Box<dyn std::error::Error>> {
        Ok(Dataset::open_with(location, OpenOptions::from(self.storage()?))?)
    }
}

/// `KEY=VALUE`. What is wrong is said without the text, which may be a secret.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("--storage takes KEY=VALUE, such as region=eu-west-1".into()),
    }
}

fn parse_timeout(text: &str) -> Result<f64, String> {
    let is_time = |seconds: &f64| *seconds > 0.0 && *seconds <= 1e6;
    text.parse().ok().filter(is_time).ok_or_else(|| "expected seconds, more than 0 and at most a million".into())
}

/// The path of an output that is no data set.
pub fn local(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if vidrec::is_remote(&path) {
        return Err("vidrec writes this to local folders only; copy the result afterward".into());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_pairs_and_what_is_none_is_not_repeated() {
        assert_eq!(pair("key=a=b"), Ok(("key".into(), "a=b".into())));
        for wrong in ["hunter2", "=hunter2"] {
            assert!(pair(wrong).is_err_and(|e| !e.contains("hunter2")));
        }
        assert!(parse_timeout("0").is_err() && parse_timeout("-1").is_err() && parse_timeout("nan").is_err());
        assert_eq!(parse_timeout("0.5"), Ok(0.5));
    }
}
