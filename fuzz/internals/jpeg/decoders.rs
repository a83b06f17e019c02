//! Compares the two decoders of tiles.

use super::encoded::{encoded, picture};
use super::wish::Wish;
use crate::region::Region;
use crate::region::Scale;
use crate::region_decoder::JpegDecoder;
use crate::region_decoder::RegionDecoder;
use crate::tile_decoder::{IdctMachine, TileDecoder};

/// The result for a picture, on which both decoders agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Our decoder returned pixels, and libjpeg-turbo returned the same.
    Decoded,
    /// Our decoder declined, and libjpeg-turbo did not.
    Declined,
    /// Both returned an error.
    Refused,
    /// The picture is too large to try many times.
    TooLarge,
}

/// The maximum length of a side to decode.
const LARGEST: u32 = 1024;

/// Compares the decoders: `input` is a [`Wish`] and a JPEG.
///
/// # Panics
///
/// Our decoder returns other planes than libjpeg-turbo, or any planes if libjpeg-turbo fails or warns; the
/// automatic choice differs from libjpeg-turbo; or the next picture, a good one, is not decoded as before.
pub fn decoders(input: &[u8]) -> Verdict {
    let Some((&wish, jpeg)) = input.split_first_chunk() else { return Verdict::Refused };
    let wish = Wish::from_bytes(wish);
    let size = RegionDecoder::new().unwrap().format(jpeg).map_or((1, 1), |picture| picture.size);
    if size.0 > LARGEST || size.1 > LARGEST {
        return Verdict::TooLarge;
    }
    let region = wish.region(size);
    let [mut ours, mut auto, mut theirs] =
        [JpegDecoder::Own, JpegDecoder::Auto, JpegDecoder::Turbo].map(|choice| decoder(choice, wish.machine));
    let [from_us, from_auto, from_them] =
        [&mut ours, &mut auto, &mut theirs].map(|decoder| planes(decoder, jpeg, region, wish.scale));
    let words = || [&from_us, &from_auto, &from_them].map(|planes| planes.as_ref().err().cloned());
    // The messages may differ: if a header is broken, libjpeg-turbo gets the whole JPEG or the cut.
    assert!(
        from_auto.as_ref().ok() == from_them.as_ref().ok(),
        "the automatic choice is not libjpeg-turbo's: {wish:?} {region:?} {:?}",
        words()
    );
    assert!(
        from_us.is_err() || from_us == from_them,
        "our decoder gave other pixels, or some for what is damaged: {wish:?} {region:?} {:?}",
        words()
    );
    // The picture must leave no trace in the decoder.
    let (good, its_planes) = &*GOOD;
    let again = planes(&mut ours, good, Region::whole(GOOD_SIZE), Scale::Full);
    assert!(again.as_ref() == Ok(its_planes), "the picture behind it: {wish:?} {:?}", again.err());
    match (from_us, from_them) {
        (Ok(_), _) => Verdict::Decoded,
        (Err(_), Ok(_)) => Verdict::Declined,
        (Err(_), Err(_)) => Verdict::Refused,
    }
}

/// An intact picture, and its planes.
static GOOD: std::sync::LazyLock<(Vec<u8>, [Vec<u8>; 3])> = std::sync::LazyLock::new(|| {
    let jpeg = encoded(&picture(GOOD_SIZE.0, GOOD_SIZE.1, 40), 85);
    let its_planes =
        planes(&mut decoder(JpegDecoder::Turbo, IdctMachine::Portable), &jpeg, Region::whole(GOOD_SIZE), Scale::Full);
    (jpeg, its_planes.unwrap())
});

const GOOD_SIZE: (u32, u32) = (32, 32);

/// A decoder whose own decoder of tiles uses the code of `machine`.
pub(crate) fn decoder(choice: JpegDecoder, machine: IdctMachine) -> RegionDecoder {
    RegionDecoder::with(choice, TileDecoder::on(machine)).unwrap()
}

/// The planes of the cut, or the error.
pub(crate) fn planes(
    decoder: &mut RegionDecoder,
    jpeg: &[u8],
    region: Region,
    scale: Scale,
) -> Result<[Vec<u8>; 3], String> {
    let mut planes = [const { Vec::new() }; 3];
    decoder.planes(jpeg, region, scale, &mut planes).map_err(|e| e.to_string())?;
    Ok(planes)
}
