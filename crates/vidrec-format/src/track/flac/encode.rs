//! Values to a frame.

use super::bits::BitWriter;
use super::frame::{Channels, DEPTH, crc16, header};
use super::subframe::Subframe;

/// Encodes interleaved numbers of so many channels as the frame of this number of a stream.
///
/// There is at least one value, there are at most 65,535, and at most [`MAX_CHANNELS`](super::MAX_CHANNELS).
pub fn encode(numbers: &[i16], channels: usize, number: u32) -> Vec<u8> {
    let channel = |i: usize| numbers.iter().skip(i).step_by(channels).map(|&x| i32::from(x)).collect::<Vec<_>>();
    let stored: Vec<Vec<i32>> = (0..channels).map(channel).collect();
    match &stored[..] {
        [left, right] => pair(left, right, number),
        all => {
            let subframes: Vec<_> = all.iter().map(|numbers| Subframe::best(numbers, DEPTH)).collect();
            frame(Channels::Apart(channels), &subframes.iter().collect::<Vec<_>>(), numbers.len() / channels, number)
        }
    }
}

/// Encodes two channels, which often have much in common.
fn pair(left: &[i32], right: &[i32], number: u32) -> Vec<u8> {
    let both = || left.iter().zip(right);
    let (side, mid): (Vec<i32>, Vec<i32>) = both().map(|(l, r)| (l - r, (l + r) >> 1)).unzip();
    let [l, r, m] = [left, right, &mid].map(|numbers| Subframe::best(numbers, DEPTH));
    let s = Subframe::best(&side, DEPTH + 1);
    let ways = [
        (Channels::Apart(2), [&l, &r]),
        (Channels::LeftSide, [&l, &s]),
        (Channels::SideRight, [&s, &r]),
        (Channels::MidSide, [&m, &s]),
    ];
    let best = ways.iter().min_by_key(|(_, two)| two[0].cost + two[1].cost);
    let (channels, two) = best.copied().unwrap_or(ways[0]);
    frame(channels, &two, left.len(), number)
}

fn frame(channels: Channels, subframes: &[&Subframe<'_>], count: usize, number: u32) -> Vec<u8> {
    let mut out = BitWriter::new(header(number, count, channels));
    subframes.iter().for_each(|subframe| subframe.write(&mut out));
    let mut bytes = out.finish();
    bytes.extend(crc16(&bytes).to_be_bytes());
    bytes
}
