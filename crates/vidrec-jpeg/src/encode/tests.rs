//! Compares the whole encoder with other decoders, and its choices with plain models.

use proptest::prelude::*;

use super::coefficients;
use super::coefficients::AcChooser;
use super::coefficients::Costs;
use super::coefficients::round;
use super::dct::{Dct, Scaled};
use super::encoder::RateDistortionEncoder;
use super::huffman::Code;
use super::huffman::{Symbols, bits_of};
use super::order::COLUMNS;
use crate::Planes;
use crate::fuzzing::picture;
use crate::tiles::restart_interval;
use crate::{Decoder, Encoder};

fn encode(encoder: &mut RateDistortionEncoder, picture: &Planes) -> Vec<u8> {
    let mut jpeg = Vec::new();
    encoder.encode(picture, restart_interval(picture.width()), &mut jpeg).unwrap();
    jpeg
}

fn decode(jpeg: &[u8]) -> Planes {
    let mut planes = Planes::new(1, 1).unwrap();
    Decoder::new().unwrap().decode_planes(jpeg, &mut planes).unwrap();
    planes
}

fn squares(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum::<f64>() / a.len() as f64
}

#[test]
fn a_picture_has_fewer_bytes_than_libjpegs_at_the_same_quality() {
    let picture = picture(340, 256, 20);
    for quality in [10, 50, 75, 90, 98] {
        let mut plain = Vec::new();
        Encoder::new(quality).unwrap().encode(&picture, &mut plain).unwrap();
        let ours = encode(&mut RateDistortionEncoder::new(quality), &picture);
        assert!(ours.len() < plain.len(), "{quality}: {} {}", ours.len(), plain.len());
    }
}

#[test]
fn every_kind_of_machine_gives_the_same_bytes() {
    for quality in [1, 30, 90, 99] {
        let pictures = [picture(97, 61, 40), picture(340, 256, 2), picture(64, 48, 255)];
        let of = |dct| {
            let mut encoder = RateDistortionEncoder::on(quality, dct);
            pictures.each_ref().map(|picture| encode(&mut encoder, picture))
        };
        let all: Vec<_> = Dct::all().into_iter().map(of).collect();
        assert!(all.iter().all(|jpegs| *jpegs == all[0]), "{quality}");
    }
}

/// The header, up to the entropy-coded data.
fn header(jpeg: &[u8]) -> &[u8] {
    &jpeg[..jpeg.windows(2).position(|pair| pair == [0xFF, 0xDA]).unwrap()]
}

#[test]
fn pictures_of_a_clip_share_their_tables_and_a_new_clip_starts_as_a_new_encoder() {
    let mut encoder = RateDistortionEncoder::new(90);
    let [first, second] = [20, 19].map(|noise| picture(340, 256, noise));
    let jpegs = [&first, &second].map(|picture| encode(&mut encoder, picture));
    assert_eq!(header(&jpegs[0]), header(&jpegs[1]));
    encoder.start_clip();
    assert_eq!(encode(&mut encoder, &first), jpegs[0]);
    assert_eq!(encode(&mut encoder, &second), jpegs[1]);
}

#[test]
fn a_picture_that_needs_other_symbols_gets_other_tables() {
    let mut encoder = RateDistortionEncoder::new(95);
    let gray = encode(&mut encoder, &Planes::new(64, 48).unwrap());
    let noise = picture(64, 48, 255);
    let jpeg = encode(&mut encoder, &noise);
    assert_ne!(header(&gray), header(&jpeg));
    assert!(squares(&decode(&jpeg).y, &noise.y) < 100.0);
}

/// The values that the encoder chooses for a block, with their places in zigzag order.
fn chosen(scaled: &Scaled, mask: u64, costs: &Costs) -> Vec<(u8, i16)> {
    let mut symbols = Symbols::new();
    symbols.reserve(1).unwrap();
    symbols.block(0, 0, |block| AcChooser::new().choose(scaled, mask, costs, block));
    let (mut values, mut place) = (Vec::new(), 0);
    for symbol in &symbols.all()[1..] {
        let (zeros, bits) = ((symbol.index() >> 4 & 15) as u8, symbol.index() as u32 & 15);
        place += if bits > 0 || zeros == 15 { zeros + 1 } else { 0 };
        if bits > 0 {
            let (extra, half) = (symbol.extra() as i16, 1 << (bits - 1));
            values.push((place, if extra < half { extra + 1 - 2 * half } else { extra }));
        }
    }
    values
}

/// The cost of values: bits, and distortion less that of zeros.
fn cost(scaled: &Scaled, values: &[(u8, i16)], costs: &Costs) -> f64 {
    let (mut sum, mut last) = (0.0, 0);
    for &(place, value) in values {
        let exact = f64::from(scaled.as_flattened()[usize::from(COLUMNS[usize::from(place)])]);
        sum += f64::from(costs.ac[bits_of(value.unsigned_abs().into())][usize::from(place - last - 1)]);
        sum += (exact - f64::from(value)).powi(2) - exact * exact;
        last = place;
    }
    sum + if last == 63 { 0.0 } else { f64::from(costs.end) }
}

/// The minimum cost of all choices of values, found by trying all of them.
fn least(scaled: &Scaled, places: &[u8], chosen: &mut Vec<(u8, i16)>, costs: &Costs) -> f64 {
    let Some((&place, rest)) = places.split_first() else { return cost(scaled, chosen, costs) };
    let exact = scaled.as_flattened()[usize::from(COLUMNS[usize::from(place)])];
    let nearest = round(exact.abs()).1 as i16 * exact.signum() as i16;
    let mut best = least(scaled, rest, chosen, costs);
    // One less is a choice if it has fewer bits and the coefficient is in between.
    let less = nearest.unsigned_abs().is_power_of_two() && nearest.abs() > 1 && f32::from(nearest.abs()) > exact.abs();
    for value in [nearest, nearest - nearest.signum()].into_iter().take(1 + usize::from(less)) {
        chosen.push((place, value));
        best = best.min(least(scaled, rest, chosen, costs));
        chosen.pop();
    }
    best
}

fn costs() -> impl Strategy<Value = Costs> {
    let counts = || prop::collection::vec(0..3000u32, 256).prop_map(|counts| counts.try_into().unwrap());
    let own = (counts(), counts(), 0.0..0.3f32)
        .prop_map(|(dc, ac, lambda)| Costs::from_codes(&Code::best(&dc), &Code::best(&ac), lambda));
    prop_oneof![(0.0..0.3f32).prop_map(Costs::usual), own]
}

proptest! {
    #[test]
    fn values_are_the_cheapest_of_all(
        coefficients in prop::collection::btree_map(1..64u8, -9.0..9.0f32, 0..7), costs in costs(),
    ) {
        let mut scaled = [[0.0; 8]; 8];
        let mut mask = 0;
        let mut places = Vec::new();
        for (&place, &value) in &coefficients {
            scaled.as_flattened_mut()[usize::from(COLUMNS[usize::from(place)])] = value;
            if value.abs() > 0.5 {
                mask |= 1 << place;
                places.push(place);
            }
        }
        let chosen = chosen(&scaled, mask, &costs);
        prop_assert!(chosen.iter().all(|&(place, value)| mask >> place & 1 == 1 && value != 0));
        let (found, best) = (cost(&scaled, &chosen, &costs), least(&scaled, &places, &mut Vec::new(), &costs));
        prop_assert!(found <= best + 1e-3, "{} {}", found, best);
        let nearest: Vec<_> = places.iter().map(|&place| {
            (place, round(coefficients[&place].abs()).1 as i16 * coefficients[&place].signum() as i16)
        }).collect();
        prop_assert!(found <= cost(&scaled, &nearest, &costs) + 1e-3, "never worse than rounding");
    }

    #[test]
    fn dc_is_the_cheapest_of_the_values_next_to_it(scaled in prop::collection::vec(-40.0..40.0f32, 1..8), costs in costs()) {
        let cost = |values: &[i32]| {
            let mut last = 0;
            values.iter().zip(&scaled).map(|(&value, &exact)| {
                let bits = bits_of((value - last).unsigned_abs());
                last = value;
                f64::from(costs.dc[bits]) + (f64::from(exact) - f64::from(value)).powi(2)
            }).sum::<f64>()
        };
        let values = coefficients::choose_dc(&scaled, &costs);
        let chosen: Vec<i32> = values[..scaled.len()].iter().map(|&value| value.into()).collect();
        let best = (0..1 << scaled.len()).map(|choice: u32| {
            let values: Vec<_> = scaled.iter().enumerate().map(|(i, &s)| s.floor() as i32 + (choice >> i & 1) as i32).collect();
            cost(&values)
        }).fold(f64::INFINITY, f64::min);
        prop_assert!(cost(&chosen) <= best + 1e-3, "{:?} {} {}", chosen, cost(&chosen), best);
    }
}
