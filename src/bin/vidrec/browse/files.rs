//! What the server offers: the page, and the files of the data sets, each by a name in a fixed table.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use vidrec::{Dataset, Error, ShardFile};

use crate::outcome::Failure;

/// All that can be asked for.
pub struct Files(HashMap<String, Arc<File>>);

/// A file that can be asked for.
pub enum File {
    Bytes(Vec<u8>, &'static str),
    OfShard(ShardFile),
}

impl Files {
    /// The page is at the empty name, the files of data set N in a folder `N/`.
    pub fn new(page: String, sets: &[Dataset]) -> Result<Self, Failure> {
        let page = File::Bytes(page.into_bytes(), "text/html; charset=utf-8");
        let mut files = HashMap::from([(String::new(), Arc::new(page))]);
        for (number, set) in sets.iter().enumerate() {
            let listing = File::Bytes(serde_json::to_vec(&set.to_json())?, "application/json");
            files.insert(format!("{number}/dataset.json"), Arc::new(listing));
            for (name, file) in set.shard_files() {
                files.insert(format!("{number}/{}", &*name), Arc::new(File::OfShard(file)));
            }
        }
        Ok(Files(files))
    }

    pub fn get(&self, name: &str) -> Option<&Arc<File>> {
        self.0.get(name)
    }
}

impl File {
    /// The type of the contents.
    pub fn kind(&self) -> &'static str {
        if let File::Bytes(_, kind) = self { kind } else { "application/octet-stream" }
    }

    /// Its length. Opens the file.
    pub fn length(&self) -> Result<u64, Error> {
        match self {
            File::Bytes(bytes, _) => Ok(bytes.len() as u64),
            File::OfShard(file) => file.length(),
        }
    }

    /// A range of its bytes.
    pub fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        match self {
            File::Bytes(bytes, _) => {
                let part = bytes.get(range.start as usize..range.end as usize);
                part.map(<[u8]>::to_vec).ok_or_else(|| Error::internal("a range beyond a file"))
            }
            File::OfShard(file) => file.read(range),
        }
    }
}
