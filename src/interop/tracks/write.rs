//! Writes tracks to files.

use super::description::TrackJson;
use super::stems::TrackStems;
use vidrec_core::dataset::{Clip, TrackView};
use vidrec_core::npy::Header;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::TrackType;

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
pub(crate) fn descr(kind: TrackType) -> Option<&'static str> {
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
