//! Checks what our own encoder makes of any picture.

use super::baseline::strictly_baseline;
use super::decoders::{Verdict, decoders};
use super::segments::segments;
use crate::Planes;
use crate::codec::{Decoder, Encoder};

/// The number of input bytes that are not samples.
const WISH: usize = 5;
/// The maximum length of a side.
const LARGEST: u8 = 80;

/// Encodes the pictures of a clip. `input` has a quality, a width, a height, whether tables are shared, and how
/// much the samples of neighbors differ. The samples follow, and repeat as often as needed.
///
/// # Panics
///
/// The encoder panics or fails; a JPEG breaks a rule of baseline decoders; libjpeg-turbo or our decoder fails to
/// decode it, or they differ; or the best quality produces another picture.
pub fn encoder(input: &[u8]) {
    let Some((&[quality, width, height, tables, smooth], samples)) = input.split_first_chunk::<WISH>() else { return };
    if samples.is_empty() {
        return;
    }
    let quality = 1 + quality % 100;
    let mut encoder = Encoder::new(quality).unwrap();
    encoder.set_effort(1).unwrap();
    let mut jpeg = Vec::new();
    for t in 0..3 {
        let mut picture = Planes::new(u32::from(1 + width % LARGEST), u32::from(1 + height % LARGEST)).unwrap();
        let mut samples = samples.iter().cycle().skip(t * samples.len() / 3);
        let mut last = 128u8;
        for plane in [&mut picture.y, &mut picture.cb, &mut picture.cr] {
            for sample in plane {
                let next = *samples.next().unwrap();
                // Noise, or steps that are as small as requested.
                last = if smooth == 0 { next } else { last.wrapping_add(next % smooth).wrapping_sub(smooth / 2) };
                *sample = last;
            }
        }
        if tables % 2 == 1 {
            encoder.start_clip();
        }
        encoder.encode(&picture, &mut jpeg).unwrap();
        check(&picture, &jpeg, quality);
    }
}

fn check(picture: &Planes, jpeg: &[u8], quality: u8) {
    strictly_baseline(jpeg);
    let whole = [0, 0, 0, 255, 255];
    assert_eq!(decoders(&[&whole, jpeg].concat()), Verdict::Decoded);
    segments(jpeg);
    let mut after = Planes::new(1, 1).unwrap();
    Decoder::new().unwrap().decode_planes(jpeg, &mut after).unwrap();
    assert_eq!((after.width(), after.height()), (picture.width(), picture.height()));
    if quality == 100 {
        let squares = picture.y.iter().zip(&after.y).map(|(&a, &b)| u64::from(a.abs_diff(b)).pow(2)).sum::<u64>();
        assert!(squares <= picture.y.len() as u64, "squared errors of luma: {squares}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::encoder;
    use vidrec_format::random::Random;

    /// Without `VIDREC_FUZZ_SECONDS`, it tries some pictures. With it, it runs for that many seconds.
    #[test]
    fn any_clip_becomes_jpegs_that_both_decoders_read() {
        let seconds = std::env::var("VIDREC_FUZZ_SECONDS").ok().map(|text| text.parse().expect("seconds"));
        let (started, mut case) = (Instant::now(), 0);
        while seconds.map_or(case < 150, |seconds| started.elapsed() < Duration::from_secs(seconds)) {
            let mut random = Random::new(11, &[case]);
            let length = 6 + random.next_u32() % 4000;
            let input: Vec<u8> = (0..length).map(|_| random.next_u32() as u8).collect();
            let ran = std::panic::catch_unwind(|| encoder(&input));
            assert!(ran.is_ok(), "case {case}");
            case += 1;
        }
        println!("{case} clips of three pictures");
    }
}
