//! Our decoder beside libjpeg-turbo: every byte of every plane, and for what is not as it should be, the same refusals.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::idct::{Machine, Quantisation};
use super::*;
use crate::Planes;
use crate::jpeg::tiles::Region;
use crate::jpeg::tj::{Compressor, Yuv420};
use crate::jpeg::{Decoder, Encoder, JpegDecoder};
use crate::random::Random;

/// Waves and noise: all frequencies, with `noise` levels of the last.
fn picture(width: u32, height: u32, noise: u32) -> Planes {
    let mut random = Random::new(1, &[u64::from(width), u64::from(height)]);
    let mut picture = Planes::new(width, height).unwrap();
    for (k, plane) in [&mut picture.y, &mut picture.cb, &mut picture.cr].into_iter().enumerate() {
        let wave = |i: usize| f64::from(255 - noise) * (0.5 + 0.5 * (i as f64 / (7.0 + k as f64)).sin());
        plane.iter_mut().enumerate().for_each(|(i, v)| *v = (wave(i) as u32 + random.next_u32() % noise) as u8);
    }
    picture
}

fn encoded(picture: &Planes, quality: u8) -> Vec<u8> {
    let mut jpeg = Vec::new();
    Encoder::new(quality).unwrap().encode(picture, &mut jpeg).unwrap();
    jpeg
}

/// The same with Huffman tables of its own and `restart` MCUs in a tile. Sides have to be even.
fn optimised(picture: &Planes, quality: u8, restart: u16) -> Vec<u8> {
    let (width, height) = (picture.width(), picture.height());
    let planes = Yuv420 { width, height, planes: [&picture.y[..], &picture.cb, &picture.cr] };
    let mut jpeg = vec![0; 1 << 16];
    let mut compressor = Compressor::new(quality).unwrap();
    compressor.optimize(true).unwrap();
    let length = compressor.compress(&planes, restart, &mut jpeg).unwrap();
    jpeg.truncate(length);
    jpeg
}

fn decoder(choice: JpegDecoder, machine: Machine) -> Decoder {
    let mut decoder = Decoder::with_choice(choice).unwrap();
    decoder.own = TileDecoder::on(machine);
    decoder
}

/// The planes of what is cut out, or the error.
fn planes(decoder: &mut Decoder, jpeg: &[u8], region: Region, scale: Scale) -> Result<[Vec<u8>; 3], String> {
    let mut planes = [const { Vec::new() }; 3];
    decoder.region_planes(jpeg, region, scale, &mut planes).map_err(|e| e.to_string())?;
    Ok(planes)
}

/// Decodes with both, on all machines and at all scales.
fn compare(jpeg: &[u8], region: Region) {
    for scale in Scale::ALL {
        let theirs = planes(&mut decoder(JpegDecoder::Turbo, Machine::Portable), jpeg, region, scale).unwrap();
        for machine in Machine::all() {
            let ours = planes(&mut decoder(JpegDecoder::Own, machine), jpeg, region, scale).unwrap();
            assert!(ours == theirs, "{region:?} {scale:?} {machine:?}");
        }
    }
}

#[test]
fn every_quality_and_size_gives_libjpeg_turbos_planes() {
    for quality in [1, 30, 60, 75, 90, 95, 100] {
        for (width, height) in [(1, 1), (16, 16), (17, 33), (81, 67)] {
            for noise in [1, 20, 255] {
                compare(&encoded(&picture(width, height, noise), quality), Region::whole((width, height)));
            }
        }
    }
    compare(&encoded(&picture(1920, 1080, 9), 90), Region { x: 300, y: 200, width: 1000, height: 700 });
}

#[test]
fn tables_of_its_own_and_tiles_of_any_width_give_libjpeg_turbos_planes() {
    for (restart, quality) in [(1, 30), (2, 75), (3, 90), (6, 100)] {
        for noise in [1, 20, 255] {
            compare(
                &optimised(&picture(96, 64, noise), quality, restart),
                Region { x: 40, y: 9, width: 30, height: 41 },
            );
        }
    }
}

#[test]
fn headers_that_take_turns_are_not_mixed_up() {
    let sizes: Vec<_> = (1..40).map(|i| (16 * i, 16)).collect();
    let jpegs: Vec<_> = sizes.iter().map(|&(w, h)| encoded(&picture(w, h, 9), (w % 100 + 1) as u8)).collect();
    let mut decoders = [JpegDecoder::Own, JpegDecoder::Turbo].map(|choice| Decoder::with_choice(choice).unwrap());
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

    #[test]
    fn any_window_gives_libjpeg_turbos_planes(at: (u32, u32), length: (u32, u32), quality in 1u8..=100) {
        let size = (140, 70);
        let (x, y) = (at.0 % size.0, at.1 % size.1);
        let (width, height) = (1 + length.0 % (size.0 - x), 1 + length.1 % (size.1 - y));
        compare(&encoded(&picture(size.0, size.1, 20), quality), Region { x, y, width, height });
    }

    /// Far beyond what pictures have, where 16 bits overflow.
    #[test]
    fn any_coefficients_give_the_same_on_all_machines(
        coefficients in prop::collection::vec(prop_oneof![4 => Just(0i16), 2 => -300i16..300, 1 => any::<i16>()], 128),
        factors in prop::array::uniform32(prop_oneof![1u8..20, any::<u8>()]),
    ) {
        struct Pair<'a>([&'a Block; 2], Factors, &'a mut [Option<idct::Rows>]);
        impl idct::Work for Pair<'_> {
            fn run<I: Idct>(self, idct: I) -> Option<()> {
                let Pair(blocks, factors, out) = self;
                out[0] = idct::pair::<I, 8>(idct, blocks, &factors, false);
                out[1] = idct::pair::<I, 4>(idct, blocks, &factors, false);
                Some(())
            }
        }
        let factors = Quantisation::from_zigzag(&std::array::from_fn(|i| factors[i / 2]));
        let mut blocks = [[0; 128]; 2];
        blocks.iter_mut().zip(coefficients.chunks(64)).for_each(|(block, c)| block[..64].copy_from_slice(c));
        let on = |machine: Machine| {
            let mut rows = [None; 2];
            machine.run(Pair([&blocks[0], &blocks[1]], Factors::new([&factors, &factors]), &mut rows));
            rows
        };
        for machine in Machine::all() {
            prop_assert_eq!(on(machine), on(Machine::Portable));
        }
    }
}

#[test]
fn a_cut_or_lengthened_tile_is_an_error_from_all() {
    let jpeg = encoded(&picture(64, 48, 20), 90);
    let at = jpeg.windows(2).position(|pair| pair == [0xFF, 0xD1]).unwrap();
    for bad in [[&jpeg[..at - 3], &jpeg[at..]].concat(), [&jpeg[..at], &[0x55; 9], &jpeg[at..]].concat()] {
        for choice in [JpegDecoder::Auto, JpegDecoder::Own, JpegDecoder::Turbo] {
            let mut decoder = Decoder::with_choice(choice).unwrap();
            let whole = planes(&mut decoder, &bad, Region::whole((64, 48)), Scale::Full);
            assert!(whole.unwrap_err().contains("damaged data"), "{choice:?}");
            // Whoever does not need the tile does not see it.
            planes(&mut decoder, &bad, Region { x: 0, y: 32, width: 64, height: 16 }, Scale::Full).unwrap();
        }
    }
}

/// Pictures to change at random: of several sizes, qualities, tables and kinds of tiles.
fn originals() -> Vec<Vec<u8>> {
    let mut originals: Vec<_> =
        [(64, 48, 90), (33, 17, 50), (48, 32, 100)].map(|(w, h, q)| encoded(&picture(w, h, 30), q)).into();
    originals.extend([(1, 90), (2, 30), (4, 95)].map(|(restart, q)| optimised(&picture(64, 32, 30), q, restart)));
    originals
}

/// Changes one to four places of `jpeg`, mostly in its scan.
fn mutate(jpeg: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let scan = jpeg.windows(2).position(|pair| pair == [0xFF, 0xDA]).unwrap_or(0);
        let (from, to) = if random.below(4) == 0 { (0, jpeg.len()) } else { (scan, jpeg.len()) };
        let at = from + random.below((to - from) as u64) as usize;
        let value = random.next_u32() as u8;
        match random.below(8) {
            0 => jpeg[at] ^= 1 << (value & 7),
            1 => jpeg[at] = [0x00, 0xFF, 0x7F, 0x80][usize::from(value) & 3],
            2 => jpeg.insert(at, value),
            3 => drop(jpeg.remove(at)),
            4 => jpeg.truncate(at.max(20)),
            5 => {
                let end = (at + 1 + usize::from(value)).min(jpeg.len());
                jpeg.copy_within(at..end, at.saturating_sub(usize::from(value) / 3));
            }
            _ => jpeg[at] = value,
        }
        if jpeg.len() < 30 {
            return;
        }
    }
}

/// What both say of a changed picture: the automatic choice says what libjpeg-turbo says, and our decoder that or nothing.
fn agree(jpeg: &[u8], region: Region, scale: Scale, machine: Machine) -> bool {
    let [ours, auto, theirs] = [JpegDecoder::Own, JpegDecoder::Auto, JpegDecoder::Turbo]
        .map(|choice| planes(&mut decoder(choice, machine), jpeg, region, scale));
    assert!(
        auto.as_ref().ok() == theirs.as_ref().ok(),
        "{auto:?} {theirs:?}",
        auto = auto.err(),
        theirs = theirs.err()
    );
    assert!(
        ours.is_err() || ours == theirs,
        "our decoder gave other pixels, or some for what is damaged: {theirs:?}",
        theirs = theirs.as_ref().err()
    );
    ours.is_ok()
}

/// For two seconds, or as many as `VIDREC_FUZZ_SECONDS` says, from the number on that `VIDREC_FUZZ_FROM` gives.
#[test]
fn changed_pictures_are_decoded_as_libjpeg_turbo_does_or_refused() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let time = Duration::from_secs(variable("VIDREC_FUZZ_SECONDS").unwrap_or(2));
    let from = variable("VIDREC_FUZZ_FROM").unwrap_or(0);
    let (originals, machines, started) = (originals(), Machine::all(), Instant::now());
    let (mut tried, mut decoded) = (0, 0);
    while started.elapsed() < time {
        let case = from + tried;
        let mut random = Random::new(case, &[]);
        let mut jpeg = originals[random.below(originals.len() as u64) as usize].clone();
        mutate(&mut jpeg, &mut random);
        let size = Decoder::new().unwrap().header(&jpeg).map_or((16, 16), |header| (header.width, header.height));
        tried += 1;
        if size.0 > 1024 || size.1 > 1024 {
            continue;
        }
        let (x, y) = (random.below(size.0.into()) as u32, random.below(size.1.into()) as u32);
        let region = Region { x, y, width: size.0 - x, height: size.1 - y };
        let scale = Scale::ALL[random.below(4) as usize];
        let machine = machines[random.below(machines.len() as u64) as usize];
        let agreed = std::panic::catch_unwind(|| agree(&jpeg, region, scale, machine));
        decoded += u64::from(agreed.unwrap_or_else(|_| panic!("case {case}: {region:?} {scale:?} {machine:?}")));
    }
    println!("{tried} changed pictures, {decoded} decoded by our decoder");
    assert!(decoded > 0 && decoded < tried);
}

/// All frames of the data set that `VIDREC_SET` names, whole and in part.
#[test]
fn all_frames_of_a_data_set_give_libjpeg_turbos_planes() {
    let Some(path) = std::env::var_os("VIDREC_SET") else { return };
    let set = crate::Dataset::open(std::path::Path::new(&path)).unwrap();
    let mut frames = 0;
    for clip in set.clips() {
        for frame in clip.unwrap().frames() {
            let frame = frame.unwrap();
            let header = Decoder::new().unwrap().header(frame.jpeg()).unwrap();
            let (width, height) = (header.width, header.height);
            compare(frame.jpeg(), Region::whole((width, height)));
            compare(frame.jpeg(), Region { x: width / 3, y: height / 4, width: width / 2, height: height / 2 });
            frames += 1;
        }
    }
    println!("{frames} frames");
}
