//! Files of version 2 with a JSON object on each line.

use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;

use vidrec_core::store::disk::regular_file::{Links, open_regular};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// Reads the objects of all lines.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let mut text = String::new();
    let read = open_regular(path, Links::Follow)?.read_to_string(&mut text);
    read.map_err(|e| Error::io("read the data set", path, e))?;
    let mut objects = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if objects.len() as u64 == limits::MAX_ORDINALS {
            return Err(Error::limit("there are too many lines").file(path).expected(limits::MAX_ORDINALS));
        }
        let object = serde_json::from_str(line);
        objects.push(object.map_err(|e| Error::usage(format!("line {}: {e}", i + 1)).file(path))?);
    }
    Ok(objects)
}
