//! Opus packets (RFC 6716), which hold the blocks of sound that may change a little to take far fewer bytes.
//!
//! Each block is a separate stream. The encoder and the decoder start from their initial state, so a block always decodes
//! to the same values. Its first packet holds a little of the sound before the block, and readers drop what that packet
//! decodes to. Decoding takes only whole numbers, and gives the same values on every machine.

use ropus::{Application, Bitrate, Channels, DecodeMode, Decoder, Encoder};

/// The most numbers to a value.
pub const MAX_CHANNELS: usize = 2;

/// The rates that Opus knows, in values per second.
pub const RATES: [u32; 5] = [8000, 12_000, 16_000, 24_000, 48_000];

/// The packets of a second.
const PACKETS: u32 = 50;

/// The longest frame of a packet.
const MAX_FRAME: usize = 1275;

/// The delay of the decoder in values: 6.5 ms, which is 13 of 2000 parts of a second.
fn delay(rate: u32) -> usize {
    (rate * 13 / 2000) as usize
}

/// The values of a packet.
fn packet_values(rate: u32) -> usize {
    (rate / PACKETS) as usize
}

/// The values of a block at one of [`RATES`], of which the last one may have fewer: half a second.
pub fn block_values(rate: u32) -> usize {
    (rate / 2).max(1) as usize
}

/// The bits per second: of each channel, 8000 and one for each value.
pub fn usual_bits(rate: u32, channels: usize) -> u32 {
    (8000 + rate) * channels as u32
}

fn channels_of(channels: usize) -> Option<Channels> {
    match channels {
        1 => Some(Channels::Mono),
        2 => Some(Channels::Stereo),
        _ => None,
    }
}

/// Encodes the `block`-th block of interleaved numbers. `None` if Opus cannot have them.
pub fn encode(numbers: &[i16], block: usize, (channels, rate, bits): (usize, u32, u32)) -> Option<Vec<u8>> {
    let encoder = Encoder::builder(rate, channels_of(channels)?, Application::Audio);
    let mut encoder = encoder.bitrate(Bitrate::Bits(bits)).complexity(10).build().ok()?;
    let (each, first) = (packet_values(rate), block * block_values(rate));
    let count = (numbers.len() / channels).checked_sub(first)?.min(block_values(rate));
    // The first packet is what is before the block, so that the second one decodes to its beginning.
    let before = each - delay(rate);
    let heard = |value: usize| {
        let at = value.checked_sub(before)? * channels;
        numbers.get(at..at + channels)
    };
    let (mut out, mut packet) = (Vec::new(), [0; 1 + MAX_FRAME]);
    for i in 0..1 + count.div_ceil(each) {
        let values = first + i * each..first + (i + 1) * each;
        let silence = &[0; MAX_CHANNELS][..channels];
        let input: Vec<i16> = values.flat_map(|value| heard(value).unwrap_or(silence)).copied().collect();
        let length = encoder.encode(&input, &mut packet).ok()?;
        push_packet(&mut out, packet.get(..length)?)?;
    }
    Some(out)
}

/// Appends a packet of one frame with the length of its frame after the first byte (RFC 6716, appendix B).
fn push_packet(out: &mut Vec<u8>, packet: &[u8]) -> Option<()> {
    let (&head, frame) = packet.split_first().filter(|(head, frame)| is_expected(**head, frame.len()))?;
    out.push(head);
    match frame.len() {
        short @ ..252 => out.push(short as u8),
        long => out.extend([252 + (long % 4) as u8, ((long - 252) / 4) as u8]),
    }
    out.extend_from_slice(frame);
    Some(())
}

/// Whether a packet has one frame of 20 ms that is not lost.
fn is_expected(head: u8, frame: usize) -> bool {
    let (config, code) = (head >> 3, head & 3);
    let is_20_ms = match config {
        ..12 => config % 4 == 1,
        12..16 => config % 2 == 1,
        _ => config % 4 == 3,
    };
    is_20_ms && code == 0 && (2..=MAX_FRAME).contains(&frame)
}

/// Takes a packet from what is left of a block.
fn next_packet(rest: &mut &[u8], packet: &mut Vec<u8>) -> Option<()> {
    let (&[head, low], mut after) = rest.split_first_chunk()?;
    let mut length = usize::from(low);
    if let 252.. = low {
        let (&high, more) = after.split_first()?;
        length += 4 * usize::from(high);
        after = more;
    }
    let (frame, after) = after.split_at_checked(length).filter(|_| is_expected(head, length))?;
    packet.clear();
    packet.push(head);
    packet.extend_from_slice(frame);
    *rest = after;
    Some(())
}

/// Decodes the first `needed` of the `count` values of a block, and appends them in little-endian order. The packets of the
/// others are not looked at.
///
/// # Errors
///
/// The fault of the block in words.
pub fn decode(
    block: &[u8],
    (count, needed, channels, rate): (usize, usize, usize, u32),
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    let decoder = channels_of(channels).and_then(|channels| Decoder::new(rate, channels).ok());
    let mut decoder = decoder.ok_or("sound that Opus cannot have")?;
    let (each, mut rest, mut packet) = (packet_values(rate), block, Vec::new());
    let mut values = vec![0; each * channels];
    let needed = needed.min(count);
    for i in 0..1 + needed.div_ceil(each) {
        next_packet(&mut rest, &mut packet).ok_or("a packet that is not one frame of 20 ms")?;
        let found = decoder.decode(&packet, &mut values, DecodeMode::Normal);
        if found != Ok(each) {
            return Err("a packet that does not decode");
        }
        let kept = i.checked_sub(1).map_or(0, |i| (needed - i * each).min(each));
        let kept = &mut values[..kept * channels];
        kept.iter_mut().for_each(|n| *n = n.to_le());
        out.extend_from_slice(bytemuck::cast_slice(kept));
    }
    if rest.is_empty() || needed < count { Ok(()) } else { Err("bytes after the last packet") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A sweep from 100 Hz to a tenth of the rate, with a second voice in the other channel.
    fn sweep(rate: u32, channels: usize, seconds: f64) -> Vec<i16> {
        let count = (f64::from(rate) * seconds) as usize;
        let (mut phase, mut numbers) = (0.0f64, Vec::new());
        for i in 0..count {
            phase += (100.0 + f64::from(rate) / 10.0 * i as f64 / count as f64) / f64::from(rate);
            let turns = [phase, phase / 2.0 + 0.1];
            numbers.extend(turns[..channels].iter().map(|turn| ((turn * std::f64::consts::TAU).sin() * 9000.0) as i16));
        }
        numbers
    }

    fn all_blocks(numbers: &[i16], how: (usize, u32, u32)) -> Vec<Vec<u8>> {
        let blocks = (numbers.len() / how.0).div_ceil(block_values(how.1));
        (0..blocks).map(|block| encode(numbers, block, how).unwrap()).collect()
    }

    fn decoded(blocks: &[Vec<u8>], count: usize, (channels, rate, _): (usize, u32, u32)) -> Vec<i16> {
        let (mut out, mut left) = (Vec::new(), count);
        for block in blocks {
            let here = left.min(block_values(rate));
            decode(block, (here, here, channels, rate), &mut out).unwrap();
            // The first values alone are the same.
            for needed in [0, 1, here / 2] {
                let mut first = Vec::new();
                decode(block, (here, needed, channels, rate), &mut first).unwrap();
                let begin = out.len() - 2 * channels * here;
                assert_eq!(first, out[begin..begin + 2 * channels * needed]);
            }
            left -= here;
        }
        out.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect()
    }

    /// The ratio of a sound to its difference from another, in decibels.
    fn decibels(wanted: &[i16], found: &[i16]) -> f64 {
        let power = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|n| n * n).sum::<f64>();
        let noise = power(&mut wanted.iter().zip(found).map(|(&a, &b)| f64::from(a) - f64::from(b)));
        10.0 * (power(&mut wanted.iter().map(|&n| f64::from(n))) / noise.max(1e-9)).log10()
    }

    #[test]
    fn sound_comes_back_in_its_place_at_every_rate() {
        for rate in RATES {
            for channels in [1, 2] {
                let how = (channels, rate, usual_bits(rate, channels));
                // Two blocks and a part of a packet.
                let numbers = sweep(rate, channels, 1.033);
                let blocks = all_blocks(&numbers, how);
                let found = decoded(&blocks, numbers.len() / channels, how);
                assert_eq!((blocks.len(), found.len()), (3, numbers.len()), "{how:?}");
                // Where Opus takes the low part of sound for speech, that part comes a fraction of a value early.
                let late = decibels(&numbers, &found[channels..]);
                let best = decibels(&numbers, &found).max(decibels(&numbers[channels..], &found));
                assert!(best > 15.0 && best > late, "{how:?}: {best} dB, {late} if it were late");
                let bytes: usize = blocks.iter().map(Vec::len).sum();
                assert!(bytes * 8 < (how.2 as usize * 5).div_ceil(4), "{how:?}: {bytes} bytes");
            }
        }
    }

    #[test]
    fn what_opus_cannot_have_is_refused() {
        let numbers = sweep(8000, 1, 0.1);
        for how in [(1, 44_100, 24_000), (3, 16_000, 24_000), (0, 16_000, 24_000)] {
            assert!(std::panic::catch_unwind(|| encode(&numbers, 0, how)).unwrap().is_none(), "{how:?}");
        }
        let how = (1, 8000, 16_000);
        let block = encode(&numbers, 0, how).unwrap();
        let refused = |bytes: &[u8], count| decode(bytes, (count, count, 1, 8000), &mut Vec::new()).is_err();
        assert!(!refused(&block, numbers.len()));
        // Another number of values, a cut, bytes after the end, and frames of 10 ms.
        assert!(refused(&block, numbers.len() + 160) && refused(&block, numbers.len() - 160));
        assert!((0..block.len()).all(|end| refused(&block[..end], numbers.len())));
        assert!(refused(&[&block[..], &[0]].concat(), numbers.len()));
        assert!(refused(&[&[block[0] ^ 8], &block[1..]].concat(), numbers.len()));
    }

    /// The values that a decoder makes of bytes are part of the format: the same on every machine, with every version of the crate.
    #[test]
    fn a_block_decodes_to_the_same_values_for_ever() {
        let found: Vec<_> = RATES
            .into_iter()
            .map(|rate| {
                let mut block = Vec::new();
                for (i, config) in [1u8, 5, 9, 13, 15, 19, 23, 27, 31, 31, 9, 1].into_iter().enumerate() {
                    let stereo = 4 * u8::from(i % 3 == 0);
                    let noise: Vec<u8> = (0..60).map(|n: u32| (n * n * 31 + n * 7 + i as u32 * 91) as u8).collect();
                    push_packet(&mut block, &[&[config << 3 | stereo], &noise[..]].concat()).unwrap();
                }
                let mut out = Vec::new();
                let count = 11 * packet_values(rate);
                decode(&block, (count, count, 2, rate), &mut out).unwrap();
                crate::crc32(&out)
            })
            .collect();
        assert_eq!(found, [3_559_987_287, 2_574_725_808, 1_744_297_082, 2_332_110_419, 1_876_025_861]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn no_bytes_make_it_panic(
            rate in 0..RATES.len(),
            channels in 1..3usize,
            bits in 6000..100_000u32,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        ) {
            let how = (channels, RATES[rate], bits);
            let numbers = sweep(how.1, channels, 0.2);
            let mut block = encode(&numbers, 0, how).unwrap();
            for (at, byte) in changes {
                let at = at.index(block.len());
                block[at] = byte;
            }
            let mut out = Vec::new();
            let _ = decode(&block, (numbers.len() / channels, usize::MAX, channels, how.1), &mut out);
        }
    }
}
