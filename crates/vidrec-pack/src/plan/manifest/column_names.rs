//! Names that people give to manifest columns but that vidrec does not know, each with the name that it does know.
//!
//! vidrec only asks whether such a column is meant. A wrong guess at a label would train the wrong thing, and a
//! column called `class` or `start_time` may be an attribute.

use crate::plan::manifest_columns::ManifestColumns;
use crate::plan::options::InputOptions;
use crate::plan::segment::SegmentClock;
use vidrec_format::error::{Error, Result};

/// Asks about attributes whose names are close to the name of a column that the manifest does not have.
///
/// # Errors
///
/// The errors of [`times_question`].
pub(super) fn questions(columns: &ManifestColumns, options: &InputOptions) -> Result<Vec<String>> {
    let ManifestColumns { manifest, path, label, split, attributes, .. } = columns;
    let taken = [("path", path), ("label", label), ("split", split)];
    let near = |column: &String| {
        let (name, columns) = taken.into_iter().find(|(name, _)| meant(column) == Some(name))?;
        let choose = match name {
            "split" => String::new(),
            _ => format!(" If so, {}", options.words.set(&format!("{name}_column"), column)),
        };
        columns.is_empty().then(|| {
            format!("{manifest}: column {column:?} is only kept as an attribute; did you mean {name:?}?{choose}")
        })
    };
    let questions = attributes.iter().filter_map(near);
    Ok(questions.chain(times_question(columns, options)?).collect())
}

/// Columns that have a meaning, by the names that vidrec suggests, with other names for them.
const KNOWN: [(&str, &str); 3] = [
    ("path", "videoname clipname videofile videoid videouri relpath relativepath source uri"),
    (
        "label",
        "class classes classname classid classlabel classindex action actions actionlabel actionclass actionname activity \
         category target labelname labelid labelindex tag tags verb y",
    ),
    ("split", "subset partition splitname"),
];

/// The shortest name that is compared letter by letter. Shorter names are close to too many words.
const SHORTEST: usize = 4;

/// Returns the known column that a name may stand for. The name is another name for that column, or differs from
/// its name in one letter, or in two neighboring letters that are swapped.
pub(super) fn meant(column: &str) -> Option<&'static str> {
    // A long text is not a name.
    if column.len() > 64 {
        return None;
    }
    let name: String = column.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is = |(known, others): &(&'static str, &str)| {
        let near = |other: &str| other.len() >= SHORTEST && is_one_slip(&name, other);
        name == *known
            || others.split(' ').any(|other| other == name)
            || near(known)
            || (*known == "label" && near("labels"))
    };
    KNOWN.iter().find(|known| is(known)).map(|(known, _)| *known)
}

/// Whether two words differ by one letter that is missing, added or changed, or by two neighbors that are swapped.
fn is_one_slip(a: &str, b: &str) -> bool {
    strsim::osa_distance(a, b) == 1
}

/// The contents that a column may have, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Time {
    /// `start` or `end`.
    side: &'static str,
    /// The unit that it has instead of seconds.
    odd: Option<&'static str>,
}

/// Words for a side of a segment. `first` and `last` alone mean something else.
const SIDES: [(&str, &str); 2] = [
    ("start", "start begin beginning inpoint onset from first"),
    ("end", "end stop finish outpoint offset until to last"),
];

/// Words that may stand beside them, and what the values are then if they are not seconds.
const BESIDE: [(&str, Option<&str>); 8] = [
    ("milliseconds millisecond millis msecs msec ms", Some("in milliseconds")),
    ("microseconds us", Some("in microseconds")),
    ("nanoseconds ns", Some("in nanoseconds")),
    ("minutes min", Some("in minutes")),
    ("frames frame index idx", Some("in frames")),
    ("samples sample", Some("in samples")),
    ("timestamp timecode times time stamp ts t seconds second secs sec pos", None),
    (
        "segment seg clip video event action activity annotation narration moment shot scene temporal span window gt query \
         sentence utterance word",
        None,
    ),
];

/// Names for how long a segment is.
const SPANS: [&str; 6] = ["duration", "durationsec", "durationseconds", "durations", "length", "cliplength"];

impl Time {
    fn of(column: &str) -> Option<Self> {
        // A long text is not a name.
        if column.len() > 64 {
            return None;
        }
        let name: String = column.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        if SPANS.contains(&&*name) {
            return Some(Time { side: "end", odd: Some("a duration") });
        }
        let mut words = SIDES.iter().flat_map(|(side, words)| words.split(' ').map(move |word| (side, word)));
        let named = words.find_map(|(side, word)| {
            let (before, after) = name.split_once(word)?;
            let alone = before.is_empty() && after.is_empty();
            let beside = [beside(before)?, if after == "s" { None } else { beside(after)? }];
            (!alone || !["first", "last"].contains(&word))
                .then(|| Time { side, odd: beside.into_iter().flatten().next() })
        });
        named.or_else(|| is_one_slip(&name, "start").then_some(Time { side: "start", odd: None }))
    }
}

/// Returns what values are if a text has only words of [`BESIDE`].
fn beside(text: &str) -> Option<Option<&'static str>> {
    if text.is_empty() {
        return Some(None);
    }
    let mut words = BESIDE.iter().flat_map(|(words, odd)| words.split(' ').map(move |word| (word, odd)));
    words.find_map(|(word, odd)| Some(odd.or(beside(text.strip_prefix(word)?)?)))
}

/// A side that the manifest does not have by name, and the column that may have it.
struct Missing<'a> {
    column: &'a str,
    time: Time,
}

impl Missing<'_> {
    fn cure(&self, options: &InputOptions) -> String {
        let (column, side) = (self.column, self.time.side);
        match self.time.odd {
            Some(odd) => format!("write a column \"{side}\" in seconds, because {column:?} seems to be {odd}"),
            None => options.words.set(&format!("{side}_column"), column),
        }
    }
}

/// Asks about columns that may have the times of segments, while whole videos are packed.
///
/// # Errors
///
/// Segments have a start or an end, and another column seems to have the other side; or a column that is taken does not
/// seem to have seconds.
fn times_question(manifest: &ManifestColumns, options: &InputOptions) -> Result<Option<String>> {
    if options.segments == SegmentClock::Ignore {
        return Ok(None);
    }
    let ManifestColumns { manifest: file, start, end, attributes, .. } = manifest;
    let refused = |what: String| Err(Error::usage(what).file(file));
    for column in start.iter().chain(end) {
        if let Some(odd) = Time::of(column).and_then(|time| time.odd) {
            return refused(format!("column {column:?}: expected seconds, but by its name it is {odd}"));
        }
    }
    let missing = |(side, columns): (&str, &Vec<String>)| {
        let times = attributes.iter().filter_map(|column| Some(Missing { column, time: Time::of(column)? }));
        // Seconds, if there are several.
        times.filter(|missing| columns.is_empty() && missing.time.side == side).min_by_key(|m| m.time.odd.is_some())
    };
    let missing: Vec<Missing<'_>> = [("start", start), ("end", end)].into_iter().filter_map(missing).collect();
    let cures: Vec<String> = missing.iter().map(|missing| missing.cure(options)).collect();
    match (start.first().or(end.first()), &*missing) {
        (Some(half), [Missing { column, time }]) => refused(format!(
            "column {half:?} is only one side of segments, and {column:?} may be the {}; {}, or leave it out of the \
             manifest",
            time.side, cures[0]
        )),
        (None, [first, ..]) if first.time.odd != Some("a duration") => {
            let names: Vec<String> = missing.iter().map(|missing| format!("{:?}", missing.column)).collect();
            Ok(Some(format!(
                "{file}: whole videos are packed, and {} only kept; did you mean segments? If so, {}",
                if names.len() == 1 { format!("{} is", names[0]) } else { format!("{} are", names.join(" and ")) },
                cures.join(", and "),
            )))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_other_names_are_known() {
        for (column, name) in [
            ("lable", "label"),
            ("Labl", "label"),
            ("lebel", "label"),
            ("lables", "label"),
            ("label_", "label"),
            ("class", "label"),
            ("Action Label", "label"),
            ("spilt", "split"),
            ("pth", "path"),
            ("paths", "path"),
            ("video_name", "path"),
        ] {
            assert_eq!(meant(column), Some(name), "{column}");
        }
    }

    #[test]
    fn other_words_are_left_alone() {
        for column in ["caption", "and", "id", "fps", "table", "stage", "state", "", "split2go", "labelers", "日本"] {
            assert_eq!(meant(column), None, "{column}");
        }
        assert_eq!(meant(&"label".repeat(100)), None);
    }
}

#[cfg(test)]
mod times_tests {
    use super::*;

    #[test]
    fn names_of_times_are_known() {
        for (start, end, odd) in [
            ("start", "end", None),
            ("start_time", "end_time", None),
            ("startTime", "endTime", None),
            ("start_sec", "end-sec", None),
            ("start_s", "end_s", None),
            ("t_start", "t_end", None),
            ("begin", "finish", None),
            ("start_timestamp", "stop_timestamp", None),
            ("clip_start", "clip_end", None),
            ("gt_start_sec", "video_end_sec", None),
            ("segment_start_seconds", "segment_end_seconds", None),
            ("onset", "offset", None),
            ("from", "to", None),
            ("starts", "ends", None),
            ("strat", "until", None),
            ("start_frame", "stop_frame", Some("in frames")),
            ("first_frame", "last_frame", Some("in frames")),
            ("action_start_frame", "end_idx", Some("in frames")),
            ("start_ms", "end_ms", Some("in milliseconds")),
        ] {
            assert_eq!(Time::of(start), Some(Time { side: "start", odd }), "{start}");
            assert_eq!(Time::of(end), Some(Time { side: "end", odd }), "{end}");
        }
        for other in
            ["narration_timestamp", "first", "last", "send", "attend", "end_effector", "restart", "startle", "fps"]
        {
            assert_eq!(Time::of(other), None, "{other}");
        }
    }
}

#[cfg(test)]
mod question_tests {
    use super::*;

    #[test]
    fn a_near_name_is_offered_only_for_a_column_that_is_missing() {
        let asked = |label: &[&str], attributes: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let columns = ManifestColumns {
                manifest: "l.csv".into(),
                path: owned(&["path"]),
                label: owned(label),
                attributes: owned(attributes),
                ..ManifestColumns::default()
            };
            questions(&columns, &InputOptions::default()).unwrap()
        };
        let class = "l.csv: column \"class\" is only kept as an attribute; did you mean \"label\"? If so, set \
                     label_column = \"class\"";
        let strat = "l.csv: whole videos are packed, and \"strat\" is only kept; did you mean segments? If so, set \
                     start_column = \"strat\"";
        assert_eq!(asked(&[], &["caption", "class", "strat"]), [class, strat]);
        assert_eq!(asked(&["label"], &["caption", "class", "duration"]), [""; 0]);
    }
}
