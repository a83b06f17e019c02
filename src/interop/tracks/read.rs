//! Reads tracks from files.

use std::borrow::Cow;

use super::description::TrackJson;
use super::stems::is_stem;
use super::write::descr;
use vidrec_core::dataset::writer::{Track, TrackTimes, TrackValues};
use vidrec_format::error::{Error, Result};
use vidrec_format::npy::Header;
use vidrec_format::track::payload::numbers;
use vidrec_format::track::schema::TrackTiming;

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
            // Texts are not in an array.
            TrackValues::of_bytes(schema.kind, data).unwrap_or_default()
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
