//! A file of a data set, and what proves that a copy of it is whole.

use std::path::{Path, PathBuf};

use crate::dataset::{Index, proven_bytes};
use crate::disk::map::MappedFile;
use crate::format::data_binding::hex;
use crate::format::dataset_json::{DatasetJson, ShardJson};
use crate::format::names;
use crate::{Error, Result};

/// A file to fetch.
#[derive(Debug)]
pub(crate) struct Item {
    /// Where it is.
    pub location: PathBuf,
    /// Its name in the folder of the copy.
    pub name: String,
    /// Its length, if `dataset.json` says it.
    pub length: Option<u64>,
    is_records: bool,
    proof: Proof,
}

/// What `dataset.json` says of the contents of a file.
#[derive(Debug)]
enum Proof {
    Sha256(String),
    /// The index of this shard.
    IndexOf(ShardJson),
}

/// The files that a `dataset.json` at `listing` lists.
pub(crate) fn items(listing: &Path, json: &DatasetJson) -> Vec<Item> {
    let item = |name: &str, length, proof| {
        let location = listing.with_file_name(name);
        Item { location, name: name.to_owned(), length, is_records: false, proof }
    };
    let of_shard = |shard: &ShardJson| {
        let record = item(&shard.record_file, Some(shard.bytes), Proof::Sha256(shard.sha256.clone()));
        let record = Item { is_records: true, ..record };
        let listed = shard.track_file.as_ref();
        let tracks = listed.map(|t| item(&t.file, Some(t.bytes), Proof::Sha256(t.sha256.clone())));
        [record, item(&shard.index_file, None, Proof::IndexOf(shard.clone()))].into_iter().chain(tracks)
    };
    let failures = json.failures.iter().map(|f| item(&f.file, None, Proof::Sha256(f.sha256.clone())));
    json.shards.iter().flat_map(of_shard).chain(failures).collect()
}

impl Item {
    /// Whether this is a record file, whose bytes count as progress.
    pub fn is_records(&self) -> bool {
        self.is_records
    }

    /// Whether its name has digits of its digest, as far as `dataset.json` says that.
    pub fn has_digits(&self) -> bool {
        let (stem, ending) = self.name.rsplit_once('.').unwrap_or((&self.name, ""));
        match (&self.proof, stem.strip_prefix(names::stem(&self.name)).and_then(|rest| rest.strip_prefix('-'))) {
            (_, None) => false,
            (Proof::Sha256(sha256), Some(digits)) => !ending.is_empty() && sha256.starts_with(digits),
            (Proof::IndexOf(_), Some(_)) => true,
        }
    }

    /// Compares a length in bytes with the listed one.
    pub fn prove_length(&self, found: u64) -> Result<()> {
        let listed = self.length.unwrap_or(found);
        same("fetch-digest", "length", &listed.to_string(), &found.to_string()).map_err(|e| e.file(&self.location))
    }

    /// Proves that the file at `copy`, whose bytes have the digest `sha256`, is the listed one.
    pub fn prove(&self, copy: &Path, sha256: [u8; 32]) -> Result<()> {
        let proven = match &self.proof {
            Proof::Sha256(listed) => same("fetch-digest", "SHA-256", listed, &hex(&sha256)),
            Proof::IndexOf(shard) => self.prove_index(copy, shard, sha256),
        };
        proven.map_err(|e| e.file(&self.location))
    }

    fn prove_index(&self, copy: &Path, shard: &ShardJson, sha256: [u8; 32]) -> Result<()> {
        // Names of earlier versions have no digits of the digest.
        let stem = names::stem(&self.name);
        if self.name.strip_suffix(".vidx") != Some(stem) {
            same("fetch-digest", "name", &self.name, &names::with_digest(stem, &sha256, "vidx"))?;
        }
        let map = MappedFile::open(copy)?;
        let index = Index::prove(&map[..])?;
        index.sections.iter().try_for_each(|section| proven_bytes(&map[..], section).map(drop))?;
        if let Some(listed) = shard.index_crc32 {
            same("fetch-digest", "CRC-32", &format!("{listed:#010x}"), &format!("{:#010x}", index.header_crc32))?;
        }
        same("fetch-digest", "SHA-256 of the record file", &shard.sha256, &hex(&index.binding.sha256))
    }
}

fn same(rule: &'static str, what: &str, listed: &str, found: &str) -> Result<()> {
    if listed == found {
        return Ok(());
    }
    Err(Error::format(rule, "the file is not the one that dataset.json lists")
        .expected(format!("{what} {listed}"))
        .found(found))
}
