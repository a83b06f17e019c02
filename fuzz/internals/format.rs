//! Entry points for the fuzz targets in `fuzz/`: parsers of descriptions of data sets and of tracks.

use super::dataset_json::DatasetJson;
use super::meta::Meta;
use super::track::{directory, ends, flac, opus, picture, schema::Schema, table_entry};
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
    flac::fuzz(bytes);
    opus::fuzz(bytes);
    picture::fuzz(bytes);
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let Some((schema, block)) = rest.split_at_checked(u16::from_le_bytes(*length).into()) else { return };
    let (Ok(schema), Some((directory, ordinal))) = (Schema::from_bytes(schema), directory::head(block)) else { return };
    let Some(sum) = block.get(..directory).map(crc32) else { return };
    let Ok(entries) = directory::prove(block, block.len() as u64, ordinal, sum, &schema) else { return };
    for payload in entries.iter().filter_map(|entry| entry.unproven(block, &schema).ok()) {
        if payload.prove(64).and_then(|()| payload.prove_rest()).is_ok() {
            let _ = (payload.starts(), payload.ends(), payload.first_not_finite(), payload.text(0));
            let _ = (payload.blocks().is_none() && payload.schema.value_bytes().is_some()).then(|| payload.number_bytes());
        }
    }
}

/// Parses the header, footer and table of a track file.
fn ends_of(bytes: &[u8]) {
    let _ = bytes.first_chunk().and_then(|bytes| table_entry::TableEntry::from_bytes(bytes, 0)?.range(1 << 20).ok());
    let Some(header) = bytes.first_chunk() else { return };
    let (Ok(sum), Some(footer)) = (ends::check_header(header), bytes.last_chunk()) else { return };
    let _ = ends::Footer::from_bytes(footer, sum).map(|footer| footer.check_layout(bytes.len() as u64, 3));
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
