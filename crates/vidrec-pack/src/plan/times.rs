//! Columns that may have the times of segments. vidrec takes only those that are called `start` and `end`, or that the
//! caller names. It asks about others, and never takes half of a pair.

use super::manifest_columns::ManifestColumns;
use super::near_names::is_one_slip;
use super::options::InputOptions;
use super::segment::SegmentClock;
use vidrec_format::error::{Error, Result};

/// What a column may have, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Time {
    /// `start` or `end`.
    side: &'static str,
    /// What it has instead of seconds.
    odd: Option<&'static str>,
}

/// Words for a side of a segment. `first` and `last` alone mean something else.
const SIDES: [(&str, &[&str]); 2] = [
    ("start", &["start", "begin", "beginning", "inpoint", "onset", "from", "first"]),
    ("end", &["end", "stop", "finish", "outpoint", "offset", "until", "to", "last"]),
];

/// Words that may stand beside them, and what the values are then if they are not seconds.
const BESIDE: [(&[&str], Option<&str>); 8] = [
    (&["milliseconds", "millisecond", "millis", "msecs", "msec", "ms"], Some("in milliseconds")),
    (&["microseconds", "us"], Some("in microseconds")),
    (&["nanoseconds", "ns"], Some("in nanoseconds")),
    (&["minutes", "min"], Some("in minutes")),
    (&["frames", "frame", "index", "idx"], Some("in frames")),
    (&["samples", "sample"], Some("in samples")),
    (&["timestamp", "timecode", "times", "time", "stamp", "ts", "t", "seconds", "second", "secs", "sec", "pos"], None),
    (
        &[
            "segment",
            "seg",
            "clip",
            "video",
            "event",
            "action",
            "activity",
            "annotation",
            "narration",
            "moment",
            "shot",
            "scene",
            "temporal",
            "span",
            "window",
            "gt",
            "query",
            "sentence",
            "utterance",
            "word",
        ],
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
        let mut words = SIDES.iter().flat_map(|(side, words)| words.iter().map(move |word| (side, word)));
        let named = words.find_map(|(side, word)| {
            let (before, after) = name.split_once(word)?;
            let alone = before.is_empty() && after.is_empty();
            let beside = [beside(before)?, if after == "s" { None } else { beside(after)? }];
            (!alone || !["first", "last"].contains(word))
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
    let mut words = BESIDE.iter().flat_map(|(words, odd)| words.iter().map(move |word| (word, odd)));
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
pub(super) fn question(manifest: &ManifestColumns, options: &InputOptions) -> Result<Option<String>> {
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
