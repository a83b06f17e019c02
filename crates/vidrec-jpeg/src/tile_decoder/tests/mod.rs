//! Compares our decoder with libjpeg-turbo: the same bytes in every plane, and errors for the same damaged data.

mod alone;

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::idct::{self, Factors, Idct, IdctMachine, Quantization};
use super::mcu::Block;
use crate::fuzzing;
use crate::fuzzing::{decoder, encoded, optimized, picture, planes};
use crate::region_decoder::JpegDecoder;
use crate::{Encoder, Region, Scale};

/// Decodes with both, on all machines and at all scales.
fn compare(jpeg: &[u8], region: Region) {
    for scale in Scale::ALL {
        let theirs = planes(&mut decoder(JpegDecoder::Turbo, IdctMachine::Portable), jpeg, region, scale).unwrap();
        for machine in IdctMachine::all() {
            let ours = planes(&mut decoder(JpegDecoder::Own, machine), jpeg, region, scale).unwrap();
            assert!(ours == theirs, "{region:?} {scale:?} {machine:?}");
        }
    }
}

#[test]
fn every_quality_size_and_table_gives_libjpeg_turbos_planes() {
    for (quality, restart) in [(1, 1), (30, 1), (60, 2), (75, 2), (90, 3), (95, 3), (100, 6)] {
        let mut encoder = Encoder::new(quality).unwrap();
        encoder.set_effort(1).unwrap();
        for noise in [1, 20, 255] {
            for (width, height) in [(1, 1), (16, 16), (17, 33), (81, 67)] {
                let (picture, mut jpeg) = (picture(width, height, noise), Vec::new());
                compare(&encoded(&picture, quality), Region::whole((width, height)));
                encoder.encode(&picture, &mut jpeg).unwrap();
                compare(&jpeg, Region::whole((width, height)));
            }
            let own_tables = optimized(&picture(96, 64, noise), quality, restart);
            compare(&own_tables, Region { x: 40, y: 9, width: 30, height: 41 });
        }
    }
    compare(&encoded(&picture(1920, 1080, 9), 90), Region { x: 300, y: 200, width: 1000, height: 700 });
}

/// Every window of whole tiles, with seven tiles in a row of the picture. Any other window touches the same tiles
/// as one of these.
#[test]
fn every_window_of_tiles_gives_libjpeg_turbos_planes() {
    let (width, height) = (112, 64);
    let jpegs = [encoded(&picture(width, height, 30), 75), optimized(&picture(width, height, 90), 95, 1)];
    let ends = |side: u32| {
        (0..side).step_by(16).flat_map(move |from| (from + 16..=side).step_by(16).map(move |to| (from, to)))
    };
    for (left, right) in ends(width) {
        for (top, bottom) in ends(height) {
            let region = Region { x: left, y: top, width: right - left, height: bottom - top };
            compare(&jpegs[((left + top) / 16 % 2) as usize], region);
        }
    }
}

#[test]
fn headers_that_take_turns_are_not_mixed_up() {
    let sizes: Vec<_> = (1..40).map(|i| (16 * i, 16)).collect();
    let jpegs: Vec<_> = sizes.iter().map(|&(w, h)| encoded(&picture(w, h, 9), (w % 100 + 1) as u8)).collect();
    let mut decoders = [JpegDecoder::Own, JpegDecoder::Turbo].map(|choice| decoder(choice, IdctMachine::best()));
    for step in [1, 2, 7] {
        for i in (0..2 * sizes.len()).map(|i| i * step % sizes.len()) {
            let [ours, theirs] = &mut decoders;
            let region = Region::whole(sizes[i]);
            assert!(
                planes(ours, &jpegs[i], region, Scale::Full) == planes(theirs, &jpegs[i], region, Scale::Full),
                "{i}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Values far beyond those of pictures, where 16 bits overflow.
    #[test]
    fn any_coefficients_give_the_same_on_all_machines(
        coefficients in prop::collection::vec(prop_oneof![4 => Just(0i16), 2 => -300i16..300, 1 => any::<i16>()], 128),
        factors in prop::array::uniform32(prop_oneof![1u8..20, any::<u8>()]),
    ) {
        struct Pair<'a>([&'a Block; 2], Factors, &'a mut [Option<idct::SampleRows>]);
        impl idct::IdctWork for Pair<'_> {
            fn run<I: Idct>(self, idct: I) -> Option<()> {
                let Pair(blocks, factors, out) = self;
                out[0] = idct::pair::<I, 8>(idct, blocks, &factors);
                out[1] = idct::pair::<I, 4>(idct, blocks, &factors);
                out[2] = idct::pair::<I, 2>(idct, blocks, &factors);
                Some(())
            }
        }
        let factors = Quantization::from_zigzag(&std::array::from_fn(|i| factors[i / 2]));
        let blocks: [Block; 2] = [0, 64].map(|from| coefficients[from..from + 64].try_into().unwrap());
        let on = |machine: IdctMachine| {
            let mut rows = [None; 3];
            machine.run(Pair([&blocks[0], &blocks[1]], Factors::new([&factors, &factors]), &mut rows));
            rows
        };
        for machine in IdctMachine::all() {
            prop_assert_eq!(on(machine), on(IdctMachine::Portable));
        }
    }
}

#[test]
fn a_cut_or_lengthened_tile_is_an_error_from_all() {
    let jpeg = encoded(&picture(64, 48, 20), 90);
    let at = jpeg.windows(2).position(|pair| pair == [0xFF, 0xD1]).unwrap();
    for bad in [[&jpeg[..at - 3], &jpeg[at..]].concat(), [&jpeg[..at], &[0x55; 9], &jpeg[at..]].concat()] {
        for choice in [JpegDecoder::Auto, JpegDecoder::Own, JpegDecoder::Turbo] {
            let mut decoder = decoder(choice, IdctMachine::best());
            let whole = planes(&mut decoder, &bad, Region::whole((64, 48)), Scale::Full);
            assert!(whole.unwrap_err().contains("damaged data"), "{choice:?}");
            // A region without the tile is not affected.
            planes(&mut decoder, &bad, Region { x: 0, y: 32, width: 64, height: 16 }, Scale::Full).unwrap();
        }
    }
}

/// Tries the same 4000 inputs on every machine, or runs for `VIDREC_FUZZ_SECONDS` seconds, starting with number
/// `VIDREC_FUZZ_FROM`.
#[test]
fn changed_pictures_are_decoded_as_libjpeg_turbo_does_or_refused() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let time = variable("VIDREC_FUZZ_SECONDS").map(Duration::from_secs);
    let from = variable("VIDREC_FUZZ_FROM").unwrap_or(0);
    let (originals, started) = (fuzzing::originals(), Instant::now());
    let (mut tried, mut counts) = (0, [0u64; 4]);
    while time.map_or(tried < 4000, |time| started.elapsed() < time) {
        let case = from + tried;
        let input = fuzzing::changed(case, &originals);
        let verdict = std::panic::catch_unwind(|| fuzzing::decoders(&input));
        counts[verdict.unwrap_or_else(|_| panic!("case {case}")) as usize] += 1;
        tried += 1;
    }
    let [decoded, declined, refused, too_large] = counts;
    println!(
        "{tried} pictures: {decoded} decoded by both, {declined} by libjpeg-turbo alone, {refused} by none, {too_large} too large"
    );
    assert!(decoded > 0 && refused > 0);
}
