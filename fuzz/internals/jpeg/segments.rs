//! Checks the code that reads or moves a JPEG's segments without decoding it.

use crate::codec::Decoder;
use crate::markers::Markers;
use crate::record_magic::avoid_magic;
use crate::region::Region;
use crate::retile::{Retiled, Retiler};
use crate::tiles::Tiler;

/// Checks the code that reads or moves a JPEG's segments without decoding it.
///
/// # Panics
///
/// Segments lose a byte, a cut is not a picture of the size that it states, or moved segments produce another
/// picture.
pub fn segments(jpeg: &[u8]) {
    let mut at = 0;
    for segment in Markers::new(jpeg) {
        assert!(segment.start == at && segment.end > at && segment.end <= jpeg.len(), "{segment:?} behind {at}");
        at = segment.end;
    }
    cuts(jpeg);
    // The same holds for larger pictures, but takes long.
    if Decoder::new().unwrap().header(jpeg).is_ok_and(|header| header.rgb_len() > 1 << 20) {
        return;
    }
    let mut moved = jpeg.to_vec();
    if avoid_magic(&mut moved) && moved != jpeg {
        assert!(pixels(&moved) == pixels(jpeg), "fill bytes make another picture");
    }
    if let Ok(Retiled::Tiled(tiled)) = Retiler::new().unwrap().retile(jpeg) {
        assert!(pixels(tiled) == pixels(jpeg), "tiles make another picture");
    }
}

/// A cut is itself tiled, and a cut of all its tiles has the same bytes.
fn cuts(jpeg: &[u8]) {
    let mut tiler = Tiler::default();
    let Some((width, height)) = tiler.size(jpeg) else { return };
    let region = Region { x: width / 3, y: height / 3, width: 1 + width / 2, height: 1 + height / 2 };
    let Some((small, cut)) = tiler.cut(jpeg, region, true) else { return };
    let small = small.bytes();
    let size = (cut.region.width, cut.region.height);
    let mut again = Tiler::default();
    assert_eq!(again.size(small), Some(size));
    let (same, whole) = again.cut(small, Region::whole(size), true).expect("a cut is tiled");
    assert!(whole.skipped == 0 && same.bytes() == small, "{region:?} {cut:?}");
}

/// The pixels of a picture that libjpeg-turbo decodes whole, if it can be decoded.
fn pixels(jpeg: &[u8]) -> Option<Vec<u8>> {
    Decoder::new().unwrap().decode_picture(jpeg).ok().map(|picture| picture.pixels)
}

#[cfg(test)]
mod tests {
    use super::segments;
    use crate::fuzzing::{changed, changed_again, originals};

    #[test]
    fn changed_pictures_have_segments_or_not() {
        let originals = originals();
        let mut input = Vec::new();
        for case in 0..300 {
            // Every second picture is changed once more.
            input = if case % 2 == 0 { changed(case, &originals) } else { changed_again(&input, case, 1 << 12) };
            segments(input.get(5..).unwrap_or_default());
        }
    }
}
