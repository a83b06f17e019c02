//! A file of a data set, and the proof that a copy of it is whole.

use std::path::{Path, PathBuf};

use crate::dataset::{Index, proven_bytes};
use crate::store::disk::map::MappedFile;
use vidrec_format::data_binding::{from_hex, hex};
use vidrec_format::dataset_json::{DatasetJson, FailuresJson, ShardJson};
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::{FileKind, FileName};
use vidrec_format::{clip_entry, file_name, frame_entry, limits};

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
        Item { location, name: name.clone(), length, most, proof }
    };
    let of_length =
        |name: &FileName, length, sha256: &String| item(name, Some(length), length, Proof::Sha256(sha256.clone()));
    let of_shard = |shard: &ShardJson| {
        let record = of_length(&shard.record_file, shard.bytes, &shard.sha256);
        let tracks = shard.track_file.as_ref().map(|t| of_length(&t.file, t.bytes, &t.sha256));
        let index = item(&shard.index_file, None, most_of_index(shard), Proof::IndexOf(shard.clone()));
        [record, index].into_iter().chain(tracks)
    };
    let failures =
        json.failures.iter().map(|f| item(&f.file, None, most_of_failures(f), Proof::Sha256(f.sha256.clone())));
    let added = json.added_files.iter().map(|file| of_length(&file.file, file.bytes, &file.sha256));
    json.shards.iter().flat_map(of_shard).chain(failures).chain(added).collect()
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
        self.name.kind() == Some(FileKind::Records)
    }

    /// Whether its name contains digits of its digest, as far as `dataset.json` tells.
    pub fn has_digits(&self) -> bool {
        match &self.proof {
            Proof::Sha256(sha256) => from_hex(sha256).is_some_and(|sha256| self.name.has_digest(&sha256)),
            Proof::IndexOf(_) => file_name::has_digits(&self.name),
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
            Proof::Sha256(listed) => same("SHA-256", listed, &hex(&sha256)),
            Proof::IndexOf(shard) => self.prove_index(copy, shard, sha256),
        };
        proven.map_err(|e| e.file(&self.location))
    }

    fn prove_index(&self, copy: &Path, shard: &ShardJson, sha256: [u8; 32]) -> Result<()> {
        // File names of earlier versions have no digits of the digest.
        if file_name::has_digits(&self.name) {
            let named = FileName::with_digest(file_name::stem(&self.name), &sha256, FileKind::Index);
            same("name", &self.name, &named)?;
        }
        let map = MappedFile::open(copy)?;
        let index = Index::prove(&map[..])?;
        index.sections.iter().try_for_each(|section| proven_bytes(&map[..], section).map(drop))?;
        if let Some(listed) = shard.index_crc32 {
            same("CRC-32", &format!("{listed:#010x}"), &format!("{:#010x}", index.header_crc32))?;
        }
        same("SHA-256 of the record file", &shard.sha256, &hex(&index.binding.sha256))
    }
}

/// No rule of the format: a copy may be wrong although the files are right.
const RULE: &str = "fetch-digest";

fn same(what: &str, listed: &str, found: &str) -> Result<()> {
    if listed == found {
        return Ok(());
    }
    let e = Error::format(RULE, "the file is not the one that dataset.json lists");
    Err(e.expected(format!("{what} {listed}")).found(found))
}
