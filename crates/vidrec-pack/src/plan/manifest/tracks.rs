//! The tracks that the cells of a row provide.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::places;
use crate::track::{EpisodeFrames, Given, RowTracks, TrackCell, TrackSpec};
use vidrec_core::source_name;
use vidrec_core::store::location::is_remote;
use vidrec_format::track::schema::TrackType;

/// Returns the tracks of a row of the manifest `file`, whose paths begin at `root`, or `None` if the row provides
/// none.
///
/// `cells` are by column. An error names its column.
pub(super) fn of(
    (file, root): (&Path, &Path),
    specs: &[TrackSpec],
    line: u64,
    cells: &Map<String, Value>,
) -> Result<Option<Box<RowTracks>>, (String, String)> {
    if cells.is_empty() {
        return Ok(None);
    }
    // A remote root is for the videos. Files of values must be on this machine.
    let root = if is_remote(root) { file.parent().unwrap_or(Path::new("")) } else { root };
    let given = |column: &str, is_picture: bool| {
        let given = cells.get(column).map(|value| given(root, value, is_picture));
        given.transpose().map_err(|what| (column.to_owned(), what))
    };
    let mut row = Vec::new();
    for spec in specs {
        let mut columns = spec.columns();
        let is_picture = matches!(spec.kind, Some(TrackType::U8 | TrackType::U16));
        let values = columns.next().map(|column| given(column, is_picture)).transpose()?.flatten();
        let times = columns.next().map(|column| given(column, false)).transpose()?.flatten();
        row.push(values.map(|values| TrackCell { values, times }));
    }
    Ok(Some(Box::new(RowTracks { manifest: source_name::of_path(file).into(), line, cells: row })))
}

/// `is_picture` says that texts in a list name pictures, because the type of the track is one of numbers.
fn given(root: &Path, value: &Value, is_picture: bool) -> Result<Given, String> {
    let place = |name: &str| -> PathBuf { places::below(root, &source_name::to_path(name)) };
    let names = match value {
        Value::Array(_) if is_picture => serde_json::from_value::<Vec<String>>(value.clone()).ok(),
        Value::String(text) if is_picture && text.starts_with('[') => serde_json::from_str(text).ok(),
        _ => None,
    };
    if let Some(names) = names.filter(|names| !names.is_empty()) {
        return Ok(Given::Pictures(names.iter().map(|name| place(name)).collect()));
    }
    match value {
        Value::Array(_) => Ok(Given::List(value.to_string().into())),
        Value::String(text) if text.starts_with('[') => Ok(Given::List(text.as_str().into())),
        Value::String(name) => {
            let path = place(name);
            Ok(if !is_remote(&path) && path.is_dir() { Given::Folder(path) } else { Given::File(path) })
        }
        Value::Object(video) if video.contains_key("count") => {
            let file = video.get("file").and_then(Value::as_str).ok_or("expected the file of a video")?;
            Ok(Given::Video(place(file), EpisodeFrames::read(value)?.0))
        }
        other => Err(format!("expected the name of a file or a list, found {other}")),
    }
}
