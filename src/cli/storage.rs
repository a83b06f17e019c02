//! How commands read data sets in object storage and on web servers, and which paths must be on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Dataset, OpenOptions, Storage};

/// Heading of these options.
pub const HEADING: &str =
    "Object storage (s3://, gs://, az://), the Hugging Face Hub (hf://) and web servers (https://)";

/// The time that a read or write may take, with all tries, if `timeout` is not given.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Options of reading and writing a remote location.
#[derive(clap::Args)]
pub struct RemoteStorageArgs {
    /// An option of the storage, such as region=eu-west-1. May be given several times.
    ///
    /// timeout=30: seconds that a read or write may take, with all tries; 60 if not given. conditional_put=disabled: for
    /// stores that do not write objects on conditions (If-None-Match), by which vidrec keeps publishers apart; nobody else
    /// may then publish at the same location at the same time.
    ///
    /// All other names are those of object_store, as in pandas and polars: region, endpoint, skip_signature and so on. An
    /// option comes before the environment and the files of each cloud's own tools. Secrets belong there, because other
    /// users of this machine can see a command line.
    #[arg(long, value_name = "KEY=VALUE", help_heading = HEADING, hide_short_help = true)]
    storage: Vec<String>,
}

impl RemoteStorageArgs {
    /// The options for the library.
    pub fn storage(&self) -> Result<Storage, String> {
        let mut options: BTreeMap<String, String> =
            self.storage.iter().map(|text| pair(text)).collect::<Result<_, _>>()?;
        let timeout = options.remove("timeout").map_or(Ok(TIMEOUT), |text| parse_timeout(&text))?;
        options.retain(|name, value| !is_only_publisher(name, value));
        Ok(Storage { options, timeout, ..Storage::default() })
    }

    /// Whether nobody else publishes there.
    pub fn only_publisher(&self) -> bool {
        self.storage.iter().filter_map(|text| text.split_once('=')).any(|(name, value)| is_only_publisher(name, value))
    }
}

/// Whether an option says that the store does not write on conditions, so that nobody else may publish there.
fn is_only_publisher(name: &str, value: &str) -> bool {
    name == "conditional_put" && value == "disabled"
}

/// Options of reading a remote data set and of writing a remote output. Local ones ignore them.
#[derive(clap::Args)]
pub struct StorageArgs {
    #[command(flatten)]
    options: RemoteStorageArgs,
    /// Keep what is read in this folder on local disk, for later runs and other processes. [default: keep nothing on disk]
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    cache: Option<PathBuf>,
    /// The most bytes that the cache may hold, such as 200GB. [default: what is free on its disk, less a tenth of the disk]
    #[arg(long, value_name = "SIZE", requires = "cache", help_heading = HEADING, value_parser = crate::parse_bytes)]
    cache_bytes: Option<u64>,
}

/// The memory for bytes of objects. Local data sets ignore it.
#[derive(clap::Args)]
pub struct MemoryArgs {
    /// The most bytes of objects to hold in memory, such as 512MiB: those that were used last, and in up to three eighths of
    /// it those that the loader needs next. Two batches always fit. [default: 2GiB]
    #[arg(long, value_name = "SIZE", help_heading = HEADING, value_parser = crate::parse_bytes)]
    memory_bytes: Option<u64>,
}

impl StorageArgs {
    /// Whether nobody else publishes there.
    pub fn only_publisher(&self) -> bool {
        self.options.only_publisher()
    }

    /// The options for the library.
    pub fn storage(&self) -> Result<Storage, String> {
        Ok(Storage { cache: self.cache.clone(), cache_bytes: self.cache_bytes, ..self.options.storage()? })
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

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let is_time = |seconds: &f64| *seconds > 0.0 && *seconds <= 1e6;
    let seconds = text.parse().ok().filter(is_time).map(Duration::from_secs_f64);
    seconds.ok_or_else(|| format!("--storage timeout={text}: expected seconds, more than 0 and at most a million"))
}

/// The path of an output that is no data set.
pub fn local(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if crate::is_remote(&path) {
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
        assert_eq!(parse_timeout("0.5"), Ok(Duration::from_millis(500)));
    }
}
