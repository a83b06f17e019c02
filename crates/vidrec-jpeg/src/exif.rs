//! How a picture is to be turned, which cameras write into EXIF data: a TIFF file in the header of a JPEG (TIFF 6.0, section 2).

use crate::markers::{APP1, headers};

const ORIENTATION: u16 = 0x0112;
const SHORT: u16 = 3;

/// The orientation in the EXIF data, if there is one: 1 is upright, 2 to 8 are turned or mirrored.
pub fn orientation(jpeg: &[u8]) -> Option<u16> {
    let mut segments = headers(jpeg).filter(|segment| segment.marker == APP1);
    let tiff = segments.find_map(|segment| segment.body.strip_prefix(b"Exif\0\0"))?;
    let is_little = match tiff.first_chunk()? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let short = |bytes: [u8; 2]| if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) };
    let long = |bytes: [u8; 4]| if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
    let directory = tiff.get(usize::try_from(long(*tiff.get(4..)?.first_chunk()?)).ok()?..)?;
    let (count, entries) = directory.split_first_chunk()?;
    // Tag, type, number of values, and the value itself if four bytes hold it.
    let (entries, _) = entries.as_chunks::<12>();
    let value = |&[t0, t1, k0, k1, n0, n1, n2, n3, v0, v1, ..]: &[u8; 12]| {
        let found = (short([t0, t1]), short([k0, k1]), long([n0, n1, n2, n3]));
        (found == (ORIENTATION, SHORT, 1)).then(|| short([v0, v1]))
    };
    entries.iter().take(usize::from(short(*count))).find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes of a JPEG with an orientation in its EXIF data.
    fn jpeg(tiff: &[u8]) -> Vec<u8> {
        let length = (2 + 6 + tiff.len()) as u8;
        let jfif = [0xFF, 0xE0, 0, 4, 0, 0];
        [&[0xFF, 0xD8][..], &jfif, &[0xFF, 0xFF, 0xE1, 0, length], b"Exif\0\0", tiff, &[0xFF, 0xDA, 0, 2]].concat()
    }

    fn big(orientation: u8) -> Vec<u8> {
        jpeg(&[b'M', b'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0])
    }

    #[test]
    fn orientation_is_found_behind_other_segments_and_entries() {
        assert_eq!((orientation(&big(1)), orientation(&big(6))), (Some(1), Some(6)));
        let width = [0, 1, 3, 0, 1, 0, 0, 0, 64, 0, 0, 0];
        let turned = [0x12, 1, 3, 0, 1, 0, 0, 0, 8, 0, 0, 0];
        let little = [&b"II*\0\x0a\0\0\0\0\0\x02\0"[..], &width, &turned].concat();
        assert_eq!(orientation(&jpeg(&little)), Some(8));
    }

    #[test]
    fn other_bytes_have_no_orientation_and_no_cut_panics() {
        assert_eq!(orientation(&[0xFF, 0xD8, 0xFF, 0xE1, 0, 0]), None);
        assert_eq!(orientation(&jpeg(b"MM\0*\xff\xff\xff\xff")), None);
        let all = big(6);
        assert!((0..all.len()).all(|cut| orientation(&all[..cut]).is_none_or(|found| found == 6)));
    }
}
