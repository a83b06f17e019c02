//! Follows the parameter sets of a stream, which its pictures need besides the pictures that they refer to.
//!
//! Files that were joined from others have new ones in the middle. A decoder may start there if the packet brings all of
//! them along.

use std::collections::{BTreeMap, BTreeSet};

use super::anatomy::{Syntax, Units};
use super::obu::{self, Obu};
use super::sps::{self, Bits, Colors, LONGEST};

/// The kind of a parameter set, which is the type of its NAL unit or OBU, and its number among those of its kind.
type Key = (u8, u32);

/// The parameter sets of some bytes, the later of two with the same key.
type Sets = BTreeMap<Key, Vec<u8>>;

/// The type of a sequence parameter set of H.264.
const SPS: u8 = 7;

/// The version of x264, from a message beside the pictures, which FFmpeg's decoder keeps until there is another.
const BUILD: Key = (6, 0);

/// The parameter sets that a decoder has after a number of packets.
pub(super) struct ParameterSets {
    /// `None` if some could not be read.
    current: Option<Sets>,
    /// Whether a packet after the first one has changed or added some.
    changed: bool,
    begun: bool,
    /// What FFmpeg's decoder of H.264 thinks of the colors after the first packet, and after all so far.
    colors: (Colors, Colors),
    /// The version of x264 in the first packet.
    first_build: Option<Vec<u8>>,
}

impl ParameterSets {
    /// Those that come with the stream, in `extradata`.
    pub fn of(syntax: Option<Syntax>, extradata: &[u8]) -> Self {
        let colors = Default::default();
        let mut sets = ParameterSets { current: None, changed: false, begun: false, colors, first_build: None };
        sets.current =
            syntax.and_then(|syntax| of_extradata(syntax, extradata)).filter(|all| sets.see_colors(all).is_some());
        sets
    }

    /// Takes the parameter sets of the next packet; `None` if they cannot be read.
    ///
    /// Returns whether a decoder that got only the first packet and this one has the same ones as a decoder that got all
    /// packets up to this one. A set that was changed must be in the packet with all others, because FFmpeg forgets
    /// those that depend on one that changes.
    ///
    /// FFmpeg's decoder of H.264 also keeps the colors of earlier sets where a set has none, and the version of x264. So
    /// they have to be those that the other decoder keeps.
    pub fn take(&mut self, carried: Option<Sets>) -> bool {
        let begun = std::mem::replace(&mut self.begun, true);
        let alone = carried.as_ref().and_then(|carried| self.see_colors(carried));
        let carried = carried.filter(|_| alone.is_some());
        let carries_some = carried.as_ref().is_none_or(|carried| !carried.is_empty());
        let Some((carried, current)) = carried.zip(self.current.as_mut()) else {
            if carries_some {
                (self.current, self.changed) = (None, true);
            }
            return !self.changed;
        };
        let sequences = current.keys().chain(carried.keys()).filter(|(kind, _)| *kind == SPS).collect::<BTreeSet<_>>();
        let is_kept = |(key, now)| carried.contains_key(key) || *key == BUILD && self.first_build.as_ref() == Some(now);
        let is_whole = current.iter().all(is_kept) && sequences.len() <= 1 && alone == Some(self.colors.1);
        for (key, bytes) in carried {
            let differs = current.get(&key) != Some(&bytes);
            self.changed |= begun && differs;
            current.insert(key, bytes);
        }
        if !begun {
            self.colors.0 = self.colors.1;
            self.first_build = current.get(&BUILD).cloned();
        }
        !self.changed || is_whole
    }

    /// Takes the colors of sets. Returns those that a decoder has that got only the first packet before; `None` if a set
    /// cannot be read.
    fn see_colors(&mut self, sets: &Sets) -> Option<Colors> {
        let mut alone = self.colors.0;
        for (_, unit) in sets.iter().filter(|((kind, _), _)| *kind == SPS) {
            let own = sps::colors(unit)?;
            (alone, self.colors.1) = (alone.then(own), self.colors.1.then(own));
        }
        Some(alone)
    }
}

/// Returns the parameter sets of a configuration record: ISO/IEC 14496-15, 5.3.3.1 (H.264) and 8.3.3.1 (HEVC), and AV1 in
/// ISO base media files, 2.3.3.
pub(super) fn of_extradata<'a>(syntax: Syntax, extradata: &'a [u8]) -> Option<Sets> {
    let (mut sets, mut rest) = (Sets::new(), extradata);
    let mut take = |count: usize| rest.split_off(..count);
    let mut unit = |length: &[u8], take: &mut dyn FnMut(usize) -> Option<&'a [u8]>| {
        let length = length.iter().fold(0, |n, &b| n << 8 | usize::from(b));
        add(syntax, take(length)?, &mut sets)
    };
    match syntax {
        Syntax::H264 { .. } => {
            take(5)?;
            for mask in [0x1f, 0xff] {
                let count = take(1)?.first()? & mask;
                for _ in 0..count {
                    unit(take(2)?, &mut take)?;
                }
            }
        }
        Syntax::Hevc { .. } => {
            let arrays = *take(23)?.last()?;
            for _ in 0..arrays {
                let &[_, high, low] = take(3)? else { return None };
                for _ in 0..u16::from_be_bytes([high, low]) {
                    unit(take(2)?, &mut take)?;
                }
            }
        }
        Syntax::Av1 => {
            // Without a record, the first packet has them.
            let _ = take(4);
            return of_packet(syntax, rest);
        }
        Syntax::Vp8 | Syntax::Vp9 | Syntax::Jpeg | Syntax::Intra => {}
    }
    Some(sets)
}

/// Returns the parameter sets of a packet.
pub(super) fn of_packet(syntax: Syntax, data: &[u8]) -> Option<Sets> {
    let mut sets = Sets::new();
    match syntax {
        Syntax::H264 { length_bytes } | Syntax::Hevc { length_bytes } => {
            for unit in (Units { data, length_bytes }) {
                add(syntax, unit.ok()?, &mut sets)?;
            }
        }
        Syntax::Av1 => {
            for obu in obu::all(data) {
                let Obu { kind, payload, .. } = obu.ok()?;
                if kind == obu::SEQUENCE_HEADER {
                    sets.insert((kind, 0), kept(payload)?);
                }
            }
        }
        Syntax::Vp8 | Syntax::Vp9 | Syntax::Jpeg | Syntax::Intra => {}
    }
    Some(sets)
}

fn kept(bytes: &[u8]) -> Option<Vec<u8>> {
    (bytes.len() <= LONGEST).then(|| bytes.to_vec())
}

/// Adds a NAL unit, if it is a parameter set. Returns `None` if it cannot be read.
fn add(syntax: Syntax, unit: &[u8], sets: &mut Sets) -> Option<()> {
    let &first = unit.first()?;
    let is_h264 = matches!(syntax, Syntax::H264 { .. });
    let kind = if is_h264 { first & 0x1f } else { first >> 1 & 0x3f };
    let mut bits = Bits::of(unit);
    let id = match (is_h264, kind) {
        // The type, then profile, constraints and level.
        (true, 7 | 15) => bits.skip(8 + 24)?.number()?,
        (true, 8 | 13) => bits.skip(8)?.number()?,
        (true, 6) => {
            // FFmpeg decodes what some versions of x264 wrote in another way.
            if let Some(build) = x264_build(unit) {
                sets.insert(BUILD, build);
            }
            return Some(());
        }
        (false, 32) => bits.skip(16)?.take(4)?,
        (false, 33) => {
            let layers = bits.skip(16 + 4)?.take(3)?;
            bits.skip(1)?.skip_profiles(layers)?.number()?
        }
        (false, 34) => bits.skip(16)?.number()?,
        _ => return Some(()),
    };
    sets.insert((kind, id), kept(unit)?);
    Some(())
}

/// Returns the digits of the version of x264, if the unit holds the text that x264 writes about itself.
fn x264_build(unit: &[u8]) -> Option<Vec<u8>> {
    const BEFORE: &[u8] = b"x264 - core ";
    let at = memchr::memmem::find(unit, BEFORE)? + BEFORE.len();
    Some(unit[at..].iter().copied().take_while(u8::is_ascii_digit).take(9).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence parameter set of this level, with number 0, and two picture parameter sets, 0 and 1.
    const fn sps(level: u8) -> [u8; 25] {
        [0x67, 66, 0, level, 0xf4, 0x0a, 0x0c, 0x9a, 0x80, 0x80, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80]
    }
    const PPS: [&[u8]; 2] = [&[0x68, 0xce, 0x3c, 0x80], &[0x68, 0x4e, 0x3c, 0x80]];

    fn carried(units: &[&[u8]]) -> Option<Sets> {
        let length = |unit: &&[u8]| [&(unit.len() as u32).to_be_bytes()[..], unit].concat();
        of_packet(Syntax::H264 { length_bytes: 4 }, &units.iter().flat_map(length).collect::<Vec<u8>>())
    }

    /// What `take` returns for packets with these units, in a stream with one set of each kind.
    fn alone(packets: &[&[&[u8]]]) -> Vec<bool> {
        let record = [&[1, 66, 0, 30, 0xff, 0xe1, 0, 25][..], &sps(30), &[1, 0, 4], PPS[0]].concat();
        let mut sets = ParameterSets::of(Some(Syntax::H264 { length_bytes: 4 }), &record);
        assert_eq!(sets.current.as_ref().map(Sets::len), Some(2));
        packets.iter().map(|units| sets.take(carried(units))).collect()
    }

    #[test]
    fn sets_that_change_have_to_come_along() {
        let (same, other) = (sps(30), sps(31));
        assert_eq!(alone(&[&[], &[&same], &[PPS[0]], &[]]), [true; 4], "the same ones again");
        assert_eq!(alone(&[&[&other], &[], &[&other, PPS[0]]]), [true; 3], "what the first packet has is known");
        assert_eq!(alone(&[&[], &[&other, PPS[0]], &[], &[&other, PPS[0]]]), [true, true, false, true]);
        assert_eq!(alone(&[&[], &[&other], &[&other, PPS[0]]]), [true, false, true], "one of two");
        assert_eq!(alone(&[&[], &[PPS[1]], &[&same, PPS[0]], &[&same, PPS[0], PPS[1]]]), [true, false, false, true]);
        assert_eq!(alone(&[&[], &[&[0x67, 66]], &[&same, PPS[0]]]), [true, false, false], "half a set");
    }

    #[test]
    fn the_version_of_x264_has_to_be_that_of_the_first_packet() {
        let (other, told): (_, [&[u8]; 2]) = (sps(31), [b"\x06x264 - core 164", b"\x06x264 - core 9"]);
        let joined: &[&[u8]] = &[&other, PPS[0]];
        assert_eq!(alone(&[&[told[0]], &[told[0], &other, PPS[0]], joined, &[]]), [true, true, true, false]);
        assert_eq!(alone(&[&[told[0]], joined, joined]), [true; 3], "which a decoder keeps");
        assert_eq!(alone(&[&[told[0]], &[told[1], &other, PPS[0]], joined]), [true, true, false]);
        assert_eq!(alone(&[&[], &[told[1], &other, PPS[0]], joined]), [true, true, false]);
    }

    #[test]
    fn numbers_of_sets_of_hevc_are_found() {
        // Written by x265 for 160x96 pixels: video, sequence and picture parameter set.
        let units: [&[u8]; 3] = [
            &[0x40, 1, 0x0c, 1, 0xff, 0xff, 1, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3, 0, 0, 3, 0, 0x1e, 0x95, 0x98, 9],
            &[0x42, 1, 1, 1, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3, 0, 0, 3, 0, 0x1e, 0xa0, 0x14, 0x20, 0x62, 0x59, 0x80],
            &[0x44, 1, 0xc1, 0x72, 0xb4, 0x62, 0x40],
        ];
        let mut sets = Sets::new();
        units.iter().for_each(|unit| add(Syntax::Hevc { length_bytes: 4 }, unit, &mut sets).unwrap());
        assert_eq!(sets.keys().copied().collect::<Vec<_>>(), [(32, 0), (33, 0), (34, 0)]);
    }
}
