//! A row of a manifest in any format.

use std::fmt;

use csv::StringRecord;
use serde_json::{Map, Value};

use super::columns::ColumnRole;
use crate::plan::labels::{Label, Tag, whole_number};
use crate::plan::segment::{Segment, microseconds};
use crate::track::EpisodeFrames;

/// A row of a manifest, as far as it is read.
#[derive(Debug, Default)]
pub(super) struct ManifestRow {
    /// The number of the line, or of the element of an array, from 1.
    pub line: u64,
    pub path: String,
    pub label: Label,
    pub start_us: Option<u64>,
    pub end_us: Option<u64>,
    /// The frames that the video must have in a segment, if it is an episode.
    pub episode: Option<(EpisodeFrames, Segment)>,
    pub split: Option<Box<str>>,
    pub attributes: Map<String, Value>,
    /// The cells of tracks, by column.
    pub tracks: Map<String, Value>,
    /// The first fault of the row, if it has one. The rest of it is then only known in part.
    pub fault: Option<String>,
}

/// Returns what is wrong with a cell.
pub(super) fn in_column(column: &str, what: impl fmt::Display) -> String {
    format!("column {column:?}: {what}")
}

impl ManifestRow {
    pub fn new(line: u64) -> Self {
        ManifestRow { line, ..ManifestRow::default() }
    }

    /// Creates the row of a record, whose cells have these names and meanings.
    pub fn of(header: &StringRecord, roles: &[ColumnRole], line: u64, record: &StringRecord) -> Self {
        let mut row = ManifestRow::new(line);
        for ((name, &role), value) in header.iter().zip(roles).zip(record) {
            row.set(role, name, value.into());
        }
        row
    }

    /// Creates a row that makes no sense.
    pub fn bad(line: u64, what: impl Into<String>) -> Self {
        ManifestRow { fault: Some(what.into()), ..ManifestRow::new(line) }
    }

    /// Adds a cell of the column `name`. An empty cell or `null` counts as no cell.
    pub fn set(&mut self, role: ColumnRole, name: &str, value: Value) {
        if let Err(what) = self.try_set(role, name, value) {
            self.refuse(name, &what);
        }
    }

    /// Says that a cell makes no sense.
    pub fn refuse(&mut self, name: &str, what: &str) {
        self.fault.get_or_insert_with(|| in_column(name, what));
    }

    /// The error says what is wrong with the cell.
    fn try_set(&mut self, role: ColumnRole, name: &str, value: Value) -> Result<(), String> {
        if value.is_null() || value.as_str().is_some_and(str::is_empty) {
            return Ok(());
        }
        match role {
            ColumnRole::Path if self.path.is_empty() => self.path = text(value)?,
            ColumnRole::Label if self.label == Label::None => self.label = label(value)?,
            ColumnRole::Labels if self.label == Label::None => self.label = labels(value)?,
            ColumnRole::Path | ColumnRole::Label | ColumnRole::Labels => return Err(GIVEN.into()),
            ColumnRole::Start | ColumnRole::End => {
                let us = microseconds(seconds(&value)?)?;
                self.attributes.insert(name.to_owned(), value_of_seconds(us));
                put(if role == ColumnRole::Start { &mut self.start_us } else { &mut self.end_us }, us)?;
            }
            ColumnRole::Split => {
                self.attributes.insert("split".into(), value.clone());
                put(&mut self.split, text(value)?.into())?;
            }
            ColumnRole::Episode => put(&mut self.episode, EpisodeFrames::read(&value)?)?,
            ColumnRole::Caption if self.attributes.contains_key("caption") => {
                return Err("another column already gives the caption".into());
            }
            ColumnRole::Caption => drop(self.attributes.insert("caption".into(), value)),
            ColumnRole::Attribute => drop(self.attributes.insert(name.to_owned(), value)),
            ColumnRole::Track => drop(self.tracks.insert(name.to_owned(), value)),
            ColumnRole::Nothing => {}
        }
        Ok(())
    }
}

const GIVEN: &str = "another column already gives this property of the clip";

fn put<T>(place: &mut Option<T>, value: T) -> Result<(), String> {
    if place.is_some() {
        return Err(GIVEN.into());
    }
    *place = Some(value);
    Ok(())
}

fn text(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(format!("expected text, found {other}")),
    }
}

fn seconds(value: &Value) -> Result<f64, String> {
    let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok().or_else(|| clock(text))));
    number.ok_or_else(|| format!("expected seconds such as 12.5, or a time such as 0:01:12.5, found {value}"))
}

/// Reads `[HOURS:]MINUTES:SECONDS[.FRACTION]`, as FFmpeg does (ffmpeg-utils, "Time duration").
fn clock(text: &str) -> Option<f64> {
    let number =
        |part: &str| part.parse::<f64>().ok().filter(|_| part.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    let parts: Vec<f64> = text.split(':').map(number).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match *parts {
        [minutes, seconds] => (0.0, minutes, seconds),
        [hours, minutes, seconds] => (hours, minutes, seconds),
        _ => return None,
    };
    let fits = minutes < 60.0 && seconds < 60.0 && hours.fract() == 0.0 && minutes.fract() == 0.0;
    fits.then_some(hours * 3600.0 + minutes * 60.0 + seconds)
}

fn value_of_seconds(us: u64) -> Value {
    // Whole seconds become an integer, as people write them.
    if us.is_multiple_of(1_000_000) { (us / 1_000_000).into() } else { (us as f64 / 1e6).into() }
}

fn tag(value: Value) -> Result<Tag, String> {
    match value {
        Value::String(name) if !name.is_empty() => Ok(Tag::Name(name.into())),
        Value::Number(n) => whole_number(&n.to_string()),
        other => Err(format!("expected a label, a name or a number, found {other}")),
    }
}

/// Reads one label, or in JSON an array of labels.
fn label(value: Value) -> Result<Label, String> {
    match value {
        Value::Array(_) => labels(value),
        one => tag(one).map(Label::One),
    }
}

/// Reads several labels: an array, which may be text, or names separated by semicolons or bars.
fn labels(value: Value) -> Result<Label, String> {
    let values = match value {
        Value::Array(values) => values,
        Value::String(text) if text.starts_with('[') => {
            serde_json::from_str(&text).map_err(|e| format!("expected a JSON array, found {text}: {e}"))?
        }
        Value::String(text) => text.split([';', '|']).map(|part| part.trim().into()).collect(),
        one => vec![one],
    };
    values.into_iter().map(tag).collect::<Result<_, _>>().map(Label::Many)
}
