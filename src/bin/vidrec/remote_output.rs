//! Outputs of commands that are to be in object storage.

use std::error::Error;
use std::path::{Path, PathBuf};

use vidrec::Storage;
use vidrec::{PushReport, RemoteOutput};

use crate::output;
use crate::storage::HEADING;
use crate::watch;

/// How an output is written that is in object storage.
#[derive(clap::Args)]
pub struct RemoteArgs {
    /// Where OUTPUT is in object storage: make the data set in a folder in DIR first, which needs room for all of it. The
    /// folder is removed when the data set is there. After an interruption, the same command continues with it.
    /// [default: $TMPDIR, or else $XDG_CACHE_HOME/vidrec or ~/.cache/vidrec]
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    publisher: PublisherArgs,
}

/// Whether others publish.
#[derive(clap::Args)]
pub struct PublisherArgs {
    /// Nobody else publishes at the same location at the same time. For stores that do not write objects on conditions
    /// (If-None-Match), by which vidrec otherwise keeps publishers apart.
    #[arg(long, help_heading = HEADING)]
    pub only_publisher: bool,
}

/// An output, and what becomes of one that is there.
pub struct Output<'a> {
    pub path: &'a Path,
    pub storage: Storage,
    /// Replace a data set that is already there.
    pub force: bool,
}

impl RemoteArgs {
    /// Makes a data set, wherever it is to be. `write` gets the folder to make it in, and whether to replace one there.
    pub fn write<T>(
        &self,
        output: Output<'_>,
        write: impl FnOnce(&Path, bool) -> vidrec::Result<T>,
    ) -> Result<T, Box<dyn Error>> {
        if !vidrec::is_remote(output.path) {
            self.check_local()?;
            return Ok(write(output.path, output.force)?);
        }
        let options = self.options(&output);
        // What an earlier run left in the scratch folder is ours.
        let write = |folder: &Path| write(folder, true);
        let (written, pushed) = vidrec::write_remote(output.path, &options, write, &mut watch::of_bytes())?;
        tell(&pushed);
        Ok(written)
    }

    /// The same for several data sets, in folders of OUTPUT.
    pub fn write_parts<T>(
        &self,
        output: Output<'_>,
        write: impl FnOnce(&Path, bool) -> vidrec::Result<T>,
    ) -> Result<T, Box<dyn Error>> {
        if !vidrec::is_remote(output.path) {
            self.check_local()?;
            return Ok(write(output.path, output.force)?);
        }
        let options = self.options(&output);
        let write = |folder: &Path| write(folder, true);
        let (written, pushed) = vidrec::write_remote_parts(output.path, &options, write, &mut watch::of_bytes())?;
        pushed.iter().for_each(tell);
        Ok(written)
    }

    /// The folder of this machine in which an output in object storage is made first.
    pub fn scratch_folder(&self) -> PathBuf {
        let mut how = RemoteOutput::default();
        how.scratch = self.scratch.clone();
        how.scratch_folder()
    }

    /// The scratch folder that was given.
    pub fn scratch(&self) -> Option<&Path> {
        self.scratch.as_deref()
    }

    /// Whether nobody else publishes.
    pub fn only_publisher(&self) -> bool {
        self.publisher.only_publisher
    }

    fn options(&self, output: &Output<'_>) -> RemoteOutput {
        let mut options = RemoteOutput::default();
        options.storage = output.storage.clone();
        options.scratch = self.scratch.clone();
        options.overwrite = output.force;
        options.only_publisher = self.publisher.only_publisher;
        options
    }

    fn check_local(&self) -> Result<(), String> {
        match (&self.scratch, self.publisher.only_publisher) {
            (None, false) => Ok(()),
            (Some(_), _) => Err("--scratch needs an output in object storage, such as s3://bucket/train".into()),
            (None, true) => Err("--only-publisher needs an output in object storage, such as s3://bucket/train".into()),
        }
    }
}

/// Says on standard error what could not be done after the output was there.
pub fn tell(pushed: &PushReport) {
    pushed.notes.iter().for_each(output::tell);
}
