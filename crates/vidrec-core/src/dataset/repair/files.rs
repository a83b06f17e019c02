//! Finds the files of a data set that may be damaged.

use std::collections::BTreeMap;
use std::path::Path;

use crate::dataset::listing::{self, Listing, ShardFiles};
use crate::dataset::{Io, Source};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME};
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name;
use vidrec_format::file_name::{FileKind, FileName};

/// The shards that the `dataset.json` of a folder lists. If it cannot be read, or does not fit the files, those whose files are
/// there, in order of their names. Adds what is wrong with the list to `damage`.
pub(super) fn find(folder: &Path, damage: &mut Vec<String>) -> Result<(Vec<ShardFiles>, Option<DatasetJson>)> {
    let of_shard = [FileKind::Records, FileKind::Index, FileKind::Tracks].map(Some);
    let there = listing::files_in(folder, |name| of_shard.contains(&name.kind()))?;
    if there.is_empty() {
        let e = Error::usage("this folder has no files of a data set").file(folder);
        return Err(e.expected(".rec or .vidx files"));
    }
    match listing::find(&folder.join(FILE_NAME), &Source::Local(Io::Map)) {
        Ok(Listing { shards, json: Some((_, json)) }) => {
            let mut unlisted = there.iter().filter(|name| !json.lists(name)).peekable();
            if unlisted.peek().is_none() || json.file_names().all(|name| folder.join(name).exists()) {
                let unused = unlisted.filter(|name| name.kind() != Some(FileKind::Tracks));
                damage.extend(unused.map(|name| format!("{name}: not used, because {FILE_NAME} does not list it")));
                return Ok((shards, Some(json)));
            }
            damage.push(format!("{FILE_NAME} does not list the files that are here"));
            Ok((by_name(folder, &there)?, Some(json)))
        }
        Ok(_) => Err(Error::internal("a list of no data set")),
        Err(e) => {
            damage.push(format!("{FILE_NAME} cannot be used: {e:#}"));
            Ok((by_name(folder, &there)?, None))
        }
    }
}

/// The files of each shard, which have the same name without the digits of their digests.
fn by_name(folder: &Path, there: &[FileName]) -> Result<Vec<ShardFiles>> {
    let mut shards: BTreeMap<&str, Vec<&FileName>> = BTreeMap::new();
    there.iter().for_each(|name| shards.entry(file_name::stem(name)).or_default().push(name));
    let shard = |(stem, names): (&str, Vec<&FileName>)| {
        let only = |kind| match &names.iter().filter(|name| name.kind() == Some(kind)).collect::<Vec<_>>()[..] {
            [first, second, ..] => {
                let e = Error::usage(format!("without {FILE_NAME}, only one of these files can be used")).file(folder);
                Err(e.found(format!("{first} and {second}")).help("move the one away that does not belong here"))
            }
            found => Ok(found.first().map(|name| folder.join(name))),
        };
        let index = only(FileKind::Index)?.unwrap_or_else(|| folder.join(format!("{stem}.vidx")));
        Ok(ShardFiles { index, record: only(FileKind::Records)?, tracks: only(FileKind::Tracks)?, listed: None })
    };
    shards.into_iter().map(shard).collect()
}
