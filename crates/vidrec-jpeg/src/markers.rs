//! A walk over the marker segments of a JPEG: the beginning, the end and the bytes of each (T.81, annex B).
//!
//! All code that steps over markers is here, except for restart markers inside a scan, which `tiles.rs` finds.

/// One marker segment: from its first byte 0xFF (fill bytes included) to the next segment.
///
/// A scan is one segment: its header, its entropy-coded data and the restart markers in it. The end of the image
/// includes whatever follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MarkerSegment<'a> {
    /// The byte after 0xFF.
    pub marker: u8,
    pub start: usize,
    pub end: usize,
    /// The parameters after the marker and the length. For a scan, these are the parameters in its header.
    pub body: &'a [u8],
}

impl MarkerSegment<'_> {
    /// Whether this is SOF0 to SOF15, which have the size of the picture.
    pub fn is_frame_header(&self) -> bool {
        matches!(self.marker, 0xC0..=0xCF) && !matches!(self.marker, DHT | JPG | DAC)
    }
}

pub(crate) const SOF0: u8 = 0xC0;
pub(crate) const DHT: u8 = 0xC4;
const JPG: u8 = 0xC8;
const DAC: u8 = 0xCC;
pub(crate) const RST0: u8 = 0xD0;
pub(crate) const RST7: u8 = 0xD7;
pub(crate) const SOI: u8 = 0xD8;
pub(crate) const EOI: u8 = 0xD9;
pub(crate) const SOS: u8 = 0xDA;
pub(crate) const DQT: u8 = 0xDB;
pub(crate) const DRI: u8 = 0xDD;
pub(crate) const APP0: u8 = 0xE0;
pub(crate) const APP1: u8 = 0xE1;
pub(crate) const APP14: u8 = 0xEE;
pub(crate) const APP15: u8 = 0xEF;
pub(crate) const COM: u8 = 0xFE;

/// The segments of a JPEG in order. It stops after the end of the image, and early if the bytes are not JPEG.
pub(crate) struct Markers<'a> {
    jpeg: &'a [u8],
    at: usize,
}

/// The segments of a JPEG up to the header of its first scan, without the scan's data.
pub(crate) fn headers(jpeg: &[u8]) -> impl Iterator<Item = MarkerSegment<'_>> {
    let mut markers = Markers::new(jpeg);
    let mut before_scan = true;
    std::iter::from_fn(move || {
        if !before_scan {
            return None;
        }
        let segment = markers.next_header()?;
        before_scan = segment.marker != SOS;
        Some(segment)
    })
}

impl<'a> Markers<'a> {
    pub fn new(jpeg: &'a [u8]) -> Self {
        Markers { jpeg, at: 0 }
    }

    /// Reads the next segment. For a scan, it reads only the header, so `at` is then where the entropy-coded data
    /// begins.
    fn next_header(&mut self) -> Option<MarkerSegment<'a>> {
        let start = self.at;
        let bytes = self.jpeg.get(start..)?;
        let fill = bytes.iter().take_while(|&&b| b == 0xFF).count();
        let marker = *bytes.get(fill)?;
        if fill == 0 || marker == 0 || (start == 0) != (marker == SOI) {
            return None;
        }
        let behind = start + fill + 1;
        let (end, body) = match marker {
            SOI | RST0..=RST7 => (behind, &[][..]),
            EOI => (self.jpeg.len(), &[][..]),
            _ => {
                let length = self.jpeg.get(behind..behind + 2)?;
                let end = behind + usize::from(u16::from_be_bytes([length[0], length[1]])).max(2);
                (end, self.jpeg.get(behind + 2..end)?)
            }
        };
        self.at = end;
        Some(MarkerSegment { marker, start, end, body })
    }

    /// The first place at or after `from` where a marker other than RSTn begins. A stuffed byte is not a marker.
    fn end_of_scan(&self, from: usize) -> usize {
        let data = &self.jpeg[from..];
        let marker = |&i: &usize| data.get(i + 1).is_some_and(|&next| !matches!(next, 0x00 | RST0..=RST7));
        memchr::memchr_iter(0xFF, data).find(marker).map_or(self.jpeg.len(), |i| from + i)
    }
}

impl<'a> Iterator for Markers<'a> {
    type Item = MarkerSegment<'a>;

    fn next(&mut self) -> Option<MarkerSegment<'a>> {
        let header = self.next_header()?;
        // RSTn gets here only after fill bytes. Otherwise, it is inside its scan.
        if matches!(header.marker, SOS | RST0..=RST7) {
            self.at = self.end_of_scan(header.end);
        }
        Some(MarkerSegment { end: self.at, ..header })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn segments_of_an_encoded_picture_cover_it() {
        let mut jpeg = Vec::new();
        crate::Encoder::new(90).unwrap().encode(&crate::Planes::new(64, 64).unwrap(), &mut jpeg).unwrap();
        let segments: Vec<_> = Markers::new(&jpeg).collect();
        assert_eq!(segments[0], MarkerSegment { marker: SOI, start: 0, end: 2, body: &[] });
        assert!(segments.windows(2).all(|w| w[0].end == w[1].start));
        let last = segments[segments.len() - 1];
        assert_eq!(last, MarkerSegment { marker: EOI, start: jpeg.len() - 2, end: jpeg.len(), body: &[] });
        assert_eq!(segments.iter().filter(|s| s.is_frame_header()).count(), 1);
        assert_eq!(segments.iter().filter(|s| s.marker == SOS).count(), 1);
    }

    #[test]
    fn fill_bytes_belong_to_the_segment_behind_them() {
        let jpeg = [0xFF, 0xD8, 0xFF, 0xFF, 0xFF, 0xFE, 0, 3, 9, 0xFF, 0xD9, 5, 5];
        let segments: Vec<_> = Markers::new(&jpeg).map(|s| (s.marker, s.start, s.end, s.body)).collect();
        assert_eq!(segments, [(SOI, 0, 2, &[][..]), (0xFE, 2, 9, &[9]), (EOI, 9, 13, &[])]);
    }

    #[test]
    fn headers_end_with_that_of_the_first_scan() {
        let scan = [0xFF, SOS, 0, 3, 1, 0x55, 0xFF, RST0, 0xFF, EOI];
        let jpeg = [&[0xFF, SOI, 0xFF, DRI, 0, 4, 0, 2], &scan[..]].concat();
        let headers: Vec<_> = headers(&jpeg).map(|s| (s.marker, s.end, s.body)).collect();
        assert_eq!(headers, [(SOI, 2, &[][..]), (DRI, 8, &[0, 2]), (SOS, 13, &[1])]);
    }

    #[test]
    fn a_restart_marker_with_fill_bytes_does_not_end_the_picture() {
        let scan = [0xFF, SOS, 0, 2, 1, 0xFF, 0, 0xFF, RST0, 2, 0xFF, 0xFF, 0xD1, 3, 0xFF, EOI];
        let segments: Vec<_> = Markers::new(&[&[0xFF, SOI], &scan[..]].concat()).map(|s| (s.marker, s.start)).collect();
        assert_eq!(segments, [(SOI, 0), (SOS, 2), (0xD1, 12), (EOI, 16)]);
    }

    proptest! {
        #[test]
        fn any_bytes_give_contiguous_segments_and_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for soi in [false, true] {
                if soi {
                    bytes.splice(0..0, [0xFF, SOI]);
                }
                assert!(headers(&bytes).all(|segment| segment.end <= bytes.len()));
                let mut at = 0;
                for segment in Markers::new(&bytes) {
                    prop_assert!(segment.start == at && segment.end > at && segment.end <= bytes.len());
                    at = segment.end;
                }
            }
        }
    }
}
