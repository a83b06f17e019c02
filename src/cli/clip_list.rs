//! Files that name clips: lists, tables, and the output of other commands with --json.
//!
//! A line of a list is a source, which stands for all clips of the video; or `#`, the number of a clip counted from 0, and
//! after a space the clip's source, which must be that of the clip, so that a list for another data set, or for another
//! version of it, is refused. The source may be missing. [`text`] writes such lines.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::Dataset;
use crate::check::FoundClip;
use crate::edit::ClipList;
use serde_json::Value;

use crate::cli::output::{self, count};
use crate::cli::table;

/// The clips that a file names:
///
/// * a list: on each line a source, or `#12 a/b.mp4`, a clip's number and its source; or a number on each line;
/// * a .csv, .tsv or .jsonl table with a column "clip" or "source" (or "path");
/// * the JSON of `verify` or `inspect --clip`, or a JSON array of numbers and sources; or several of these, one
///   after the other, as `cat` joins them.
pub fn read(path: &Path, set: &Dataset) -> Result<ClipList, String> {
    let mut found = ListReader { set, shards: HashMap::new(), list: ClipList::default(), unnamed: 0 };
    let place = |e: String| format!("{}: {e}", path.display());
    if table::is_table(path) {
        table::read(path, &mut |row| found.clip(row.clip()?, row.text(row.source_column())))?;
    } else {
        let text = std::fs::read_to_string(path).map_err(|e| place(format!("cannot read the list: {e}")))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        match json(text) {
            Ok(values) => values.iter().try_for_each(|value| found.json(value)).map_err(place)?,
            Err(e) if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) => {
                return Err(place(format!("cannot read the list: {e}")));
            }
            Err(_) => found.lines(text).map_err(place)?,
        }
    }
    if found.unnamed > 0 {
        output::tell(format_args!("{}: {} without a clip", path.display(), count(found.unnamed, "item")));
    }
    Ok(found.list)
}

/// The objects and arrays in a text that has nothing else.
fn json(text: &str) -> serde_json::Result<Vec<Value>> {
    if !text.starts_with(['[', '{']) {
        return Err(serde::de::Error::custom("expected a JSON array or object"));
    }
    serde_json::Deserializer::from_str(text).into_iter().collect()
}

struct ListReader<'a> {
    set: &'a Dataset,
    /// Ordinal of the first clip of each shard, by the names of its files; empty until it is needed.
    shards: HashMap<String, u64>,
    list: ClipList,
    /// Items that name no clip.
    unnamed: u64,
}

impl ListReader<'_> {
    /// A clip of the data set by its ordinal, its source, or both, which must agree.
    fn clip(&mut self, ordinal: Option<u64>, source: Option<String>) -> Result<(), String> {
        match (ordinal, source) {
            (Some(ordinal), source) => {
                check_source(self.set, ordinal, source.as_deref())?;
                self.list.clips.push(ordinal);
            }
            (None, Some(source)) => self.list.sources.push(source),
            (None, None) => self.unnamed += 1,
        }
        Ok(())
    }

    fn json(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.item(item)),
            report => self.report(report),
        }
    }

    fn item(&mut self, item: &Value) -> Result<(), String> {
        match item {
            Value::String(source) => self.clip(None, Some(source.clone())),
            Value::Object(object) => self.clip(object.get("clip").and_then(Value::as_u64), text_of(item, "source")),
            other => self.clip(Some(other.as_u64().ok_or_else(|| format!("{other} does not name a clip"))?), None),
        }
    }

    /// Reads the output of a command with --json.
    fn report(&mut self, report: &Value) -> Result<(), String> {
        match report.get("problems").and_then(Value::as_array) {
            Some(problems) => problems.iter().try_for_each(|problem| self.problem(problem)),
            None if report.get("clip").is_some() => self.item(report),
            None => Err("this JSON names no clips; use the JSON of `verify` or `inspect --clip`".into()),
        }
    }

    /// Reads a problem of a clip, which counts from the beginning of its shard.
    fn problem(&mut self, problem: &Value) -> Result<(), String> {
        let Some(clip) = problem.get("clip").and_then(Value::as_u64) else {
            self.unnamed += 1;
            return Ok(());
        };
        let start = self.start_of(&text_of(problem, "file").unwrap_or_default())?;
        self.list.clips.push(start + clip);
        Ok(())
    }

    fn start_of(&mut self, file: &str) -> Result<u64, String> {
        if self.shards.is_empty() {
            let mut start = 0;
            for shard in self.set.to_json().shards {
                self.shards.extend([(shard.record_file.into(), start), (shard.index_file.into(), start)]);
                self.shards.extend(shard.track_file.map(|tracks| (tracks.file.into(), start)));
                start += shard.clips;
            }
        }
        let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let start = self.shards.get(name).copied();
        start.ok_or_else(|| format!("{file:?} is not a file of this data set, so its clips are unknown"))
    }

    /// A source or a numbered clip on each line. Lines that are all numbers are ordinals, unless a clip has such a source.
    fn lines(&mut self, text: &str) -> Result<(), String> {
        let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
        let lines: Vec<(u64, &str)> = lines.filter(|(_, line)| !line.is_empty()).collect();
        let numbers: Option<Vec<u64>> = lines.iter().map(|(_, line)| line.parse().ok()).collect();
        let names: Vec<&str> = lines.iter().map(|(_, line)| *line).collect();
        if let Some(numbers) = numbers
            && !self.has_source_in(&names)?
        {
            self.list.clips = numbers;
            return Ok(());
        }
        let numbered: Vec<&str> = names.into_iter().filter(|line| numbered(line).is_some()).collect();
        let is_ambiguous = self.has_source_in(&numbered)?;
        self.require_sources(&lines)?;
        lines.into_iter().try_for_each(|(number, line)| {
            let place = |e: String| format!("line {number}: {e}");
            let Some((ordinal, source)) = numbered_clip(line).map_err(place)? else {
                return self.clip(None, Some(line.to_owned()));
            };
            if is_ambiguous && self.has_source_in(&[line])? {
                return Err(place(format!(
                    "{line:?} is a source of this data set, but could also be the number of a clip"
                )));
            }
            if ordinal >= self.set.len() {
                return Err(place(format!("there is no clip {ordinal}: expected less than {}", self.set.len())));
            }
            self.clip(Some(ordinal), source.map(str::to_owned)).map_err(place)
        })
    }

    /// Refuses the first line that is neither a numbered clip nor a source of the data set.
    fn require_sources(&self, lines: &[(u64, &str)]) -> Result<(), String> {
        let is_source = |line: &&str| numbered(line).is_none();
        let mut unknown: HashSet<&str> = lines.iter().map(|(_, line)| *line).filter(is_source).collect();
        for clip in self.set.clips() {
            match clip.and_then(|clip| clip.source()) {
                Ok(source) => drop(unknown.remove(source.as_str())),
                // A clip that cannot be read may be the one.
                Err(_) => return Ok(()),
            }
        }
        match lines.iter().find(|(_, line)| unknown.contains(line)) {
            Some((number, line)) => Err(format!("line {number}: no clip of the data set comes from {line:?}")),
            None => Ok(()),
        }
    }

    fn has_source_in(&self, names: &[&str]) -> Result<bool, String> {
        if names.is_empty() {
            return Ok(false);
        }
        let names: HashSet<&str> = names.iter().copied().collect();
        // An entry that cannot be read may be one to exclude.
        Ok(self.set.clips().flatten().any(|clip| clip.source().is_ok_and(|source| names.contains(&*source))))
    }
}

/// Where an entry has the clip's source, too, it must be the one in the data set.
pub fn check_source(set: &Dataset, ordinal: u64, source: Option<&str>) -> Result<(), String> {
    let Some(wanted) = source else { return Ok(()) };
    let found = set.clip(ordinal).and_then(|clip| clip.source()).map_err(|e| e.to_string())?;
    if found == wanted { Ok(()) } else { Err(format!("clip {ordinal} comes from {found:?}, not from {wanted:?}")) }
}

/// The digits after the `#` of a line, and the rest of it, if it names a clip by its number.
fn numbered(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix('#')?;
    let (digits, source) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some((digits, source.trim_start()))
}

fn numbered_clip(line: &str) -> Result<Option<(u64, Option<&str>)>, String> {
    let Some((digits, source)) = numbered(line) else { return Ok(None) };
    let ordinal = digits.parse().map_err(|_| format!("there is no clip {digits}"))?;
    Ok(Some((ordinal, Some(source).filter(|source| !source.is_empty()))))
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

fn text_of(object: &Value, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
