//! Names that people give to manifest columns but that vidrec does not know, each with the name that it does know.
//!
//! vidrec only asks whether such a column is meant. A wrong guess at a label would train the wrong thing, and a
//! column called `class` or `start_time` may be an attribute.

/// Columns that have a meaning, by the names that vidrec suggests, with other names for them.
const KNOWN: [(&str, &[&str]); 3] = [
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
    ("split", &["subset", "partition", "splitname"]),
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
    let is = |(known, others): &(&'static str, &[&str])| {
        let near = |other: &str| other.len() >= SHORTEST && is_one_slip(&name, other);
        name == *known || others.contains(&name.as_str()) || near(known) || (*known == "label" && near("labels"))
    };
    KNOWN.iter().find(|known| is(known)).map(|(known, _)| *known)
}

/// Whether two words differ by one letter that is missing, added or changed, or by two neighbors that are swapped.
pub(super) fn is_one_slip(a: &str, b: &str) -> bool {
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
