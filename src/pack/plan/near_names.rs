//! Names that people give to a column of a manifest and that vidrec does not know, with the name that it knows.
//!
//! vidrec only asks about them. A wrong guess at a label would train the wrong thing, and a column called `class` or
//! `start_time` may be an attribute.

/// Columns that have a meaning, by the names to offer, and other names for them.
const KNOWN: [(&str, &[&str]); 5] = [
    (
        "path",
        &["videoname", "clipname", "videofile", "videoid", "videouri", "relpath", "relativepath", "source", "uri"],
    ),
    (
        "label",
        &[
            "class",
            "classes",
            "classname",
            "classid",
            "classlabel",
            "classindex",
            "action",
            "actions",
            "actionlabel",
            "actionclass",
            "actionname",
            "activity",
            "category",
            "target",
            "labelname",
            "labelid",
            "labelindex",
            "tag",
            "tags",
            "verb",
            "y",
        ],
    ),
    (
        "start",
        &["starttime", "startsec", "startsecs", "startseconds", "starts", "tstart", "begin", "begintime", "onset"],
    ),
    ("end", &["endtime", "endsec", "endsecs", "endseconds", "ends", "tend", "stop", "stoptime", "offset"]),
    ("split", &["subset", "partition", "splitname"]),
];

/// Shortest name that is compared letter by letter: shorter ones are near to too many words.
const SHORTEST: usize = 4;

/// The known column that a name may stand for: another name for it, or the same but for one letter or two that changed
/// places.
pub(super) fn meant(column: &str) -> Option<&'static str> {
    // Long texts are no names.
    if column.len() > 64 {
        return None;
    }
    let name: String = column.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is = |(known, others): &(&'static str, &[&str])| {
        let near = |other: &str| other.len() >= SHORTEST && is_one_slip(&name, other);
        name == *known || others.contains(&name.as_str()) || near(known) || (*known == "label" && near("labels"))
    };
    KNOWN.iter().find(|known| is(known)).map(|(known, _)| *known)
}

/// Whether two words differ by a letter that is missing, added or another one, or by two neighbors that changed places.
fn is_one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same_start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same_start..], &b[same_start..]);
    let same_end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - same_end], &b[..b.len() - same_end]);
    match (a, b) {
        ([], [_]) | ([_], []) | ([_], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
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
            ("strat", "start"),
            ("start_time", "start"),
            ("end-sec", "end"),
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
