//! The records of a file, from its first byte to its last.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Value, json};

use crate::{ClipInfo, Error, Result, limits};
use vidrec_core::dataset::split_payload;
use vidrec_format::recordio;
use vidrec_format::recordio::MAGIC;

/// A record and the contents of its header.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub offset: u64,
    pub id: u64,
    pub id2: u64,
    /// One number, or as many as the header says.
    pub labels: Box<[f32]>,
}

/// The records of a file.
#[derive(Debug)]
pub(super) struct Records {
    pub records: Vec<Record>,
    /// The ranges that are not records, and the error at the start of each.
    pub gaps: Vec<(Range<u64>, Error)>,
}

/// Finds all records. After a damaged range, continues at the next intact record.
pub(super) fn scan(file: &[u8]) -> Records {
    let mut scan = Records { records: Vec::new(), gaps: Vec::new() };
    let length = file.len() as u64;
    let mut at = 0;
    while at < length {
        match read(file, at) {
            Ok((found, end)) => {
                scan.records.push(found);
                at = end;
            }
            Err(e) => {
                let next = next_record(file, at).unwrap_or(length);
                scan.gaps.push((at..next, e));
                at = next;
            }
        }
    }
    scan
}

/// Returns the record at byte `at`, and where it ends.
fn read(file: &[u8], at: u64) -> Result<(Record, u64)> {
    let record = recordio::read(file, at)?;
    let (header, picture_at) = split_payload(&record.payload, at)?;
    // With a flag, labels follow the header.
    let several = record.payload[recordio::HEADER_BYTES..picture_at].as_chunks().0;
    let several = || several.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    let labels = if header.flag == 0 { [header.label].into() } else { several() };
    Ok((Record { offset: at, id: header.id, id2: header.id2, labels }, record.end))
}

/// Returns the start of the next readable record after `at`. Every record starts at a multiple of 4.
fn next_record(file: &[u8], at: u64) -> Option<u64> {
    let from = usize::try_from(at).ok()?.checked_add(1)?;
    let magic = MAGIC.to_le_bytes();
    let heads = memchr::memmem::find_iter(file.get(from..)?, &magic).map(|i| (from + i) as u64);
    heads.filter(|at| at % 4 == 0).find(|&at| read(file, at).is_ok())
}

/// Returns the image of a record that [`scan`] found.
pub(super) fn picture<'a>(file: &'a [u8], found: &Record) -> Result<Cow<'a, [u8]>> {
    let record = recordio::read(file, found.offset)?;
    let (_, picture_at) = split_payload(&record.payload, found.offset)?;
    Ok(match record.payload {
        Cow::Borrowed(payload) => Cow::Borrowed(&payload[picture_at..]),
        Cow::Owned(mut payload) => Cow::Owned(payload.split_off(picture_at)),
    })
}

/// Gives a clip the labels of its records. One whole number becomes its label (-1 for none), and several become its attribute
/// `labels`. Numbers that are not valid labels become the attribute `label_value` or `label_values`.
pub(super) fn set_labels(clip: &mut ClipInfo, labels: &[f32]) -> Result<()> {
    let whole = |x: f32| (x >= 0.0 && x <= limits::MAX_LABEL as f32 && x.fract() == 0.0).then_some(x as u32);
    if let Some(bad) = labels.iter().find(|x| !x.is_finite()) {
        return Err(Error::decode("a label is not a finite number").found(bad));
    }
    let mut set = |key: &str, value: Value| drop(clip.attributes.0.insert(key.into(), value));
    match labels {
        [] | [-1.0] => {}
        [x] => match whole(*x) {
            Some(label) => clip.label = Some(label),
            None => set("label_value", json!(f64::from(*x))),
        },
        several => match several.iter().map(|&x| whole(x)).collect::<Option<Vec<u32>>>() {
            Some(labels) => set("labels", json!(labels)),
            None => set("label_values", several.iter().map(|&x| json!(f64::from(x))).collect()),
        },
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use vidrec_format::recordio::RecordHeader;

    fn file(records: usize) -> Vec<u8> {
        let mut file = Vec::new();
        for i in 0..records {
            let header = RecordHeader { flag: 0, label: 1.0, id: i as u64, id2: 0 };
            // The second record has the magic at a multiple of 4, so it is stored in parts.
            let body = if i == 1 { MAGIC.to_le_bytes().to_vec() } else { vec![i as u8; 5 + i] };
            recordio::append(&header.to_bytes(), &body, &mut file).unwrap();
        }
        file
    }

    #[test]
    fn behind_damage_it_goes_on_with_the_next_record() {
        let whole = file(5);
        let starts: Vec<_> = scan(&whole).records.iter().map(|r| r.offset).collect();
        let mut damaged = whole.clone();
        damaged[starts[1] as usize] ^= 1;
        let found = scan(&damaged);
        assert_eq!(found.records.iter().map(|r| r.id).collect::<Vec<_>>(), [0, 2, 3, 4]);
        assert_eq!(found.gaps[0].0, starts[1]..starts[2]);
    }

    #[test]
    fn labels_find_their_places() {
        let applied = |labels: &[f32]| {
            let mut clip = ClipInfo::default();
            set_labels(&mut clip, labels).map(|()| (clip.label, serde_json::to_string(&clip.attributes).unwrap()))
        };
        for (labels, label, attributes) in [
            (&[7.0][..], Some(7), "{}"),
            (&[-1.0], None, "{}"),
            (&[0.5], None, r#"{"label_value":0.5}"#),
            (&[3.0, 1.0], None, r#"{"labels":[3,1]}"#),
            (&[3.0, -0.25], None, r#"{"label_values":[3.0,-0.25]}"#),
        ] {
            assert_eq!(applied(labels).unwrap(), (label, attributes.to_owned()));
        }
        assert!(applied(&[f32::NAN]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_covered_by_records_and_gaps(
            at in any::<prop::sample::Index>(), new in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut bytes = file(6);
            let at = at.index(bytes.len());
            let end = (at + new.len()).min(bytes.len());
            bytes.splice(at..end, new);
            let found = scan(&bytes);
            for (range, _) in &found.gaps {
                prop_assert!(range.start < range.end && range.end <= bytes.len() as u64);
            }
            for record in &found.records {
                prop_assert!(picture(&bytes, record).is_ok());
            }
        }
    }
}
