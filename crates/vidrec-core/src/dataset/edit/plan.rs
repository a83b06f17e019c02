//! The plan of an output: the clips of which data sets, in which order, and with which descriptions. And the options and
//! the report of an edit.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::meta::joined_meta;
use crate::dataset::writer::{ClipInfo, Sharding};
use crate::dataset::{Clip, Dataset, Shard, proven_bytes};
use crate::store::disk::folder_of;
use vidrec_format::{Error, JsonObject, Meta, Result, SectionId};

/// Options of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditOptions {
    /// The distribution of clips over shards. Default `None`: a shard ends where a shard of the input ends, but a few clips of
    /// each of many shards share one.
    pub shards: Option<Sharding>,
    /// Replace an existing data set. Off by default: an existing data set is an error.
    pub overwrite: bool,
}

/// The report of an edit. The program prints the same with `--json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EditReport {
    /// The folder of the output.
    pub output: String,
    /// Number of clips written.
    pub clips: u64,
    /// Number of frames written.
    pub frames: u64,
    /// Bytes of record and index files together.
    pub bytes: u64,
    /// Number of shards written.
    pub shards: u64,
    /// Clips of the inputs that are not in this output.
    pub left_out: u64,
    /// Names in a list or a table that the data set does not have, in the order of the list.
    pub not_found: Vec<String>,
    /// Other notes: settings that differ, parts that were not copied.
    pub notes: Vec<String>,
    /// Parts of a replaced data set that could not be cleaned up, in words. Usually empty. The output is complete,
    /// and the next write in its folder cleans up. If there are several outputs, the first report has it
    /// for all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

/// Returns the description in the output of a clip of the source at this position.
pub(super) type Describe<'a> = Box<dyn Fn(usize, &Clip<'_>) -> Result<ClipInfo> + 'a>;

/// An output before it is written.
pub(super) struct OutputPlan<'a> {
    pub meta: Meta,
    /// The data sets that clips come from.
    pub sources: Vec<Dataset>,
    pub describe: Describe<'a>,
    /// The position of the source and the ordinal there of each clip, in the order of the output. The draws of a video are
    /// complete and together.
    pub picks: Vec<(usize, u64)>,
    /// The number of consecutive picks that are draws of one video.
    pub draws: u64,
    /// Whether the clock of each clip begins at its first frame. If not, times are copied.
    pub align_clocks: bool,
    pub not_found: Vec<String>,
    pub notes: Vec<String>,
}

impl OutputPlan<'_> {
    /// Plans clips, unchanged, of `sets` from data set `first` on. Those before only grow by the output.
    pub fn new(sets: &[Dataset], first: usize, picks: Vec<(usize, u64)>) -> Result<Self> {
        let sources = sets[first..].to_vec();
        let mut notes: Vec<String> = joined_meta(sets)?.1.into_iter().collect();
        for set in &sources {
            notes.extend(not_copied(set)?);
        }
        notes.dedup();
        Ok(OutputPlan {
            meta: joined_meta(&sources)?.0,
            draws: draws_of(sets)?,
            sources,
            describe: Box::new(|_, clip| clip.info()),
            picks,
            align_clocks: false,
            not_found: Vec::new(),
            notes,
        })
    }

    /// Refuses an output that would replace its own input, also if the input consists of links to it.
    pub fn refuse_output(&self, out: &Path) -> Result<()> {
        // A folder that does not exist yet cannot be an input.
        let Ok(out_folder) = fs::canonicalize(out) else { return Ok(()) };
        for file in self.sources.iter().flat_map(Dataset::files) {
            let folders =
                [fs::canonicalize(folder_of(file)), fs::canonicalize(file).map(|file| folder_of(&file).to_owned())];
            if folders.into_iter().flatten().any(|folder| folder == out_folder) {
                return Err(Error::usage("the output is an input").file(out).help("choose another folder"));
            }
        }
        Ok(())
    }
}

/// Notes on the parts of indexes from other writers that vidrec does not know, and so does not copy.
fn not_copied(set: &Dataset) -> Result<Vec<String>> {
    let mut notes: Vec<String> = set.shards()?.into_iter().flat_map(unknown_parts).collect();
    notes.sort();
    notes.dedup();
    Ok(notes)
}

fn unknown_parts(shard: &Shard) -> Vec<String> {
    let sections = &shard.index.sections;
    let unknown = sections.iter().filter(|s| !SectionId::ALL.contains(&s.id)).map(|s| format!("section {:?}", s.id));
    let meta = sections.iter().find(|s| s.id == SectionId::META);
    let bytes = meta.and_then(|s| proven_bytes(&*shard.index_bytes, s).ok());
    let stored: JsonObject = bytes.and_then(|b| serde_json::from_slice(b).ok()).unwrap_or_default();
    let known = serde_json::to_value(&shard.index.meta).unwrap_or_default();
    let keys = stored.0.iter().filter(|(key, value)| known.get(key.as_str()).is_none() && !value.is_null());
    let unknown = unknown.chain(keys.map(|(key, _)| format!("key \"{key}\" of META")));
    unknown.map(|part| format!("{part} is unknown to this vidrec, so it is not copied")).collect()
}

/// The number of consecutive clips that are draws of one video.
pub(crate) fn draws_per_video(meta: &Meta) -> u64 {
    meta.draws.unwrap_or(1).max(1).into()
}

/// The draws of each video of some data sets, which must be complete, side by side, and as many in each data set.
fn draws_of(sets: &[Dataset]) -> Result<u64> {
    let mut draws = None;
    for set in sets {
        let of_set = set.meta().map_or(1, draws_per_video);
        let torn = || Error::usage("the clips are not whole groups of draws").file(set.first_file());
        if !set.len().is_multiple_of(of_set) {
            return Err(torn().expected(format!("a multiple of {of_set} clips")).found(set.len()));
        }
        if u64::from(set.draws()) != of_set {
            return Err(torn().expected(format!("the {of_set} draws of each video side by side")));
        }
        if *draws.get_or_insert(of_set) != of_set {
            let e = Error::usage("the data sets have different numbers of draws of each video").file(set.first_file());
            return Err(e.expected(draws.unwrap_or(1)).found(of_set));
        }
    }
    Ok(draws.unwrap_or(1))
}

/// Checks that `clips`, in ascending order, are all draws of their videos.
pub(super) fn check_draws(clips: &[u64], draws: u64) -> Result<()> {
    for chunk in clips.chunks(usize::try_from(draws).unwrap_or(usize::MAX)) {
        let first = chunk[0] / draws * draws;
        if !chunk.iter().copied().eq(first..first + draws) {
            return Err(torn_draws(first, draws));
        }
    }
    Ok(())
}

/// The error about a video whose draws do not stay together. Its first draw is `first`.
pub(super) fn torn_draws(first: u64, draws: u64) -> Error {
    let last = first + draws - 1;
    Error::usage(format!("clips {first} to {last} are draws of one video, but only some of them are selected"))
        .help("select all of them or none")
}
