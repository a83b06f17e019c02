//! Values from files and lists.

mod json;
mod npy;
mod open;
mod pictures;
mod table;

use super::arguments::{TrackCell, TrackInput};
use super::place::{RawTrack, nanoseconds};
use super::spec::{TrackSpec, TrackSpecTiming};
pub use npy::ArrayFile;
pub(crate) use open::{ChoosePictures, EncodePicture, OpenFile, ReadVideo, TrackFiles};
use open::{Content, bytes, ending};
pub(crate) use pictures::Pictures;
use pictures::VALUE_ENDINGS;
use vidrec_format::error::{Error, Result};

/// Reads the values of a track and their times from a cell. `how` opens files.
pub(super) fn read(spec: &TrackSpec, cell: &TrackCell, how: OpenFile<'_>) -> Result<RawTrack> {
    match (content(spec, &cell.values, spec.list, how)?, &spec.timing) {
        (Content::Spans(raw), _) => Ok(raw),
        (Content::One(_), TrackSpecTiming::Spans) => {
            Err(Error::usage("spans must be a list of [start, end, text], or a table with the columns start and end"))
        }
        (Content::One(_), _) if !spec.values.is_empty() => {
            Err(Error::usage("the file has no names, so values=NAME finds nothing in it"))
        }
        (Content::One(values), TrackSpecTiming::Times(column)) => {
            let input = cell.times.as_ref();
            let input = input.ok_or_else(|| Error::usage(format!("the row has no times in column {column:?}")))?;
            let times =
                match content(spec, input, false, how).map_err(|e| Error::usage(format!("times: {input}: {e:#}")))? {
                    Content::One(times) => times,
                    _ => return Err(Error::usage("times must be a list or an .npy file")),
                };
            Ok(RawTrack { values, starts: nanoseconds(&times, spec.unit)?, ends: Vec::new() })
        }
        (Content::One(values), _) => Ok(RawTrack { values, ..RawTrack::default() }),
        (Content::Named(table), TrackSpecTiming::Times(name)) => {
            let starts = nanoseconds(&table.column(name)?, spec.unit)?;
            Ok(RawTrack { values: table.values(&spec.values, &[name])?, starts, ends: Vec::new() })
        }
        (Content::Named(table), TrackSpecTiming::Spans) => {
            let [starts, ends] = ["start", "end"].map(|name| nanoseconds(&table.column(name)?, spec.unit));
            Ok(RawTrack { values: table.values(&spec.values, &["start", "end"])?, starts: starts?, ends: ends? })
        }
        (Content::Named(table), _) => Ok(RawTrack { values: table.values(&spec.values, &[])?, ..RawTrack::default() }),
    }
}

/// Reads values, each of which is a list of items if `is_list` says so.
fn content(spec: &TrackSpec, input: &TrackInput, is_list: bool, how: OpenFile<'_>) -> Result<Content> {
    let is_spans = spec.timing == TrackSpecTiming::Spans;
    let path = match input {
        TrackInput::List(text) => return json::read(text, is_spans.then_some(spec.unit), is_list),
        TrackInput::File(path) => path,
        TrackInput::Folder(_) | TrackInput::Pictures(_) | TrackInput::Video(..) => {
            return Err(Error::usage("pictures cannot be times"));
        }
    };
    let is_needed = |name: &str| {
        let is_time = matches!(&spec.timing, TrackSpecTiming::Times(times) if times == name);
        spec.values.is_empty() || is_time || spec.values.iter().any(|value| value == name)
    };
    match ending(path).as_str() {
        ending if is_list && VALUE_ENDINGS.contains(&ending) && ending != "json" => {
            Err(Error::usage("a file of arrays or a table has no lists of varying length")
                .expected("a list of lists in the row, or in a .json file"))
        }
        "npy" => npy::read(&bytes(path, how)?).map(Content::One),
        "npz" => npy::read_npz(&bytes(path, how)?, &is_needed).map(Content::Named),
        "csv" => table::read_csv(&bytes(path, how)?, b',').map(Content::Named),
        "tsv" => table::read_csv(&bytes(path, how)?, b'\t').map(Content::Named),
        "json" => {
            let text = String::from_utf8(bytes(path, how)?);
            json::read(
                &text.map_err(|_| Error::usage("the file is not UTF-8"))?,
                is_spans.then_some(spec.unit),
                is_list,
            )
        }
        _ => Err(Error::usage("vidrec cannot read values from a file with this ending")
            .expected(".npy, .npz, .csv, .tsv, .json or .png")
            .help("if it is a video of depth, add size=WIDTHxHEIGHT to the description of the track")),
    }
}
