//! Names of columns, which mean the same in tables and in JSON, and a report of what each was taken for.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::plan::options::InputOptions;
use crate::plan::segment::SegmentClock;
use crate::track::TrackSpec;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// The meaning that vidrec gave the columns of a manifest. If a manifest has no header line, its columns are named by
/// number, as in `column 1`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ManifestColumns {
    /// The path of the manifest.
    pub manifest: String,
    /// Columns of paths, or of names that lead to a path.
    pub path: Vec<String>,
    /// Columns of labels. Empty: no clip of this manifest has a label.
    pub label: Vec<String>,
    /// Columns of times at which segments begin.
    pub start: Vec<String>,
    /// Columns of times at which segments end.
    pub end: Vec<String>,
    /// Columns of splits.
    pub split: Vec<String>,
    /// Columns that vidrec only keeps as attributes of the clips. At most the first 4096 of them.
    pub attributes: Vec<String>,
    /// Columns of tracks, or of their times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<String>,
}

/// Names that a column of paths has in common manifests.
const PATHS: &str = "path file_name filename file video_file_name file_path filepath video_path clip_path video";

/// The meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnRole {
    Path,
    Label,
    Labels,
    Start,
    End,
    Split,
    /// The frames of an episode.
    Episode,
    /// A value that is kept with the clip.
    Attribute,
    /// A value that is kept with the clip as its caption.
    Caption,
    /// Values of a track, or their times.
    Track,
    /// A column without a name, such as row numbers that a program has written.
    Nothing,
}

impl ColumnRole {
    pub fn of(name: &str) -> Self {
        let is = |known: &str| known.split(' ').any(|known| name.eq_ignore_ascii_case(known));
        match () {
            () if name.is_empty() => ColumnRole::Nothing,
            () if is(PATHS) => ColumnRole::Path,
            () if is("label") => ColumnRole::Label,
            () if is("labels") => ColumnRole::Labels,
            () if is("start time_start") => ColumnRole::Start,
            () if is("end time_end") => ColumnRole::End,
            () if is("split") => ColumnRole::Split,
            () if is("episode_frames") => ColumnRole::Episode,
            () => ColumnRole::Attribute,
        }
    }

    /// Returns the meaning of a column under these options.
    pub fn among(options: &InputOptions, name: &str) -> Self {
        let is = |chosen: &Option<String>| chosen.as_deref() == Some(name);
        let is_named = |spec: &TrackSpec| spec.columns().any(|column| column == name);
        match ColumnRole::of(name) {
            _ if is(&options.path_column) => ColumnRole::Path,
            ColumnRole::Labels if is(&options.label_column) => ColumnRole::Labels,
            _ if is(&options.label_column) => ColumnRole::Label,
            _ if is(&options.caption_column) => ColumnRole::Caption,
            _ if is(&options.start_column) => ColumnRole::Start,
            _ if is(&options.end_column) => ColumnRole::End,
            ColumnRole::Path if options.path_column.is_some() => ColumnRole::Attribute,
            ColumnRole::Label | ColumnRole::Labels if options.label_column.is_some() => ColumnRole::Attribute,
            ColumnRole::Start if options.start_column.is_some() => ColumnRole::Attribute,
            ColumnRole::End if options.end_column.is_some() => ColumnRole::Attribute,
            ColumnRole::Attribute if options.track.iter().any(is_named) => ColumnRole::Track,
            role => role,
        }
    }
}

/// The columns so far, in the order in which they were first seen.
pub(super) struct ColumnTally {
    columns: ManifestColumns,
    seen: HashSet<String>,
}

impl ColumnTally {
    pub fn new(manifest: String) -> Self {
        ColumnTally { columns: ManifestColumns { manifest, ..ManifestColumns::default() }, seen: HashSet::new() }
    }

    /// Adds a column. A column that is known already keeps its use.
    pub fn add(&mut self, role: ColumnRole, name: &str) {
        let columns = &mut self.columns;
        let list = match role {
            ColumnRole::Path => &mut columns.path,
            ColumnRole::Label | ColumnRole::Labels => &mut columns.label,
            ColumnRole::Start => &mut columns.start,
            ColumnRole::End => &mut columns.end,
            ColumnRole::Split => &mut columns.split,
            ColumnRole::Attribute | ColumnRole::Caption => &mut columns.attributes,
            ColumnRole::Track => &mut columns.tracks,
            ColumnRole::Episode | ColumnRole::Nothing => return,
        };
        if self.seen.len() < limits::MAX_COLUMNS && self.seen.insert(name.to_owned()) {
            list.push(name.to_owned());
        }
    }

    /// Adds column `number`, from 1, of a manifest without a header line.
    pub fn add_number(&mut self, role: ColumnRole, number: usize) {
        self.add(role, &format!("column {number}"));
    }

    /// Whether a column has paths.
    pub fn has_path(&self) -> bool {
        !self.columns.path.is_empty()
    }

    /// Whether a column of this name was added.
    pub fn has(&self, name: &str) -> bool {
        self.seen.contains(name)
    }

    /// The names of all columns.
    pub fn names(&self) -> Vec<&str> {
        let c = &self.columns;
        let all = [&c.path, &c.label, &c.start, &c.end, &c.split, &c.tracks, &c.attributes];
        all.into_iter().flatten().map(String::as_str).collect()
    }

    pub fn finish(self) -> ManifestColumns {
        self.columns
    }
}

/// Asks about attributes whose names are close to the name of a column that the manifest does not have. vidrec only asks,
/// because a wrong guess at a label would train the wrong thing.
///
/// # Errors
///
/// Segments have a start or an end, and another column seems to have the other side.
pub(super) fn questions(columns: &ManifestColumns, options: &InputOptions) -> Result<Vec<String>> {
    let ManifestColumns { manifest, path, label, split, start, end, attributes, .. } = columns;
    let named = |name| attributes.iter().find(|column| meant(column) == Some(name));
    let missing = [("path", path), ("label", label), ("split", split)].into_iter().filter(|(_, own)| own.is_empty());
    let mut questions: Vec<String> = missing
        .filter_map(|(name, _)| Some((name, named(name)?)))
        .map(|(name, column)| {
            let choose =
                if name == "split" { String::new() } else { format!(" If so, set {name}_column = {column:?}") };
            format!("{manifest}: column {column:?} is only kept as an attribute; did you mean {name:?}?{choose}")
        })
        .collect();
    if options.segments == SegmentClock::Ignore {
        return Ok(questions);
    }
    match (start.first(), end.first(), named("start"), named("end")) {
        (Some(half), None, _, Some(other)) | (None, Some(half), Some(other), _) => {
            let side = if start.is_empty() { "start" } else { "end" };
            let e =
                Error::usage(format!("column {half:?} is only one side of segments, and {other:?} may be the {side}"));
            let help = format!(
                "set {side}_column = {other:?} if it has seconds on the same clock, or leave it out of the manifest"
            );
            return Err(e.file(manifest).help(help));
        }
        (None, None, Some(begin), other) => {
            let end = other.map_or(String::new(), |end| format!(", and end_column = {end:?}"));
            questions.push(format!(
                "{manifest}: whole videos are packed, and {begin:?} is only kept; did you mean segments? If so, set \
                 start_column = {begin:?}{end}, if they are seconds"
            ));
        }
        _ => {}
    }
    Ok(questions)
}

/// Columns that have a meaning, by the names that vidrec suggests, with other names for them.
const KNOWN: [(&str, &str); 3] = [
    ("path", "videoname clipname videofile videoid videouri relpath relativepath source uri"),
    (
        "label",
        "labels class classes classname classid classlabel classindex action actions actionlabel actionclass actionname \
         activity category target labelname labelid labelindex tag tags verb y",
    ),
    ("split", "subset partition splitname"),
];

/// Words for a side of a segment.
const SIDES: [(&str, &str); 2] = [
    ("start", "start starts starttime begin beginning onset"),
    ("end", "end ends endtime stop finish offset until duration length"),
];

/// Words that may stand beside them.
const BESIDE: &str = "time timestamp times ts t s sec secs second seconds ms frame idx index segment clip video gt event action \
                      activity narration annotation";

/// Returns the known column that a name may stand for. The name is another name for that column, or differs from
/// its name in one letter, or in two neighboring letters that are swapped; or it is made of words for a time.
pub(super) fn meant(column: &str) -> Option<&'static str> {
    // A long text is not a name.
    if column.len() > 64 {
        return None;
    }
    let lower = column.to_lowercase();
    let name: String = lower.chars().filter(|c| c.is_alphanumeric()).collect();
    let has = |names: &str, word: &str| names.split(' ').any(|name| name == word);
    let near = |known: &str| strsim::osa_distance(&name, known) == 1;
    let is = |(known, others): &&(&str, &str)| {
        name == *known || has(others, &name) || near(known) || (*known == "label" && near("labels"))
    };
    let words = || lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_side = |(_, names): &&(&str, &str)| {
        words().any(|word| has(names, word)) && words().all(|word| has(names, word) || has(BESIDE, word))
    };
    KNOWN.iter().find(is).or_else(|| SIDES.iter().find(is_side)).map(|(known, _)| *known)
}

/// Returns the error for a manifest with these columns, none of which has paths.
pub(super) fn no_paths(file: &Path, columns: &[&str]) -> Error {
    let near = columns.iter().find(|name| meant(name) == Some("path"));
    let help = match near {
        Some(name) => format!("if {name:?} has the paths, set path_column = {name:?}"),
        None => "the first line must name the columns, for instance: path,label".into(),
    };
    let e = Error::usage("no column is called \"path\" or \"file_name\", and the first line is not a path and a label");
    e.file(file).found(shown(columns)).help(help)
}

/// Returns the names of the first columns.
pub(super) fn shown(columns: &[&str]) -> String {
    const SHOWN: usize = 20;
    let names: Vec<String> = columns.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    match columns.len() > SHOWN {
        true => format!("{} and {} more", names.join(", "), columns.len() - SHOWN),
        false => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_a_known_column_are_recognized() {
        for (name, columns) in [
            ("label", "lable Labl lebel lables label_ class Action·Label"),
            ("split", "spilt"),
            ("path", "pth paths video_name"),
            (
                "start",
                "start_time start_sec t_start begin clip_start gt_start_sec start_timestamp onset start_frame starts",
            ),
            ("end", "end-sec end_s stop_timestamp finish video_end_sec until duration end_idx"),
        ] {
            for column in columns.split(' ') {
                assert_eq!(meant(&column.replace('·', " ")), Some(name), "{column}");
            }
        }
        for column in [
            "caption", "and", "id", "fps", "table", "stage", "state", "", "split2go", "labelers", "日本", "first",
            "attend",
        ] {
            assert_eq!(meant(column), None, "{column}");
        }
        assert_eq!((meant("end_effector"), meant(&"label".repeat(100))), (None, None));
    }

    #[test]
    fn columns_are_listed_once_and_bounded() {
        let mut tally = ColumnTally::new("l.jsonl".into());
        for i in 0..2 * limits::MAX_COLUMNS {
            tally.add(ColumnRole::Path, "path");
            tally.add(ColumnRole::Attribute, &format!("a{i}"));
        }
        let columns = tally.finish();
        assert_eq!((columns.path.len(), columns.attributes.len()), (1, limits::MAX_COLUMNS - 1));
    }
}
