//! Our decoder beside libjpeg-turbo: every byte of every plane.

use proptest::prelude::*;

use super::idct::Machine;
use super::*;
use crate::Planes;
use crate::jpeg::tiles::Region;
use crate::jpeg::{Decoder, Encoder, JpegDecoder};
use crate::random::Random;

/// Waves, edges and noise: all frequencies, with `noise` levels of the last.
fn picture(width: u32, height: u32, noise: u32) -> Planes {
    let mut random = Random::new(1, &[u64::from(width), u64::from(height)]);
    let mut picture = Planes::new(width, height).unwrap();
    for (k, plane) in [&mut picture.y, &mut picture.cb, &mut picture.cr].into_iter().enumerate() {
        let wave = |i: usize| 100.0 + 80.0 * (i as f64 / (7.0 + k as f64)).sin();
        plane.iter_mut().enumerate().for_each(|(i, v)| *v = (wave(i) as u32 + random.next_u32() % noise) as u8);
    }
    picture
}

fn encoded(picture: &Planes, quality: u8) -> Vec<u8> {
    let mut jpeg = Vec::new();
    Encoder::new(quality).unwrap().encode(picture, &mut jpeg).unwrap();
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
    for quality in [1, 10, 30, 60, 75, 90, 95, 100] {
        for (width, height) in [(16, 16), (17, 33), (96, 40), (161, 127)] {
            for noise in [1, 20, 76] {
                compare(&encoded(&picture(width, height, noise), quality), Region::whole((width, height)));
            }
        }
    }
}
