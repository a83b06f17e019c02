//! The options with which commands read and write data sets in object storage and on web servers, and which paths must be on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::{Failure, ProgressArgs, output};
use crate::{Dataset, OpenOptions, PushOptions, Storage};

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
        Ok(Storage { options, timeout, ..Storage::default() })
    }

    /// An output, wherever it is to be.
    pub fn output(&self, path: &Path, overwrite: bool, progress: ProgressArgs) -> Result<Output, String> {
        let options = PushOptions { storage: self.storage()?, overwrite, scratch: None };
        Ok(Output { path: path.to_owned(), options, progress })
    }
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

impl StorageArgs {
    /// An output, wherever it is to be.
    pub fn output(&self, path: &Path, overwrite: bool, progress: ProgressArgs) -> Result<Output, String> {
        let mut output = self.options.output(path, overwrite, progress)?;
        output.options.storage = self.storage()?;
        Ok(output)
    }

    /// The options for the library.
    pub fn storage(&self) -> Result<Storage, String> {
        Ok(Storage { cache: self.cache.clone(), cache_bytes: self.cache_bytes, ..self.options.storage()? })
    }

    /// Opens a data set, wherever it is.
    pub fn open(&self, location: &Path) -> Result<Dataset, Failure> {
        Ok(Dataset::open_with(location, OpenOptions::from(self.storage()?))?)
    }
}

/// An output, and what becomes of one that is there.
pub struct Output {
    path: PathBuf,
    options: PushOptions,
    /// Options of how the progress of an upload is shown.
    progress: ProgressArgs,
}

impl Output {
    /// Makes a data set, wherever it is to be. `write` gets the folder to make it in, and whether to replace one there.
    pub fn write<T>(self, write: impl FnOnce(&Path, bool) -> crate::Result<T>) -> Result<T, Failure> {
        if !crate::is_remote(&self.path) {
            return Ok(write(&self.path, self.options.overwrite)?);
        }
        // The scratch folder holds only files of earlier runs.
        let write = |folder: &Path| write(folder, true);
        let (written, pushed) = crate::write_remote(&self.path, &self.options, write, &mut self.progress.of_upload())?;
        // What could not be done after the output was there.
        pushed.notes.iter().for_each(output::tell);
        Ok(written)
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
