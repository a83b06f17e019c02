//! What reads descriptions of data sets, and tracks, from any bytes: for the fuzz targets in `fuzz/`.

use super::dataset_json::DatasetJson;
use super::meta::Meta;
use super::track::{directory, ends, schema::Schema, table_entry};
use crate::format::crc32;

/// `dataset.json`: what is read says the same once it is written and read again.
pub fn dataset_json(bytes: &[u8]) {
    let Ok(json) = DatasetJson::prove(bytes) else { return };
    assert!(DatasetJson::prove(&json.to_bytes()).is_ok_and(|again| again.agrees_with(&json)));
}

/// The section `META`.
pub fn meta(bytes: &[u8]) {
    let _ = Meta::from_json(bytes);
}

/// A track file: the length of a schema in two bytes, the schema, and the block of a clip, whose directory gets the
/// checksum that it should have.
pub fn tracks(bytes: &[u8]) {
    ends_of(bytes);
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let Some((schema, block)) = rest.split_at_checked(u16::from_le_bytes(*length).into()) else { return };
    let (Ok(schema), Some((directory, ordinal))) = (Schema::from_bytes(schema), directory::head(block)) else { return };
    let Some(sum) = block.get(..directory).map(crc32) else { return };
    let Ok(entries) = directory::prove(block, block.len() as u64, ordinal, sum, &schema) else { return };
    for payload in entries.iter().filter_map(|entry| entry.unproven(block, &schema).ok()) {
        if payload.prove(64).and_then(|()| payload.prove_rest()).is_ok() {
            let _ = (payload.starts(), payload.ends(), payload.first_not_finite(), payload.text(0));
            let _ = payload.has_only_numbers().then(|| payload.number_bytes());
        }
    }
}

/// Header, footer and table of a track file.
fn ends_of(bytes: &[u8]) {
    let _ = bytes.first_chunk().and_then(|bytes| table_entry::TableEntry::from_bytes(bytes, 0)?.range(1 << 20).ok());
    let Some(header) = bytes.first_chunk() else { return };
    let (Ok(sum), Some(footer)) = (ends::check_header(header), bytes.last_chunk()) else { return };
    let _ = ends::Footer::from_bytes(footer, sum).map(|footer| footer.check_layout(bytes.len() as u64, 3));
}

/// Does `work` with inputs that begin as the seeds of a reader (`fuzz/seeds`) and are changed again and again, for some
/// hundred times or as long as `VIDREC_FUZZ_SECONDS` says. What it does not survive is in the panic's message.
#[cfg(test)]
pub(crate) fn changed_files(reader: &str, work: impl Fn(&[u8])) {
    use std::time::{Duration, Instant};

    use crate::random::Random;

    let folder = format!("{}/fuzz/seeds/{reader}", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect();
    let seconds = std::env::var("VIDREC_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let (started, mut input, mut case) = (Instant::now(), Vec::new(), 0);
    while seconds.map_or(case < 300, |seconds| started.elapsed() < Duration::from_secs(seconds)) {
        let mut random = Random::new(case, &[]);
        if case % 16 == 0 {
            input.clone_from(&seeds[(case / 16) as usize % seeds.len()]);
        }
        if case >= 16 * seeds.len() as u64 || case % 16 > 0 {
            change(&mut input, &seeds, &mut random);
        }
        let survived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&input)));
        assert!(survived.is_ok(), "{reader}, case {case}: {:?}", String::from_utf8_lossy(&input));
        case += 1;
    }
    println!("{reader}: {case} cases in {:.0} s", started.elapsed().as_secs_f64());
}

/// Changes a few bytes, a number, or a stretch.
#[cfg(test)]
fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut crate::random::Random) {
    const NUMBERS: [u64; 10] = [0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 62, u64::MAX];
    const WORDS: [&str; 12] =
        ["null", "-1", "1e999", "[]", "{}", "\"\"", "true", "[[[[", "..", "/", "\\u0000", "18446744073709551616"];
    for _ in 0..=random.below(3) {
        let at = random.below(input.len() as u64 + 1) as usize;
        let end = (at + random.below(9) as usize).min(input.len());
        match random.below(8) {
            0 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            1 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.next_u32() as u8),
            2 => {
                let number = NUMBERS[random.below(10) as usize].to_le_bytes();
                input.iter_mut().skip(at).zip(&number[..1 << random.below(4)]).for_each(|(to, from)| *to = *from);
            }
            3 => drop(input.drain(at..end)),
            4 => drop(input.splice(at..at, input[at..end].to_vec())),
            5 => drop(input.splice(at..end, WORDS[random.below(12) as usize].bytes())),
            6 => input.truncate(at.max(1)),
            _ => {
                let other = &seeds[random.below(seeds.len() as u64) as usize];
                let from = random.below(other.len() as u64 + 1) as usize;
                let to = (from + random.below(64) as usize).min(other.len());
                drop(input.splice(at..end, other[from..to].iter().copied()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_of_a_description_or_a_track_is_read_or_refused() {
        changed_files("dataset_json", dataset_json);
        changed_files("meta", meta);
        changed_files("tracks", tracks);
    }
}
