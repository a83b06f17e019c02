//! A JPEG as marker segments: where each begins and ends, without reading what it says (T.81, annex B).

/// One marker segment: from its first byte 0xFF (fill bytes included) up to the next segment.
///
/// A scan is one segment: its header, its entropy-coded data and the restart markers in it. The end of the image takes
/// whatever follows it along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// The byte after 0xFF.
    pub marker: u8,
    pub start: usize,
    pub end: usize,
}

impl Segment {
    /// Whether this is SOF0 to SOF15, which say how large the picture is.
    pub fn is_frame_header(&self) -> bool {
        matches!(self.marker, 0xC0..=0xCF) && !matches!(self.marker, DHT | JPG | DAC)
    }
}

pub(super) const SOF0: u8 = 0xC0;
pub(super) const DHT: u8 = 0xC4;
const JPG: u8 = 0xC8;
const DAC: u8 = 0xCC;
pub(super) const RST0: u8 = 0xD0;
pub(super) const RST7: u8 = 0xD7;
pub(super) const SOI: u8 = 0xD8;
pub(super) const EOI: u8 = 0xD9;
pub(super) const SOS: u8 = 0xDA;
pub(super) const DQT: u8 = 0xDB;
pub(super) const DRI: u8 = 0xDD;
pub(super) const APP0: u8 = 0xE0;
pub(super) const APP14: u8 = 0xEE;
pub(super) const APP15: u8 = 0xEF;
pub(super) const COM: u8 = 0xFE;

/// The segments of a JPEG in order. Stops after the end of the image, and early where the bytes are not JPEG.
pub(super) struct Segments<'a> {
    jpeg: &'a [u8],
    at: usize,
}

impl<'a> Segments<'a> {
    pub fn new(jpeg: &'a [u8]) -> Self {
        Segments { jpeg, at: 0 }
    }

    /// The next segment; of a scan only its header, so that the entropy-coded data comes next and is no segment.
    pub fn next_header(&mut self) -> Option<Segment> {
        let start = self.at;
        let bytes = self.jpeg.get(start..)?;
        let fill = bytes.iter().take_while(|&&b| b == 0xFF).count();
        let marker = *bytes.get(fill)?;
        if fill == 0 || marker == 0 || (start == 0) != (marker == SOI) {
            return None;
        }
        let body = start + fill + 1;
        let end = match marker {
            SOI | RST0..=RST7 => body,
            EOI => self.jpeg.len(),
            _ => {
                let length = self.jpeg.get(body..body + 2)?;
                body + usize::from(u16::from_be_bytes([length[0], length[1]])).max(2)
            }
        };
        if end > self.jpeg.len() {
            return None;
        }
        self.at = end;
        Some(Segment { marker, start, end })
    }

    /// The first position from `from` on whose 0xFF begins a marker other than RSTn, so not a stuffed byte.
    fn end_of_scan(&self, from: usize) -> usize {
        let data = &self.jpeg[from..];
        let marker = |&i: &usize| data.get(i + 1).is_some_and(|&next| !matches!(next, 0x00 | RST0..=RST7));
        memchr::memchr_iter(0xFF, data).find(marker).map_or(self.jpeg.len(), |i| from + i)
    }
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let header = self.next_header()?;
        // RSTn comes here only after fill bytes; otherwise it is inside its scan.
        if matches!(header.marker, SOS | RST0..=RST7) {
            self.at = self.end_of_scan(header.end);
        }
        Some(Segment { end: self.at, ..header })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn segments_of_an_encoded_picture_cover_it() {
        let mut jpeg = Vec::new();
        crate::jpeg::Encoder::new(90).unwrap().encode(&crate::Planes::new(64, 64).unwrap(), &mut jpeg).unwrap();
        let segments: Vec<_> = Segments::new(&jpeg).collect();
        assert_eq!(segments[0], Segment { marker: SOI, start: 0, end: 2 });
        assert!(segments.windows(2).all(|w| w[0].end == w[1].start));
        let last = segments[segments.len() - 1];
        assert_eq!(last, Segment { marker: EOI, start: jpeg.len() - 2, end: jpeg.len() });
        assert_eq!(segments.iter().filter(|s| s.is_frame_header()).count(), 1);
        assert_eq!(segments.iter().filter(|s| s.marker == SOS).count(), 1);
    }

    #[test]
    fn fill_bytes_belong_to_the_segment_behind_them() {
        let jpeg = [0xFF, 0xD8, 0xFF, 0xFF, 0xFF, 0xFE, 0, 3, 9, 0xFF, 0xD9, 5, 5];
        let segments: Vec<_> = Segments::new(&jpeg).map(|s| (s.marker, s.start, s.end)).collect();
        assert_eq!(segments, [(SOI, 0, 2), (0xFE, 2, 9), (EOI, 9, 13)]);
    }

    #[test]
    fn a_restart_marker_with_fill_bytes_does_not_end_the_picture() {
        let scan = [0xFF, SOS, 0, 2, 1, 0xFF, 0, 0xFF, RST0, 2, 0xFF, 0xFF, 0xD1, 3, 0xFF, EOI];
        let segments: Vec<_> =
            Segments::new(&[&[0xFF, SOI], &scan[..]].concat()).map(|s| (s.marker, s.start)).collect();
        assert_eq!(segments, [(SOI, 0), (SOS, 2), (0xD1, 12), (EOI, 16)]);
    }

    proptest! {
        #[test]
        fn any_bytes_give_contiguous_segments_and_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for soi in [false, true] {
                if soi {
                    bytes.splice(0..0, [0xFF, SOI]);
                }
                let mut at = 0;
                for segment in Segments::new(&bytes) {
                    prop_assert!(segment.start == at && segment.end > at && segment.end <= bytes.len());
                    at = segment.end;
                }
            }
        }
    }
}
