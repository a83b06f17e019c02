//! Files that name clips: lists, tables, and what other commands print with --json.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use vidrec::Dataset;
use vidrec::edit::ClipList;

use crate::output::count;
use crate::table;

/// The clips that a file names:
///
/// * a source on each line, or a clip number on each line;
/// * a .csv, .tsv or .jsonl table with a column "clip" or "source" (or "path");
/// * the JSON of `verify`, `repair` or `inspect --clip`, or a JSON array of numbers and sources.
pub fn read(path: &Path, set: &Dataset) -> Result<ClipList, String> {
    let mut found = Found { set, shards: HashMap::new(), list: ClipList::default(), unnamed: 0 };
    let place = |e: String| format!("{}: {e}", path.display());
    if table::is_table(path) {
        table::read(path, &mut |row| found.clip(row.clip()?, row.text(row.source_column())))?;
    } else {
        let text = std::fs::read_to_string(path).map_err(|e| place(format!("cannot read the list: {e}")))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(report)) => found.report(&report.into()).map_err(place)?,
            Ok(Value::Array(items)) => items.iter().try_for_each(|item| found.item(item)).map_err(place)?,
            Err(e) if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) => {
                return Err(place(format!("cannot read the list: {e}")));
            }
            _ => found.lines(text).map_err(place)?,
        }
    }
    if found.unnamed > 0 {
        eprintln!("vidrec: {}: {} without a clip", path.display(), count(found.unnamed, "item"));
    }
    Ok(found.list)
}

struct Found<'a> {
    set: &'a Dataset,
    /// Ordinal of the first clip of each shard, by the names of its files; empty until it is needed.
    shards: HashMap<String, u64>,
    list: ClipList,
    /// Items that name no clip.
    unnamed: u64,
}

impl Found<'_> {
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

    fn item(&mut self, item: &Value) -> Result<(), String> {
        match item {
            Value::String(source) => self.clip(None, Some(source.clone())),
            Value::Object(object) => self.clip(object.get("clip").and_then(Value::as_u64), text(item, "source")),
            other => self.clip(Some(other.as_u64().ok_or_else(|| format!("{other} names no clip"))?), None),
        }
    }

    /// What a command printed with --json.
    fn report(&mut self, report: &Value) -> Result<(), String> {
        let lists = ["problems", "lost", "partly_lost"].map(|name| report.get(name).and_then(Value::as_array));
        if lists.iter().all(Option::is_none) {
            if report.get("clip").is_none() {
                return Err("this JSON names no clips; that of `verify`, `repair` and `inspect --clip` does".into());
            }
            return self.item(report);
        }
        lists.into_iter().flatten().flatten().try_for_each(|problem| self.problem(problem))
    }

    /// What is wrong with clips, which count from the beginning of their shard.
    fn problem(&mut self, problem: &Value) -> Result<(), String> {
        let Some(clip) = problem.get("clip").and_then(Value::as_u64) else {
            self.unnamed += 1;
            return Ok(());
        };
        let file = text(problem, "file").or_else(|| text(problem, "shard")).unwrap_or_default();
        let start = self.start_of(&file)?;
        let clips = problem.get("clips").and_then(Value::as_u64).unwrap_or(1);
        self.list.clips.extend((0..clips).map(|i| start + clip + i));
        Ok(())
    }

    fn start_of(&mut self, file: &str) -> Result<u64, String> {
        if self.shards.is_empty() {
            let mut start = 0;
            for shard in self.set.to_json().shards {
                self.shards.extend([(shard.record_file, start), (shard.index_file, start)]);
                self.shards.extend(shard.track_file.map(|tracks| (tracks.file, start)));
                start += shard.clips;
            }
        }
        let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let start = self.shards.get(name).copied();
        start.ok_or_else(|| format!("{file:?} is no file of this data set, so it is not known which clip is meant"))
    }

    /// A source on each line. Lines that are all numbers are ordinals, unless a clip has such a source.
    fn lines(&mut self, text: &str) -> Result<(), String> {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let numbers: Option<Vec<u64>> = lines.iter().map(|line| line.parse().ok()).collect();
        if let Some(numbers) = numbers
            && !self.has_source_in(&lines)?
        {
            self.list.clips = numbers;
        } else {
            self.list.sources = lines.into_iter().map(str::to_owned).collect();
        }
        Ok(())
    }

    fn has_source_in(&self, names: &[&str]) -> Result<bool, String> {
        let names: std::collections::HashSet<&str> = names.iter().copied().collect();
        // An entry that cannot be read may be one to exclude.
        Ok(self.set.clips().flatten().any(|clip| clip.source().is_ok_and(|source| names.contains(source))))
    }
}

/// Where an entry has the clip's source, too, it must be the one in the data set.
pub fn check_source(set: &Dataset, ordinal: u64, source: Option<&str>) -> Result<(), String> {
    let Some(wanted) = source else { return Ok(()) };
    let found = set.clip(ordinal).and_then(|clip| clip.source()).map_err(|e| e.to_string())?;
    if found == wanted { Ok(()) } else { Err(format!("clip {ordinal} is of {found:?}, not of {wanted:?}")) }
}

fn text(object: &Value, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
