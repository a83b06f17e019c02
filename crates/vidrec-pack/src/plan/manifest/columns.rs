//! The meaning of named columns, which is the same in tables and in JSON.

use serde_json::{Map, Value};

use super::super::labels::{Label, Tag, whole_number};
use super::super::options::InputOptions;
use super::super::segment::{Segment, microseconds};
use super::column_names::meant;
use super::row::{Context, ManifestRow, in_column};
use crate::plan::job::Attributes;
use crate::plan::manifest_columns::ColumnUse;
use crate::track::{EpisodeFrames, TrackSpec};
use vidrec_format::error::Error;

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

    /// Returns its use in a report, or `None` for a column that vidrec ignores.
    pub fn in_report(self) -> Option<ColumnUse> {
        match self {
            ColumnRole::Path => Some(ColumnUse::Path),
            ColumnRole::Label | ColumnRole::Labels => Some(ColumnUse::Label),
            ColumnRole::Start => Some(ColumnUse::Start),
            ColumnRole::End => Some(ColumnUse::End),
            ColumnRole::Split => Some(ColumnUse::Split),
            ColumnRole::Attribute | ColumnRole::Caption => Some(ColumnUse::Attribute),
            ColumnRole::Track => Some(ColumnUse::Track),
            ColumnRole::Episode | ColumnRole::Nothing => None,
        }
    }
}

/// A row that is collected cell by cell.
#[derive(Default)]
pub(super) struct Cells {
    path: Option<String>,
    label: Option<Label>,
    start_us: Option<u64>,
    end_us: Option<u64>,
    split: Option<String>,
    episode: Option<(EpisodeFrames, Segment)>,
    attributes: Map<String, Value>,
    /// The cells of tracks, by column.
    tracks: Map<String, Value>,
    /// The fault of the first cell that makes no sense.
    fault: Option<String>,
}

impl Cells {
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
            ColumnRole::Path => put(&mut self.path, text(value)?),
            ColumnRole::Label => put(&mut self.label, label(value)?),
            ColumnRole::Labels => put(&mut self.label, labels(value)?),
            ColumnRole::Start | ColumnRole::End => {
                let us = microseconds(seconds(&value)?)?;
                self.attributes.insert(name.to_owned(), value_of_seconds(us));
                put(if role == ColumnRole::Start { &mut self.start_us } else { &mut self.end_us }, us)
            }
            ColumnRole::Split => {
                self.attributes.insert("split".into(), value.clone());
                put(&mut self.split, text(value)?)
            }
            ColumnRole::Episode => put(&mut self.episode, EpisodeFrames::read(&value)?),
            ColumnRole::Attribute => {
                self.attributes.insert(name.to_owned(), value);
                Ok(())
            }
            ColumnRole::Caption => match self.attributes.insert("caption".into(), value) {
                Some(_) => Err("another column already gives the caption".into()),
                None => Ok(()),
            },
            ColumnRole::Track => {
                self.tracks.insert(name.to_owned(), value);
                Ok(())
            }
            ColumnRole::Nothing => Ok(()),
        }
    }

    /// Returns the row.
    pub fn finish(self, line: u64) -> ManifestRow {
        let no_path = self.path.is_none().then(|| in_column("path", "the path is empty"));
        let (episode, of_episode) = self.episode.unzip();
        let (segment, no_segment) = match Segment::new(self.start_us, self.end_us) {
            Ok(segment) => (segment, None),
            Err(what) => (None, Some(in_column("end", what))),
        };
        ManifestRow {
            line,
            fault: self.fault.or(no_path).or(no_segment),
            path: self.path.unwrap_or_default(),
            label: self.label.unwrap_or_default(),
            segment: of_episode.or(segment),
            episode: episode.map(Box::new),
            split: self.split.map(Into::into),
            attributes: Attributes::from_map(self.attributes),
            tracks: self.tracks,
        }
    }
}

fn put<T>(place: &mut Option<T>, value: T) -> Result<(), String> {
    if place.is_some() {
        return Err("another column already gives this property of the clip".into());
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

pub(super) fn value_of_seconds(us: u64) -> Value {
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

/// Returns the error for a manifest with these columns, none of which has paths.
pub(super) fn no_paths(context: &Context<'_>, columns: &[&str]) -> Error {
    let near = columns.iter().find(|name| meant(name) == Some("path"));
    let help = match near {
        Some(name) => format!("if {name:?} has the paths, {}", context.options.words.set("path_column", name)),
        None => "the first line must name the columns, for instance: path,label".into(),
    };
    let e = Error::usage("no column is called \"path\" or \"file_name\", and the first line is not a path and a label");
    e.file(context.file).found(shown(columns)).help(help)
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
