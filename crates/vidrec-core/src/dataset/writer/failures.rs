//! The list of skipped videos, which lies beside the shards.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::store::disk::{AtomicFile, Temporary};
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::FailuresJson;
use vidrec_format::error::Result;
use vidrec_format::file_name;
use vidrec_format::file_name::FileName;

/// The description of the list, which has `count` lines of JSON.
pub fn describe_failures(count: u64, lines: &str) -> FailuresJson {
    let sha256: [u8; 32] = Sha256::digest(lines).into();
    FailuresJson { file: FileName::of_failures(&sha256), count, sha256: hex(&sha256) }
}

/// Writes the list, which has `count` lines of JSON, under a temporary name in `dir`.
pub fn stage_failures(dir: &Path, count: u64, lines: &str) -> Result<(Temporary, FailuresJson)> {
    let mut file = AtomicFile::create(&dir.join(file_name::FAILURES))?;
    file.write_all(lines.as_bytes())?;
    file.sync()?;
    Ok((file.seal(), describe_failures(count, lines)))
}
