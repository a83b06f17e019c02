//! From temporary files to a data set: a short list of steps that may be done again from the start at any time.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Result, atomic_file};

/// What is left to do when all shards are on the disk under their temporary names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Publication {
    /// Files of the data set that is replaced, to be removed first.
    remove: Vec<String>,
    /// Files that get their names, in this order.
    rename: Vec<String>,
    /// Small files, with their text.
    write: Vec<(String, String)>,
}

impl Publication {
    pub fn new(remove: Vec<String>, rename: Vec<String>) -> Self {
        Publication { remove, rename, write: Vec::new() }
    }

    /// Adds a small file, to be written after those added before.
    pub fn write(&mut self, name: &str, text: String) {
        self.write.push((name.to_owned(), text));
    }

    /// Adds a small file, to be written before those added so far.
    #[cfg(feature = "pack")]
    pub fn write_first(&mut self, name: &str, text: String) {
        self.write.insert(0, (name.to_owned(), text));
    }

    /// Does the steps; those that an earlier call did are passed over.
    pub fn run(&self, dir: &Path) -> Result<()> {
        self.remove.iter().try_for_each(|name| atomic_file::remove(&dir.join(name)))?;
        self.rename.iter().try_for_each(|name| atomic_file::publish(&dir.join(name)))?;
        for (name, text) in &self.write {
            atomic_file::write_file(&dir.join(name), text.as_bytes())?;
        }
        atomic_file::sync_folder(dir)
    }
}
