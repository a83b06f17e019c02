//! A file of a data set, and the proof that a copy of it is whole.

use std::path::{Path, PathBuf};

use crate::dataset::{Index, proven_bytes};
use crate::store::disk::map::MappedFile;
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::{DatasetJson, FailuresJson, ShardJson};
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::limits;
use vidrec_format::{clip_entry, file_name, frame_entry};

/// A file to fetch.
#[derive(Debug)]
pub(crate) struct Item {
    /// Its remote location.
    pub location: PathBuf,
    /// Its name in the folder of the copy.
    pub name: FileName,
    /// Its length, if `dataset.json` tells it.
    pub length: Option<u64>,
    /// The most bytes that it can have.
    pub most: u64,
    is_records: bool,
    proof: Proof,
}

/// The contents of a file, as `dataset.json` describes them.
#[derive(Debug)]
enum Proof {
    Sha256(String),
    /// The index of this shard.
    IndexOf(ShardJson),
}

/// The files that the `dataset.json` at `listing` lists.
pub(crate) fn items(listing: &Path, json: &DatasetJson) -> Vec<Item> {
    let item = |name: &FileName, length: Option<u64>, most, proof| {
        let location = listing.with_file_name(name);
        Item { location, name: name.clone(), length, most: length.unwrap_or(most), is_records: false, proof }
    };
    let of_shard = |shard: &ShardJson| {
        let record = item(&shard.record_file, Some(shard.bytes), shard.bytes, Proof::Sha256(shard.sha256.clone()));
        let record = Item { is_records: true, ..record };
        let listed = shard.track_file.as_ref();
        let tracks = listed.map(|t| item(&t.file, Some(t.bytes), t.bytes, Proof::Sha256(t.sha256.clone())));
        let index = item(&shard.index_file, None, most_of_index(shard), Proof::IndexOf(shard.clone()));
        [record, index].into_iter().chain(tracks)
    };
    let failures =
        json.failures.iter().map(|f| item(&f.file, None, most_of_failures(f), Proof::Sha256(f.sha256.clone())));
    json.shards.iter().flat_map(of_shard).chain(failures).collect()
}

/// The most bytes that the index of a shard can need: its tables, their texts, and the small sections.
fn most_of_index(shard: &ShardJson) -> u64 {
    let of_clip = clip_entry::BYTES as u64 + limits::MAX_CLIP_TEXT_BYTES;
    let tables = shard.frames.saturating_mul(frame_entry::BYTES as u64);
    tables.saturating_add(shard.clips.saturating_mul(of_clip)).saturating_add(2 * limits::MAX_META_BYTES)
}

/// The most bytes that a list of failures can need.
fn most_of_failures(listed: &FailuresJson) -> u64 {
    listed.count.saturating_mul(limits::MAX_FAILURE_BYTES).min(limits::MAX_SMALL_OBJECT_BYTES)
}

impl Item {
    /// Whether this is a record file, whose bytes count as progress.
    pub fn is_records(&self) -> bool {
        self.is_records
    }

    /// Whether its name contains digits of its digest, as far as `dataset.json` tells.
    pub fn has_digits(&self) -> bool {
        let (stem, ending) = self.name.rsplit_once('.').unwrap_or((&self.name, ""));
        match (&self.proof, stem.strip_prefix(file_name::stem(&self.name)).and_then(|rest| rest.strip_prefix('-'))) {
            (_, None) => false,
            (Proof::Sha256(sha256), Some(digits)) => !ending.is_empty() && sha256.starts_with(digits),
            (Proof::IndexOf(_), Some(_)) => true,
        }
    }

    /// Refuses a length in bytes that is not the listed one, or that is impossible for a file with this description
    /// in `dataset.json`.
    pub fn check_length(&self, found: u64) -> Result<()> {
        let (e, expected) = match self.length {
            Some(listed) if listed != found => {
                let e = Error::format("data-length", "the file is not the one that dataset.json lists");
                (e, format!("{listed} bytes"))
            }
            None if found > self.most => {
                let e = Error::limit("the file is too long for the clips that dataset.json lists");
                (e, format!("at most {} bytes", self.most))
            }
            _ => return Ok(()),
        };
        Err(e.file(&self.location).expected(expected).found(format!("{found} bytes")))
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
        // File names of earlier versions have no digits of the digest.
        let stem = file_name::stem(&self.name);
        if self.name.strip_suffix(".vidx") != Some(stem) {
            same("fetch-digest", "name", &self.name, &file_name::with_digest(stem, &sha256, "vidx"))?;
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
