//! Fill bytes that move RecordIO's magic word away from the offsets where it would split a record.
//!
//! RecordIO splits a payload wherever its magic word is at a multiple of 4, which happens about once in a million
//! frames. In a JPEG, fill bytes 0xFF without a meaning may precede any marker (T.81, B.1.1.2). One to three of
//! them move the magic word away from the multiple of 4. Every decoder returns the same pixels, and the frame is
//! not split.

use super::markers::Markers;

/// RecordIO's magic 0xCED7230A, as in a file.
const MAGIC: [u8; 4] = [0x0A, 0x23, 0xD7, 0xCE];

/// Inserts fill bytes into `jpeg` until RecordIO's magic word is at no multiple of 4. Returns true if that
/// succeeded.
///
/// The offsets are those in `jpeg`. A record's payload has a header of 24 bytes before them, which changes nothing
/// modulo 4. Each segment that has the magic word at a bad place is moved by the fewest bytes that correct it,
/// together with all segments after it. If that fails, `jpeg` does not change. It fails if this is not a JPEG, or
/// if one segment has the magic word at all four residues.
pub fn avoid_magic(jpeg: &mut Vec<u8>) -> bool {
    if !holds_magic(jpeg, 0) {
        return true;
    }
    let Some(moved) = with_fill(jpeg) else { return false };
    let free = !holds_magic(&moved, 0);
    if free {
        *jpeg = moved;
    }
    free
}

/// Returns a copy of `jpeg` with the fill bytes, as far as it consists of segments.
fn with_fill(jpeg: &[u8]) -> Option<Vec<u8>> {
    let mut moved = Vec::with_capacity(jpeg.len() + 8);
    let mut done = 0;
    for segment in Markers::new(jpeg) {
        let bytes = &jpeg[segment.start..segment.end];
        // The magic word has no 0xFF, so it is within one segment. It is never in the start of the image.
        let fill = (0..4).find(|fill| !holds_magic(bytes, moved.len() + fill))?;
        moved.extend(std::iter::repeat_n(0xFF, fill));
        moved.extend_from_slice(bytes);
        done = segment.end;
    }
    moved.extend_from_slice(&jpeg[done..]);
    Some(moved)
}

/// Whether the magic word is at a multiple of 4 if `bytes` begin at `offset`.
fn holds_magic(bytes: &[u8], offset: usize) -> bool {
    let first = (4 - offset % 4) % 4;
    bytes.get(first..).is_some_and(|aligned| aligned.as_chunks().0.contains(&MAGIC))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;
    use crate::fuzzing;
    use proptest::prelude::*;

    fn encoded() -> Vec<u8> {
        fuzzing::encoded(&fuzzing::picture(70, 50, 30), 90)
    }

    fn pixels(jpeg: &[u8]) -> Vec<u8> {
        Decoder::new().unwrap().decode_picture(jpeg).unwrap().pixels
    }

    /// Returns `jpeg` with a comment of `text` inserted at `at`, where a segment begins.
    fn with_comment(jpeg: &[u8], at: usize, text: &[u8]) -> Vec<u8> {
        let length = (text.len() as u16 + 2).to_be_bytes();
        [&jpeg[..at], &[0xFF, 0xFE], &length, text, &jpeg[at..]].concat()
    }

    fn starts(jpeg: &[u8]) -> Vec<usize> {
        Markers::new(jpeg).map(|s| s.start).skip(1).collect()
    }

    /// With R = 1, every MCU ends in padding and a marker. The bytes of one interval can therefore be replaced by
    /// any bytes that decode to one MCU. This search finds such bytes that begin with the magic word.
    #[test]
    fn the_magic_in_entropy_coded_data_is_moved_and_the_pixels_stay() {
        let jpeg = encoded();
        let markers: Vec<usize> =
            (0..jpeg.len() - 1).filter(|&i| jpeg[i] == 0xFF && matches!(jpeg[i + 1], 0xD0..=0xD7)).collect();
        let (from, to) = (markers[3] + 2, markers[4]);
        let mut random = vidrec_format::random::Random::new(1, &[]);
        let mut found = 0;
        for _ in 0..200_000 {
            let tail: Vec<u8> = (0..12).map(|_| random.below(255) as u8).collect();
            let lead = &jpeg[from..from + random.below(4) as usize];
            let forged = [&jpeg[..from], lead, &MAGIC, &tail, &jpeg[to..]].concat();
            let mut decoder = Decoder::new().unwrap();
            let mut rgb = vec![0; 70 * 50 * 3];
            if !holds_magic(&forged, 0) || decoder.decode_rgb(&forged, &mut rgb, 70 * 3).is_err() {
                continue;
            }
            let mut moved = forged.clone();
            assert!(avoid_magic(&mut moved));
            assert!(!holds_magic(&moved, 0) && moved != forged);
            assert_eq!(pixels(&moved), rgb);
            found += 1;
            if found == 3 {
                return;
            }
        }
        panic!("{found} forged pictures decoded");
    }

    #[test]
    fn a_segment_with_the_magic_at_every_residue_cannot_be_freed_and_is_left_alone() {
        let text: Vec<u8> = (0..4).flat_map(|_| [&MAGIC[..], b"."].concat()).collect();
        let forged = with_comment(&encoded(), 2, &text);
        let mut jpeg = forged.clone();
        assert!(!avoid_magic(&mut jpeg));
        assert_eq!(jpeg, forged);
    }

    proptest! {
        #[test]
        fn the_answer_is_true_exactly_when_no_aligned_magic_is_left(
            parts in prop::collection::vec(prop_oneof![Just(MAGIC.to_vec()), prop::collection::vec(any::<u8>(), 0..6)], 0..9),
            at in any::<prop::sample::Index>(),
        ) {
            let plain = encoded();
            let starts = starts(&plain);
            let mut jpeg = with_comment(&plain, starts[at.index(starts.len())], &parts.concat());
            let free = avoid_magic(&mut jpeg);
            let naive = (0..jpeg.len()).step_by(4).any(|i| jpeg[i..].starts_with(&MAGIC));
            prop_assert_eq!(free, !naive);
            prop_assert_eq!(pixels(&jpeg), pixels(&plain));
        }
    }
}
