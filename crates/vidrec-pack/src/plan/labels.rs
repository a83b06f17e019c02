//! Labels as inputs provide them, and the class names that turn them into numbers.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::text::whole;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// The label or labels of a clip, as an input provides them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) enum Label {
    #[default]
    None,
    One(Tag),
    /// The labels of a clip in a data set whose clips may have any number of labels, including one or none.
    Many(Vec<Tag>),
}

/// One label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Tag {
    Name(Arc<str>),
    Number(u32),
}

impl Label {
    pub fn name(text: &str) -> Self {
        if text.is_empty() { Label::None } else { Label::One(Tag::Name(text.into())) }
    }

    pub fn tags(&self) -> &[Tag] {
        match self {
            Label::None => &[],
            Label::One(tag) => std::slice::from_ref(tag),
            Label::Many(tags) => tags,
        }
    }

    pub fn tags_mut(&mut self) -> &mut [Tag] {
        match self {
            Label::None => &mut [],
            Label::One(tag) => std::slice::from_mut(tag),
            Label::Many(tags) => tags,
        }
    }
}

/// Reads a label that is written as a number. It may be a whole float: `im2rec.py` writes `3.000000`, and pandas
/// writes `3.0` in a column that has an empty cell.
pub(super) fn whole_number(text: &str) -> Result<Tag, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.starts_with('-') {
        return Err(format!("the label {text} is negative: {ALLOWED}"));
    }
    if !is_decimal(text) || fraction.bytes().any(|b| b != b'0') {
        return Err(format!("the label {text} is not a whole number: {ALLOWED}"));
    }
    // More digits than a u64 can hold are too many in any case.
    let n = whole.trim_start_matches('+').parse().ok().filter(|&n| n <= limits::MAX_LABEL as u32);
    n.map(Tag::Number).ok_or_else(|| format!("the label {text} is too large: {ALLOWED}"))
}

/// The values that a label may have.
const ALLOWED: &str = "labels are whole numbers from 0 to 16777216, or class names; an empty cell means no label";
const _: () = assert!(limits::MAX_LABEL == 16_777_216);

/// Whether a text is a decimal number: an optional sign, digits, and an optional fraction.
pub(super) fn is_decimal(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    unsigned.split_once('.').map_or_else(|| digits(unsigned), |(whole, part)| digits(whole) && digits(part))
}

/// Turns the labels of one manifest into numbers, if all of them are numbers.
///
/// Returns the labels that cannot be one, by their places, and what is wrong with them. They are then none. A negative
/// number is not a class name either: other tools write it for clips without a label.
pub(super) fn number_all<'a>(labels: impl Iterator<Item = &'a mut Label>) -> Vec<(usize, String)> {
    let mut labels: Vec<&mut Label> = labels.collect();
    let is_decimal_tag =
        |tag: &Tag| matches!(tag, Tag::Number(_)) || matches!(tag, Tag::Name(name) if is_decimal(name));
    let all = labels.iter().flat_map(|label| label.tags()).all(is_decimal_tag);
    let mut bad = Vec::new();
    for (i, label) in labels.iter_mut().enumerate() {
        let numbered = label.tags_mut().iter_mut().try_for_each(|tag| match tag {
            Tag::Name(text) if all || (text.starts_with('-') && is_decimal(text)) => {
                *tag = whole_number(text)?;
                Ok(())
            }
            _ => Ok(()),
        });
        if let Err(what) = numbered {
            **label = Label::None;
            bad.push((i, what));
        }
    }
    bad
}

/// Class names by label, and the search for the label of a name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Classes {
    pub names: Vec<String>,
    /// The number of the first class in the inputs: 0, or the first number in the file of classes.
    first: u32,
    /// Whether these are all names, and not only those that occur in the inputs.
    fixed: bool,
    by_name: HashMap<String, u32>,
}

impl Classes {
    fn new(names: Vec<String>, first: u32, fixed: bool) -> Result<Self> {
        if names.len() as u64 > limits::MAX_LABEL as u64 {
            return Err(Error::limit("there are too many classes").found(names.len()));
        }
        let by_name: HashMap<_, _> = names.iter().cloned().zip(0..).collect();
        if by_name.len() != names.len() {
            let mut seen = HashSet::new();
            let twice = names.iter().find(|name| !seen.insert(*name)).cloned().unwrap_or_default();
            return Err(Error::usage(format!("the class \"{twice}\" is listed twice")));
        }
        Ok(Classes { names, first, fixed, by_name })
    }

    /// Returns all names that occur, sorted, so that a label is the place of its name. The list is empty if labels
    /// are numbers.
    pub fn of<'a>(labels: impl Iterator<Item = &'a Label>) -> Result<Self> {
        let names = labels.flat_map(Label::tags).filter_map(|tag| match tag {
            Tag::Name(name) => Some(&**name),
            Tag::Number(_) => None,
        });
        let mut names: Vec<&str> = names.collect::<HashSet<_>>().into_iter().collect();
        names.sort_unstable();
        Self::new(names.into_iter().map(str::to_owned).collect(), 0, false)
    }

    /// Reads class names in their order.
    ///
    /// The file has one name on each line, or `NUMBER NAME` on each line, or JSON: an array of names, or an object
    /// of numbers by name. If the file numbers the classes from 1, so do the inputs, and the stored label is one
    /// less.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read the class names", path, e))?;
        let text = whole(&bytes, path)?;
        let json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let parsed = if json { from_json(text) } else { from_lines(text) };
        let (names, first) = parsed.map_err(|what| Error::usage(what).file(path))?;
        if names.is_empty() {
            return Err(Error::usage("no class names").file(path));
        }
        Self::new(names, first, true).map_err(|e| e.file(path))
    }

    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the label that is stored for a label of the inputs.
    pub fn find(&self, tag: &Tag) -> Result<u32, String> {
        match tag {
            Tag::Name(name) => {
                let known = self.by_name.get(&**name).copied();
                known.ok_or_else(|| format!("the class \"{name}\" is not among the {} given", self.names.len()))
            }
            Tag::Number(n) if !self.fixed => Ok(*n),
            Tag::Number(n) => {
                let last = u64::from(self.first) + self.names.len() as u64 - 1;
                let known = n.checked_sub(self.first).filter(|&label| (label as usize) < self.names.len());
                known.ok_or_else(|| format!("the label {n} is not among the classes given, {} to {last}", self.first))
            }
        }
    }

    /// Returns the name of a stored label, or an empty text where labels are plain numbers.
    pub fn name(&self, label: u32) -> &str {
        self.names.get(label as usize).map_or("", String::as_str)
    }
}

fn from_lines(text: &str) -> Result<(Vec<String>, u32), String> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let numbered = |line: &str| {
        let (number, name) = line.split_once([' ', '\t', ','])?;
        Some((number.parse().ok()?, name.trim().to_owned()))
    };
    let pairs: Option<Vec<(i64, String)>> = lines.iter().map(|line| numbered(line)).collect();
    match pairs {
        Some(pairs) => in_order(pairs),
        None => Ok((lines.into_iter().map(str::to_owned).collect(), 0)),
    }
}

fn from_json(text: &str) -> Result<(Vec<String>, u32), String> {
    let what = "expected an array of names, or an object of numbers by name";
    match serde_json::from_str(text).map_err(|e| format!("not JSON: {e}"))? {
        Value::Array(names) => {
            let names: Option<Vec<_>> = names.iter().map(|v| v.as_str().map(str::to_owned)).collect();
            names.map(|names| (names, 0)).ok_or_else(|| what.into())
        }
        Value::Object(map) => {
            let number = |v: &Value| v.as_i64().or_else(|| v.as_str()?.parse().ok());
            let pairs: Option<Vec<_>> = map.into_iter().map(|(name, v)| Some((number(&v)?, name))).collect();
            in_order(pairs.ok_or(what)?)
        }
        _ => Err(what.into()),
    }
}

/// Returns the names in the order of their numbers, which must follow one another from 0 or 1.
fn in_order(mut pairs: Vec<(i64, String)>) -> Result<(Vec<String>, u32), String> {
    pairs.sort();
    let first = pairs.first().map_or(0, |p| p.0);
    match pairs.iter().zip(first..).find(|(pair, n)| pair.0 != *n) {
        _ if !(0..=1).contains(&first) => Err(format!("the first class has number {first}: expected 0 or 1")),
        Some((_, n)) => Err(format!(
            "the numbers of the classes must be consecutive, without repeats, but number {n} is missing or the one before it repeats"
        )),
        None => Ok((pairs.into_iter().map(|p| p.1).collect(), first as u32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Classes> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        Classes::read(&path)
    }

    fn name(text: &str) -> Tag {
        Tag::Name(text.into())
    }

    #[test]
    fn names_keep_the_order_of_the_file() {
        let classes = read("c.txt", "\u{feff}run fast\n\njump\r\n").unwrap();
        assert_eq!(classes.names, ["run fast", "jump"]);
        assert_eq!((classes.find(&name("jump")), classes.find(&Tag::Number(0))), (Ok(1), Ok(0)));
        assert!(classes.find(&name("swim")).unwrap_err().contains("\"swim\""));
        assert!(classes.find(&Tag::Number(2)).unwrap_err().contains("0 to 1"));
        assert_eq!(read("c.json", r#"["b", "a"]"#).unwrap().names, ["b", "a"]);
    }

    #[test]
    fn numbered_names_set_the_first_number() {
        let ucf = read("classInd.txt", "1 ApplyEyeMakeup\n2 Archery\n3 Baby Crawling\n").unwrap();
        assert_eq!(ucf.names[2], "Baby Crawling");
        assert_eq!((ucf.find(&Tag::Number(3)), ucf.find(&name("Archery"))), (Ok(2), Ok(1)));
        assert!(ucf.find(&Tag::Number(0)).unwrap_err().contains("1 to 3"));
        let object = read("labels.json", r#"{"b": "0", "a": "1"}"#).unwrap();
        assert_eq!((object.names.as_slice(), object.find(&Tag::Number(1))), (&["b".into(), "a".into()][..], Ok(1)));
    }

    #[test]
    fn bad_files_are_refused() {
        for (file, text, part) in [
            ("c.txt", "", "no class names"),
            ("c.txt", "a\nb\na\n", "\"a\" is listed twice"),
            ("c.txt", "1 a\n3 b\n", "number 2"),
            ("c.txt", "5 a\n6 b\n", "expected 0 or 1"),
            ("c.txt", "-1 none\n0 a\n1 b\n", "number -1"),
            ("c.json", r#"{"none": -1, "a": 0}"#, "number -1"),
            ("c.json", "{", "not JSON"),
            ("c.json", "[1]", "array of names"),
            ("c.json", r#"{"a": "x"}"#, "numbers by name"),
        ] {
            let e = read(file, text).unwrap_err().to_string();
            assert!(e.contains(part) && e.contains(file), "{text:?}: {e}");
        }
    }
}
