//! Entry points for the fuzz targets in `fuzz/`: parsers of descriptions of data sets and of tracks.

use super::dataset_json::DatasetJson;
use super::meta::Meta;
use super::track::png::{self, Form};
use super::track::schema::{Schema, TrackSchema, TrackTiming, TrackType};
use super::track::{directory, file, flac, opus};
use crate::crc32;

/// Parses `dataset.json`, and checks that the result is the same after it is written and read again.
pub fn dataset_json(bytes: &[u8]) {
    let Ok(json) = DatasetJson::prove(bytes) else { return };
    assert!(DatasetJson::prove(&json.to_bytes()).is_ok_and(|again| again == json));
}

/// Parses the section `META`.
pub fn meta(bytes: &[u8]) {
    let _ = Meta::from_json(bytes);
}

/// Parses a track file. The bytes contain the length of a schema in two bytes, the schema, and the block of a clip,
/// whose directory gets the checksum that it should have.
pub fn tracks(bytes: &[u8]) {
    ends_of(bytes);
    sound(bytes);
    pictures(bytes);
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let Some((schema, block)) = rest.split_at_checked(u16::from_le_bytes(*length).into()) else { return };
    let (Ok(schema), Some((directory, ordinal))) = (Schema::from_bytes(schema), directory::head(block)) else { return };
    let Some(sum) = block.get(..directory).map(crc32) else { return };
    let Ok(entries) = directory::prove(block, block.len() as u64, ordinal, sum, &schema) else { return };
    for payload in entries.iter().filter_map(|entry| entry.unproven(block, &schema).ok()) {
        if payload.prove(64).and_then(|()| payload.prove_rest()).is_ok() {
            let _ = (payload.starts(), payload.ends(), payload.first_not_finite(), payload.text(0), payload.items(0));
            let _ =
                (payload.blocks().is_none() && payload.schema.value_bytes().is_some()).then(|| payload.number_bytes());
        }
    }
}

/// Decodes blocks of sound. The first bytes say how many values there are, and of which channels and rate.
fn sound(bytes: &[u8]) {
    let Some(([low, high, kind], block)) = bytes.split_first_chunk() else { return };
    let (rate, channels) = (opus::RATES[usize::from(kind % 5)], usize::from(kind / 5 % 2) + 1);
    let number = usize::from(u16::from_le_bytes([*low, *high]));
    let _ = flac::decode(block, (number % 4097, channels), 0, &mut Vec::new());
    let count = number % (opus::block_values(rate) + 1);
    let mut out = Vec::new();
    if opus::decode(block, (count, count, channels, rate), &mut out).is_ok() {
        assert_eq!(out.len(), 2 * channels * count);
        let (mut first, half) = (Vec::new(), count / 2);
        let is_decoded = opus::decode(block, (count, half, channels, rate), &mut first).is_ok();
        assert!(is_decoded && first == out[..2 * channels * half]);
    }
}

/// Decodes pictures. The bytes begin with a width and a height.
fn pictures(bytes: &[u8]) {
    let Some(([width, height], rest)) = bytes.split_first_chunk() else { return };
    for (kind, channels) in [(TrackType::U8, 3), (TrackType::U16, 1)] {
        let shape = vec![u32::from(*height), u32::from(*width), channels];
        let schema =
            TrackSchema { name: "depth".into(), kind, shape, timing: TrackTiming::Frames, nan: false, list: false };
        let Some(form) = Form::of(&schema) else { return };
        let mut out = Vec::new();
        if png::decode(rest, &form, &mut out).is_ok() {
            let again = png::encode(&out, &form).unwrap_or_default();
            let mut copy = Vec::new();
            assert!(png::decode(&again, &form, &mut copy).is_ok() && copy == out);
        }
    }
}

/// Parses the header, footer and table of a track file.
fn ends_of(bytes: &[u8]) {
    let _ = bytes.first_chunk().and_then(|bytes| file::TableEntry::from_bytes(bytes, 0)?.range(1 << 20).ok());
    let Some(header) = bytes.first_chunk() else { return };
    let (Ok(sum), Some(footer)) = (file::check_header(header), bytes.last_chunk()) else { return };
    let _ = file::Footer::from_bytes(footer, sum).map(|footer| footer.check_layout(bytes.len() as u64, 3));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz_seeds::mutate_seeds;

    #[test]
    fn any_change_of_a_description_or_a_track_is_read_or_refused() {
        mutate_seeds("dataset_json", dataset_json);
        mutate_seeds("meta", meta);
        mutate_seeds("tracks", tracks);
    }
}
