//! Frames against their values.

use proptest::prelude::*;

use super::frame::{crc16, header};
use super::{decode, encode};

fn decoded(bytes: &[u8], count: usize, channels: usize, number: u32) -> Result<Vec<i16>, String> {
    let mut out = Vec::new();
    decode(bytes, (count, channels), number, &mut out)?;
    Ok(out.chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect())
}

/// Values as sound has them: a sum of waves and of noise, in channels with something in common.
fn sound() -> impl Strategy<Value = (Vec<i16>, usize)> {
    let all = (prop_oneof![1..40usize, Just(4096), 100..5000usize], 1..9usize, any::<u32>(), 0..16u32, 0..16u32);
    all.prop_map(|(count, channels, seed, loud, noisy)| {
        let mut state = seed | 1;
        let mut noise = move |bits: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 16) as i32 & ((1 << bits) - 1)) - (1 << bits >> 1)
        };
        let value = |i: usize| {
            let wave = (f64::from(1 << loud) * (i as f64 * f64::from(seed % 1000) / 3000.0).sin()) as i32;
            (0..channels).map(|c| (wave >> (c % 3)) + noise(noisy)).map(|x| x.clamp(-32_768, 32_767) as i16).collect()
        };
        let values: Vec<Vec<i16>> = (0..count).map(value).collect();
        (values.concat(), channels)
    })
}

proptest! {
    #[test]
    fn values_come_back((values, channels) in sound(), number in prop_oneof![0..200u32, 0..1u32 << 31]) {
        let frame = encode(&values, channels, number);
        let count = values.len() / channels;
        prop_assert_eq!(decoded(&frame, count, channels, number).unwrap(), values);
        prop_assert_eq!(crc16(&frame), 0, "the checksum is that of all bytes before it");
        prop_assert!(frame.len() <= 2 * channels * count + 16 + 2 * channels + count * channels / 8);
        prop_assert!(decoded(&frame, count, channels, number ^ 1).is_err(), "the frame of another place");
        prop_assert!(decoded(&frame, count + 1, channels, number).is_err());
        prop_assert!(decoded(&frame, count, channels % 8 + 1, number).is_err());
        prop_assert!(decoded(&frame[..frame.len() - 3], count, channels, number).is_err());
    }

    #[test]
    fn changed_frames_never_panic(
        (values, channels) in sound(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
    ) {
        let (count, mut frame) = (values.len() / channels, encode(&values, channels, 7));
        for (at, byte) in changes {
            let at = at.index(frame.len());
            frame[at] = byte;
        }
        if let Ok(found) = decoded(&frame, count, channels, 7) {
            prop_assert_eq!(found.len(), values.len());
        }
    }

    #[test]
    fn any_channel_after_a_header_is_read_or_refused(
        count in 1..300usize,
        kind in any::<u8>(),
        body in prop::collection::vec(any::<u8>(), 0..900),
    ) {
        let head = header(0, count, super::frame::Channels::Apart(1));
        let _ = decoded(&[&head[..], &[kind & 0x7F], &body].concat(), count, 1, 0);
    }
}

#[test]
fn sound_becomes_shorter_and_noise_hardly_longer() {
    let wave: Vec<i16> = (0..4096).map(|i| (9000.0 * (f64::from(i) * 0.03).sin()) as i16).collect();
    assert!(encode(&wave, 1, 0).len() < 2 * 4096 / 4);
    let both: Vec<i16> = wave.iter().flat_map(|&x| [x, x]).collect();
    assert!(encode(&both, 2, 0).len() < encode(&wave, 1, 0).len() + 40);
    assert!(encode(&[7; 4096], 1, 0).len() < 20);
    let noise: Vec<i16> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 16) as i16).collect();
    assert!(encode(&noise, 1, 0).len() <= 2 * 4096 + 12);
}
