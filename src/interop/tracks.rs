//! Stores the tracks of a clip as files beside its frames, for formats that have room for files of any kind.
//!
//! Numbers are a NumPy array, `STEM.npy`, whose first side is the values. Texts are a list, `STEM.json`. Times are
//! an array `STEM.times.npy` of nanoseconds on the clip's clock: one for each value, or the start and end of each.
//! A track of timing `frames` has no times. Those of timing `rate` are in the description.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use vidrec_core::dataset::writer::{Track, TrackTimes, TrackValues};
use vidrec_core::dataset::{Clip, Dataset, TrackView};
use vidrec_format::error::{Error, Result};
use vidrec_core::npy::Header;
use vidrec_format::track::payload::numbers;
use vidrec_format::track::schema::{TrackSchema, TrackTiming, TrackType};

/// A track of a clip without its values. The field names are the keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrackJson {
    /// Name, type, shape and timing.
    #[serde(flatten)]
    pub schema: TrackSchema,
    /// The number of values.
    pub count: u64,
    /// The time of the first value in nanoseconds, for timing `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_ns: Option<i64>,
    /// The values per second as numerator and denominator, for timing `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<(u32, u32)>,
    /// The prefix of the names of its files, if it has files of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}

impl TrackJson {
    pub fn of(track: &TrackView<'_>) -> Self {
        let (first_ns, rate) = track.rate().unzip();
        TrackJson { schema: track.schema().clone(), count: track.len() as u64, first_ns, rate, files: None }
    }

    /// Returns the descriptions of all tracks of a clip.
    pub fn of_clip(clip: &Clip<'_>) -> Result<Vec<Self>> {
        Ok(clip.tracks()?.all()?.iter().map(TrackJson::of).collect())
    }
}

/// The prefix of the names of a track's files. A track may have any name; archives and file systems allow fewer names, and
/// WebDataset's readers ignore case and split at dots.
const PREFIX: &str = "track.";

/// The most characters of a track's name in a stem.
const MAX_CHARACTERS: usize = 64;

/// The stems of all tracks of a data set, by name. They do not depend on the clip.
pub(crate) struct TrackStems(HashMap<String, String>);

impl TrackStems {
    pub fn of(dataset: &Dataset) -> Result<Self> {
        Ok(Self::of_names(dataset.tracks()?.into_iter().map(|track| track.name)))
    }

    fn of_names(names: impl Iterator<Item = String>) -> Self {
        let mut taken = HashSet::new();
        let mut stem = |name: &str| {
            let plain = plain(name);
            let numbered = (2u64..).map(|n| format!("{plain}-{n}"));
            // A free number exists, because there are more numbers than tracks.
            let free = std::iter::once(plain.clone()).chain(numbered).find(|stem| taken.insert(stem.clone()));
            PREFIX.to_owned() + &free.unwrap_or(plain)
        };
        TrackStems(names.map(|name| (stem(&name), name)).map(|(stem, name)| (name, stem)).collect())
    }

    pub fn get(&self, name: &str) -> Result<&str> {
        let stem = self.0.get(name).map(String::as_str);
        stem.ok_or_else(|| Error::internal("a track that is in no schema").in_track(name))
    }
}

/// Reduces a name to lowercase letters, digits, `-` and `_`.
fn plain(name: &str) -> String {
    let plain = |c: char| {
        let small = c.to_ascii_lowercase();
        if is_plain(small) { small } else { '_' }
    };
    name.chars().take(MAX_CHARACTERS).map(plain).collect()
}

fn is_plain(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_')
}

/// Whether the text can be a stem. A stem never leads to another folder.
fn is_stem(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(|name| !name.is_empty() && name.chars().all(is_plain))
}

/// Whether the name can be that of a track's file.
pub(crate) fn is_file(name: &str) -> bool {
    [".times.npy", ".npy", ".json"].iter().any(|ending| name.strip_suffix(ending).is_some_and(is_stem))
}

/// Writes the files of all tracks of a clip. Returns their descriptions for the clip's JSON.
pub(crate) fn write_all(
    clip: &Clip<'_>,
    stems: &TrackStems,
    put: &mut dyn FnMut(&str, &[u8]) -> Result<()>,
) -> Result<Vec<TrackJson>> {
    let tracks = clip.tracks()?.all()?;
    let write = |track: &TrackView<'_>| {
        let stem = stems.get(track.name())?;
        write(track, stem, put)?;
        track.prove_still_there()?;
        Ok(TrackJson { files: Some(stem.to_owned()), ..TrackJson::of(track) })
    };
    tracks.iter().map(write).collect()
}

fn write(track: &TrackView<'_>, stem: &str, put: &mut dyn FnMut(&str, &[u8]) -> Result<()>) -> Result<()> {
    match (descr(track.schema().kind), track.number_bytes(), track.texts()) {
        (Some(descr), Some(numbers), _) => {
            let sides = track.schema().shape.iter().map(|&side| side as usize);
            let shape: Vec<usize> = std::iter::once(track.len()).chain(sides).collect();
            put(&format!("{stem}.npy"), &[&Header::write(descr, &shape), numbers].concat())?;
        }
        (_, _, Some(texts)) => {
            // Serializing texts cannot fail.
            let json = serde_json::to_vec(&texts.collect::<Vec<_>>()).unwrap_or_default();
            put(&format!("{stem}.json"), &json)?;
        }
        _ => return Err(Error::internal("a track of neither numbers nor texts")),
    }
    if let Some((shape, times)) = times(track) {
        let numbers: Vec<u8> = times.iter().flat_map(|time| time.to_le_bytes()).collect();
        put(&format!("{stem}.times.npy"), &[Header::write("<i8", &shape), numbers].concat())?;
    }
    Ok(())
}

/// Returns NumPy's word for a type of numbers.
fn descr(kind: TrackType) -> Option<&'static str> {
    match kind {
        TrackType::F32 => Some("<f4"),
        TrackType::F64 => Some("<f8"),
        TrackType::I16 => Some("<i2"),
        TrackType::I32 => Some("<i4"),
        TrackType::I64 => Some("<i8"),
        TrackType::U8 => Some("|u1"),
        TrackType::U16 => Some("<u2"),
        TrackType::Bool => Some("|b1"),
        TrackType::Utf8 => None,
    }
}

/// Returns the times of all values in nanoseconds, and their shape. Spans have start and end side by side. Returns
/// `None` if the timing has no times.
pub(crate) fn times(track: &TrackView<'_>) -> Option<(Vec<usize>, Vec<i64>)> {
    let (starts, count) = (track.starts_ns()?, track.len());
    Some(match track.ends_ns() {
        Some(ends) => (vec![count, 2], starts.iter().zip(&*ends).flat_map(|(&start, &end)| [start, end]).collect()),
        None => (vec![count], starts.into_owned()),
    })
}

/// Reads the track that a clip's JSON describes. `file` returns the contents of a file by its name.
///
/// # Errors
///
/// A file is missing or does not match the description. The writer checks everything that is common to all tracks.
pub(crate) fn read<'a>(json: &TrackJson, file: &dyn Fn(&str) -> Result<Cow<'a, [u8]>>) -> Result<Track> {
    track(json, file).map_err(|e| e.in_track(&json.schema.name))
}

fn track<'a>(json: &TrackJson, file: &dyn Fn(&str) -> Result<Cow<'a, [u8]>>) -> Result<Track> {
    let schema = &json.schema;
    let stem = json.files.as_deref().filter(|stem| is_stem(stem)).ok_or_else(|| {
        Error::decode("the clip's JSON does not say what the files of the track begin with")
            .expected("\"files\": \"track.\" and small letters, digits, - or _")
    })?;
    let named = |ending: &str| {
        let name = format!("{stem}.{ending}");
        file(&name).map(|bytes| (name, bytes))
    };
    let values = match descr(schema.kind) {
        None => {
            let (name, bytes) = named("json")?;
            let texts: Vec<String> = serde_json::from_slice(&bytes)
                .map_err(|e| Error::decode(format!("{name}: this is not a list of texts: {e}")))?;
            check_count(&name, texts.len(), json.count)?;
            TrackValues::Texts(texts)
        }
        Some(descr) => {
            let (name, bytes) = named("npy")?;
            let shape: Vec<usize> = schema.shape.iter().map(|&side| side as usize).collect();
            let (count, data) = array(&bytes, descr, &shape).map_err(|e| in_file(&name, &e))?;
            check_count(&name, count, json.count)?;
            values(schema.kind, data)
        }
    };
    let times = |sides: &[usize]| {
        let (name, bytes) = named("times.npy")?;
        let (count, data) = array(&bytes, "<i8", sides).map_err(|e| in_file(&name, &e))?;
        check_count(&name, count, json.count)?;
        Ok(numbers::<i64>(data).into_owned())
    };
    let times = match schema.timing {
        TrackTiming::Frames => TrackTimes::Frames,
        TrackTiming::Times => TrackTimes::Times(times(&[])?),
        TrackTiming::Spans => {
            let (starts, ends) = times(&[2])?.as_chunks::<2>().0.iter().map(|&[start, end]| (start, end)).unzip();
            TrackTimes::Spans { starts, ends }
        }
        TrackTiming::Rate => {
            let rate = json.first_ns.zip(json.rate);
            let (first_ns, rate) = rate.ok_or_else(|| Error::decode("the clip's JSON lacks first_ns or rate"))?;
            TrackTimes::Rate { first_ns, rate }
        }
    };
    Ok(Track {
        name: schema.name.clone(),
        values,
        shape: schema.shape.clone(),
        times,
        nan: schema.nan,
        ..Track::default()
    })
}

fn in_file(name: &str, e: &Error) -> Error {
    Error::decode(format!("{name}: {e}"))
}

fn check_count(name: &str, found: usize, expected: u64) -> Result<()> {
    if found as u64 == expected {
        return Ok(());
    }
    Err(Error::decode(format!("{name}: the number of values is not the one in the clip's JSON"))
        .expected(expected)
        .found(found))
}

/// Returns the number of values in a file, and the bytes of their numbers.
fn array<'a>(bytes: &'a [u8], descr: &str, sides: &[usize]) -> Result<(usize, &'a [u8])> {
    let (header, data) = Header::read(bytes)?;
    let size: usize = descr[2..].parse().map_err(|_| Error::internal("a type without a size"))?;
    let count = match header.shape.split_first() {
        Some((&count, shape)) if shape == sides && header.descr == descr => Some(count),
        _ => None,
    };
    let is_in_order = !header.fortran_order || header.shape.len() == 1;
    let count = count.filter(|_| is_in_order).ok_or_else(|| {
        let order = if header.fortran_order { ", in Fortran order" } else { "" };
        Error::decode("this is not the array that the clip's JSON describes")
            .expected(format!("{descr}, a number of values and {sides:?}"))
            .found(format!("{} of shape {:?}{order}", header.descr, header.shape))
    })?;
    let length = header.shape.iter().try_fold(size, |n, &side| n.checked_mul(side));
    if length != Some(data.len()) {
        return Err(Error::decode("the file is cut off, or too long for its array")
            .expected(format!("{descr} of shape {:?}", header.shape))
            .found(format!("{} bytes", data.len())));
    }
    Ok((count, data))
}

fn values(kind: TrackType, data: &[u8]) -> TrackValues {
    match kind {
        TrackType::F32 => TrackValues::F32(numbers(data).into_owned()),
        TrackType::F64 => TrackValues::F64(numbers(data).into_owned()),
        TrackType::I16 => TrackValues::I16(numbers(data).into_owned()),
        TrackType::I32 => TrackValues::I32(numbers(data).into_owned()),
        TrackType::I64 => TrackValues::I64(numbers(data).into_owned()),
        TrackType::U8 => TrackValues::U8(data.to_vec()),
        TrackType::U16 => TrackValues::U16(numbers(data).into_owned()),
        TrackType::Bool => TrackValues::Bool(data.iter().map(|&byte| byte != 0).collect()),
        // Texts are not in an array.
        TrackType::Utf8 => TrackValues::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_stem_of_its_own() {
        let names = ["action", "Action", "gaze.left/x", "gaze_left_x", "動", "作", "action-2", "..", &"n".repeat(255)];
        let stems = TrackStems::of_names(names.iter().map(|&name| name.to_owned()));
        let of = |name: &str| stems.get(name).unwrap().to_owned();
        assert_eq!(
            names[..4].iter().map(|n| of(n)).collect::<Vec<_>>(),
            ["track.action", "track.action-2", "track.gaze_left_x", "track.gaze_left_x-2"]
        );
        assert_eq!((of("action-2"), of("..")), ("track.action-2-2".into(), "track.__".into()));
        let all: HashSet<String> = names.iter().map(|name| of(name)).collect();
        assert_eq!(all.len(), names.len());
        assert!(all.iter().all(|stem| is_stem(stem) && stem.len() < 80), "{all:?}");
        assert!(stems.get("other").is_err());
    }

    #[test]
    fn other_names_are_no_files_of_tracks() {
        for name in ["track.a.npy", "track.a.times.npy", "track.a-2.json"] {
            assert!(is_file(name), "{name}");
        }
        for name in ["json", "track.json", "track..npy", "track.a/../b.npy", "track.A.npy", "x.track.a.npy", "a.npy"] {
            assert!(!is_file(name), "{name}");
        }
    }
}
