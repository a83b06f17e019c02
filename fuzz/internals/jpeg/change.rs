//! Random changes that leave a picture intact enough for a decoder to get far.

use super::generated::generated;
use super::wish::Wish;
use vidrec_format::random::Random;

/// Input number `seed` for [`decoders`](super::decoders): a wish, and a picture that is usually changed. The
/// picture is one of `originals`, or [`generated`].
pub fn changed(seed: u64, originals: &[Vec<u8>]) -> Vec<u8> {
    let mut random = Random::new(seed, &[]);
    let mut input = vec![0; Wish::BYTES];
    input.iter_mut().for_each(|byte| *byte = random.next_u32() as u8);
    // The whole picture, more often than by chance.
    if random.below(2) == 0 {
        input[1..].copy_from_slice(&[0, 0, 255, 255]);
    }
    match random.below(2) {
        0 => input.extend(generated(seed)),
        _ => input.extend_from_slice(&originals[random.below(originals.len() as u64) as usize]),
    }
    change(input, &mut random)
}

/// Changes an existing input. The result has at most `longest` bytes.
pub fn changed_again(input: &[u8], seed: u64, longest: usize) -> Vec<u8> {
    let mut changed = change(input.to_vec(), &mut Random::new(seed, &[]));
    changed.truncate(longest);
    changed
}

fn change(mut input: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let jpeg = input.split_off(input.len().min(Wish::BYTES));
    let mut parts = Parts::of(&jpeg);
    for _ in 0..[0, 1, 1, 1, 1, 2, 3, 4][random.below(8) as usize] {
        parts.change(random);
    }
    if random.below(16) == 0 {
        input.iter_mut().for_each(|byte| *byte = random.next_u32() as u8);
    }
    input.extend(parts.0.concat());
    input
}

/// A JPEG that is split before each marker into headers, and segments of entropy-coded data with the marker before
/// them.
pub struct Parts(Vec<Vec<u8>>);

impl Parts {
    fn of(jpeg: &[u8]) -> Self {
        let is_marker = |&i: &usize| jpeg[i] == 0xFF && jpeg.get(i + 1).is_some_and(|&b| b != 0 && b != 0xFF);
        let mut cuts: Vec<_> = (1..jpeg.len()).filter(is_marker).collect();
        cuts.insert(0, 0);
        cuts.push(jpeg.len());
        Parts(cuts.windows(2).map(|ends| jpeg[ends[0]..ends[1]].to_vec()).collect())
    }

    /// Makes one change, to the order of parts or within one of them.
    fn change(&mut self, random: &mut Random) {
        let Parts(parts) = self;
        let below = |random: &mut Random, n: usize| random.below(n as u64) as usize;
        if parts.is_empty() {
            return;
        }
        let (i, k) = (below(random, parts.len()), below(random, parts.len()));
        match random.below(16) {
            0 => parts.swap(i, k),
            // Only the bytes after the markers.
            1 if i != k && parts[i].len() > 1 && parts[k].len() > 1 => {
                let (mut first, mut second) = (parts[i].split_off(2), parts[k].split_off(2));
                parts[i].append(&mut second);
                parts[k].append(&mut first);
            }
            2 => parts.insert(k, parts[i].clone()),
            3 => drop(parts.remove(i)),
            // Another number for a restart marker, or another marker.
            4 if parts[i].len() > 1 => parts[i][1] = parts[i][1] & 0xF8 | random.next_u32() as u8 & 7,
            5 if parts[i].len() > 1 => parts[i][1] = random.next_u32() as u8,
            // The end of a segment, where damage shows last.
            6 => parts[i].extend((0..=random.below(3)).map(|_| random.next_u32() as u8)),
            7 => {
                let length = parts[i].len();
                parts[i].truncate(length.saturating_sub(1 + k % 3));
            }
            _ => Self::change_bytes(&mut parts[i], random),
        }
    }

    fn change_bytes(part: &mut Vec<u8>, random: &mut Random) {
        let length = part.len();
        let at = random.below(length as u64 + 1) as usize;
        let value = random.next_u32() as u8;
        let run = usize::from(value >> 3) + 1;
        let end = (at + run).min(length);
        match random.below(11) {
            0 => part.truncate(at),
            1 => drop(part.drain(at..end)),
            2 => part.insert(at, value),
            3 => drop(part.splice(at..at, [0xFF, value])),
            4 => drop(part.splice(at..at, vec![0xFF; run])),
            5 => part[at..end].fill(0xFF),
            6 => part[at..end].fill(0),
            7 => part.copy_within(at..end, at.saturating_sub(run)),
            // Swaps two bytes: a Huffman table with the same lengths, or with the same symbols.
            8 if at < length => part.swap(at, end - 1),
            9 if at < length => part[at] ^= 1 << (value & 7),
            _ if at < length => part[at] = value,
            _ => part.push(value),
        }
    }
}
