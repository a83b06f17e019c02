//! Lists: numbers, texts, lists of numbers, lists of items, or spans.

use serde_json::Value;

use super::open::Content;
use crate::track::array::Array;
use crate::track::place::RawTrack;
use crate::track::place::nanoseconds;
use crate::track::spec::TimeUnit;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// Reads a list. `spans` is set for a list of spans, and has the unit of their times. `is_list` says that each value is a list of items.
pub(super) fn read(text: &str, spans: Option<Option<TimeUnit>>, is_list: bool) -> Result<Content> {
    let list: Vec<Value> =
        serde_json::from_str(text).map_err(|e| Error::usage(format!("this is not a JSON list: {e}")))?;
    match spans {
        Some(unit) => read_spans(&list, unit, is_list).map(Content::Spans),
        None => values(list, is_list).map(Content::One),
    }
}

fn values(list: Vec<Value>, is_list: bool) -> Result<Array> {
    if !is_list {
        return array(&list);
    }
    let (mut items, mut ends) = (Vec::new(), Vec::new());
    for (i, value) in list.into_iter().enumerate() {
        let Value::Array(more) = value else {
            return Err(Error::usage(format!("value {i} is not a list of items")).found(shortened(&value)));
        };
        items.extend(more);
        ends.push(items.len());
    }
    let array = array(&items).map_err(|e| Error::usage(format!("items of lists: {e:#}")))?;
    Ok(Array { ends: Some(ends), ..array })
}

/// Reads numbers as `f64`, in lists that have the same length at every depth, or reads texts.
fn array(list: &[Value]) -> Result<Array> {
    if list.first().is_some_and(Value::is_string) {
        let text =
            |(i, value): (usize, &Value)| value.as_str().map(str::to_owned).ok_or_else(|| odd(i, "a text", value));
        return Ok(Array::row(TrackValues::Texts(list.iter().enumerate().map(text).collect::<Result<_>>()?)));
    }
    let mut shape = vec![list.len()];
    let mut inner = list.first();
    while let Some(Value::Array(values)) = inner.filter(|_| shape.len() <= limits::MAX_TRACK_SIDES) {
        shape.push(values.len());
        inner = values.first();
    }
    let mut numbers = Vec::new();
    for (i, value) in list.iter().enumerate() {
        push(value, &shape[1..], &mut numbers).map_err(|expected| odd(i, &expected, value))?;
    }
    Ok(Array { values: TrackValues::F64(numbers), shape, ends: None })
}

fn push(value: &Value, shape: &[usize], numbers: &mut Vec<f64>) -> std::result::Result<(), String> {
    match (value, shape.split_first()) {
        (Value::Number(n), None) => {
            numbers.push(n.as_f64().ok_or("a number")?);
            Ok(())
        }
        (Value::Array(values), Some((&side, rest))) if values.len() == side => {
            values.iter().try_for_each(|value| push(value, rest, numbers))
        }
        (_, None) => Err("a number".into()),
        (_, Some((side, _))) => Err(format!("a list of {side} values, like the first")),
    }
}

fn odd(place: usize, expected: &str, found: &Value) -> Error {
    Error::usage(format!("value {place} differs from the first")).expected(expected).found(shortened(found))
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

/// Reads spans, each as `[start, end, value]` or `{"start": …, "end": …, "text": …}`.
fn read_spans(list: &[Value], unit: Option<TimeUnit>, is_list: bool) -> Result<RawTrack> {
    let (mut starts, mut ends, mut contents) = (Vec::new(), Vec::new(), Vec::new());
    for (i, value) in list.iter().enumerate() {
        let [start, end, text] = parts_of(value).ok_or_else(|| {
            Error::usage(format!("value {i} is not a span"))
                .expected("[start, end, text], or start, end and text")
                .found(shortened(value))
        })?;
        starts.push(start.clone());
        ends.push(end.clone());
        contents.push(text.clone());
    }
    let times = |values: &[Value]| nanoseconds(&array(values)?, Some(unit.unwrap_or(TimeUnit::Seconds)));
    let (starts, ends) = (times(&starts)?, times(&ends)?);
    let values = match contents.is_empty() && !is_list {
        true => Array::row(TrackValues::Texts(Vec::new())),
        false => values(contents, is_list)?,
    };
    Ok(RawTrack { values, starts, ends })
}

/// Returns the start, end and value of a span.
fn parts_of(span: &Value) -> Option<[&Value; 3]> {
    match span {
        Value::Array(parts) => <&[Value; 3]>::try_from(parts.as_slice()).ok().map(|parts| parts.each_ref()),
        Value::Object(parts) => {
            let text = parts.get("text").or_else(|| parts.get("value"))?;
            Some([parts.get("start")?, parts.get("end")?, text])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<Array> {
        match read(text, None, false)? {
            Content::One(array) => Ok(array),
            _ => panic!("not one array"),
        }
    }

    #[test]
    fn lists_are_arrays() {
        let array = one("[[1, 2.5], [3, 4]]").unwrap();
        assert_eq!((array.values, array.shape), (TrackValues::F64(vec![1.0, 2.5, 3.0, 4.0]), vec![2, 2]));
        assert_eq!(one("[\"a\", \"b\"]").unwrap().values, TrackValues::Texts(vec!["a".into(), "b".into()]));
        for (bad, part) in [
            ("[[1, 2], [3]]", "value 1 differs from the first: expected a list of 2"),
            ("[1, \"x\"]", "value 1"),
            ("[1, null]", "value 1"),
            ("[\"x\", 1]", "expected a text"),
            ("{}", "not a JSON list"),
            ("[1,", "not a JSON list"),
        ] {
            let e = one(bad).unwrap_err().to_string();
            assert!(e.contains(part), "{bad}: {e}");
        }
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(one(&deep).is_ok_and(|array| array.value_shape().is_err()) || one(&deep).is_err());
    }

    #[test]
    fn spans_are_lists_or_objects() {
        let text = r#"[[0, 1.5, "a"], {"start": 1.5, "end": 2, "text": "b"}]"#;
        let Content::Spans(raw) = read(text, Some(None), false).unwrap() else { panic!() };
        assert_eq!(raw.values.values, TrackValues::Texts(vec!["a".into(), "b".into()]));
        assert_eq!((raw.starts, raw.ends), (vec![0, 1_500_000_000], vec![1_500_000_000, 2_000_000_000]));
        assert!(read("[[0, 1]]", Some(None), false).err().unwrap().to_string().contains("value 0 is not a span"));
    }
}
