//! Files that name clips: lists, tables, and the report of `vidrec verify --json`.
//!
//! A line of a list is a source, which stands for all clips of the video; or `#`, the number of a clip counted from 0, and
//! after a space the clip's source, which must be that of the clip, so that a list for another data set, or for another
//! version of it, is refused. The source may be missing. [`text`] writes such lines.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::Dataset;
use crate::check::FoundClip;
use crate::edit::{ClipList, Key, Selection};
use serde_json::Value;

use crate::cli::arguments::{ClipRange, ordinals, parse_pair};
use crate::cli::output::{self, count};
use crate::cli::table::{self, Row};

/// Conditions on clips, all of which a clip meets.
#[derive(clap::Args)]
pub struct ConditionArgs {
    /// Clips of this class, by name, or by number where classes have no names. May be given several times: any of them.
    #[arg(long, value_name = "CLASS")]
    class: Vec<String>,
    /// Clips by number, counted from 0: 5, 3-7 or all, with commas between.
    #[arg(long, value_name = "RANGES", value_delimiter = ',', conflicts_with = "list")]
    clips: Vec<ClipRange>,
    /// Clips whose attribute has this value, such as split=train or video.codec=h264. May be given several times: all
    /// of them.
    #[arg(long = "where", value_name = "ATTRIBUTE=VALUE", value_parser = parse_pair)]
    attributes: Vec<(String, String)>,
    /// Clips that this file names.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
}

impl ConditionArgs {
    /// The selection of clips of a data set.
    pub fn selection(&self, set: &Dataset) -> Result<Selection, String> {
        let list = match self.clips.is_empty() {
            true => self.list.as_deref().map(|path| read(path, set)).transpose()?,
            false => Some(ClipList { clips: ordinals(&self.clips, set.len())?, ..ClipList::default() }),
        };
        let (classes, attributes) = (self.class.clone(), self.attributes.clone());
        Ok(Selection { classes, list, attributes, ..Selection::default() })
    }
}

/// The clips that a file names:
///
/// * a list: on each line a source, or `#12 a/b.mp4`, a clip's number and its source;
/// * a .csv, .tsv or .jsonl table with a column "clip" or "source" (or "path");
/// * a .json file with the report of `verify`.
pub fn read(path: &Path, set: &Dataset) -> Result<ClipList, String> {
    let mut list = ClipList::default();
    let mut unnamed = 0;
    if table::is_table(path) {
        table::read(path, &mut |row| match (row.clip()?, row.text(row.source_column())) {
            (None, None) => {
                unnamed += 1;
                Ok(())
            }
            (clip, source) => add(&mut list, set, clip, source),
        })?;
    } else {
        let place = |e: String| format!("{}: {e}", path.display());
        let text = std::fs::read_to_string(path).map_err(|e| place(format!("cannot read the list: {e}")))?;
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
            (list.clips, unnamed) = damaged_clips(&text, set).map_err(place)?;
        } else {
            let lines =
                (1..).zip(text.trim_start_matches('\u{feff}').lines()).map(|(number, line)| (number, line.trim()));
            for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
                let (clip, source) = clip_of(line);
                add(&mut list, set, clip, source).map_err(|e| place(format!("line {number}: {e}")))?;
            }
        }
    }
    if unnamed > 0 {
        output::tell(format_args!("{}: {} without a clip", path.display(), count(unnamed, "item")));
    }
    Ok(list)
}

/// Adds a clip of the data set by its ordinal, its source, or both, which must agree.
fn add(list: &mut ClipList, set: &Dataset, clip: Option<u64>, source: Option<String>) -> Result<(), String> {
    match clip {
        Some(clip) => {
            check_source(set, clip, source.as_deref())?;
            list.clips.push(clip);
        }
        None => list.sources.extend(source),
    }
    Ok(())
}

/// The number of a clip and its source in a line such as `#12 a/b.mp4`; otherwise the line is a source.
fn clip_of(line: &str) -> (Option<u64>, Option<String>) {
    let numbered = line.strip_prefix('#').and_then(|rest| {
        let (number, source) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        Some((number.parse().ok()?, source.trim_start()))
    });
    match numbered {
        Some((clip, source)) => (Some(clip), Some(source).filter(|source| !source.is_empty()).map(str::to_owned)),
        None => (None, Some(line.to_owned())),
    }
}

/// The clips of the problems in a report of `verify`, which count from the beginning of their shards, and the number of
/// problems that are of no clip.
fn damaged_clips(report: &str, set: &Dataset) -> Result<(Vec<u64>, u64), String> {
    let report: Value = serde_json::from_str(report).map_err(|e| format!("cannot read the list: {e}"))?;
    let problems = report.get("problems").and_then(Value::as_array);
    let problems = problems.ok_or("this JSON names no clips; give the report of `vidrec verify --json`")?;
    // The clips of shards in each file: the ordinal of the first in the file, their number, and the ordinal in the data set.
    let (mut places, mut start) = (HashMap::<String, Vec<(u64, u64, u64)>>::new(), 0);
    for shard in set.to_json().shards {
        let own = shard.file_names().map(|name| (name, 0));
        let added = shard.added.iter().flat_map(|added| &added.tracks).map(|place| (&place.file, place.first_clip));
        for (name, first) in own.chain(added) {
            places.entry(name.to_string()).or_default().push((first, shard.clips, start));
        }
        start += shard.clips;
    }
    let (mut clips, mut unnamed) = (Vec::new(), 0);
    for problem in problems {
        let Some(clip) = problem.get("clip").and_then(Value::as_u64) else {
            unnamed += 1;
            continue;
        };
        let file = Path::new(problem.get("file").and_then(Value::as_str).unwrap_or_default());
        let places = file.file_name().and_then(|name| places.get(name.to_str()?));
        let places =
            places.ok_or_else(|| format!("{file:?} is not a file of this data set, so its clips are unknown"))?;
        let place = places.iter().find(|(first, clips, _)| clip >= *first && clip - first < *clips);
        clips.extend(place.map(|(first, _, start)| start + (clip - first)));
    }
    Ok((clips, unnamed))
}

/// What names the clip of a row of a table: its number, its source, or both, which must agree.
pub fn key(row: &Row, set: &Dataset) -> Result<Key, String> {
    let source_column = row.source_column();
    match (row.clip()?, row.text(source_column)) {
        (Some(clip), source) => {
            let place = |e| format!("column \"{source_column}\": {e}");
            check_source(set, clip, source.as_deref()).map_err(place)?;
            Ok(Key::Clip(clip))
        }
        (None, Some(source)) => Ok(Key::Source(source)),
        (None, None) => Err("neither \"source\" nor \"clip\" says which clip".into()),
    }
}

/// Where an entry has the clip's source, too, it must be the one in the data set.
pub fn check_source(set: &Dataset, ordinal: u64, source: Option<&str>) -> Result<(), String> {
    if ordinal >= set.len() {
        return Err(format!("there is no clip {ordinal}: expected less than {}", set.len()));
    }
    let Some(wanted) = source else { return Ok(()) };
    let found = set.clip(ordinal).and_then(|clip| clip.source()).map_err(|e| e.to_string())?;
    if found == wanted { Ok(()) } else { Err(format!("clip {ordinal} comes from {found:?}, not from {wanted:?}")) }
}

/// A list that names these clips. The source of a clip is left out if a line cannot hold it.
pub fn text(clips: &[&FoundClip]) -> String {
    let fits = |source: &str| source == source.trim() && !source.contains(char::is_control);
    let line = |clip: &&FoundClip| match clip.source.as_str() {
        source if fits(source) && !source.is_empty() => format!("#{} {source}\n", clip.clip),
        _ => format!("#{}\n", clip.clip),
    };
    clips.iter().map(line).collect()
}
