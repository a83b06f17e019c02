//! Finds the packets that the wanted frames need, in streams where this is known in advance.
//!
//! The module documentation of [`video`](crate::video) states the rule and what depends on it.

use std::collections::BTreeMap;

use crate::video::container::{Note, PacketClock, PacketInfo, PacketRole, Packets, StreamInfo};

/// The frames of a stream whose packets alone tell which frames come out and what each of them needs.
pub(crate) struct PacketMap {
    packets: Vec<MapEntry>,
    /// The packet of each frame, in presentation order.
    shown: Vec<usize>,
    /// The packets at which a decoder could start, but for parameters from packets before them, and all such packets.
    restarts: (usize, usize),
}

struct MapEntry {
    pts: i64,
    key: bool,
    shown: bool,
    /// Whether no other packet needs this one.
    disposable: bool,
    /// The packet at which decoding has to start for this one.
    start: usize,
}

/// The packets to decode, and the frames that must come out.
pub(crate) struct PacketChoice {
    /// Whether the decoder gets each packet of the stream.
    pub feed: Vec<bool>,
    /// The frames that come out, in order.
    pub expected: Vec<ExpectedFrame>,
    /// The number of frames that do not come out because their packets are not decoded.
    pub undecoded: u32,
}

/// A frame that must come out of the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExpectedFrame {
    pub pts: i64,
    pub key: bool,
    /// The position among all frames of the video.
    pub ordinal: u32,
}

impl PacketMap {
    /// Returns the map of a stream. This requires that nothing indicates damage, all packets are understood, and
    /// their number is the one that the container claims. The error says what is missing.
    pub fn of(packets: &Packets, stream: &StreamInfo) -> Result<Self, String> {
        // Times that restart, or that are decoding times, do not tell in which order pictures are shown.
        let notes = match packets.clock() {
            PacketClock::Restarts => Err("its times begin again in the middle"),
            PacketClock::Ascends if stream.delay > 0 && packets.may_reorder() => {
                Err("its times are those at which packets are decoded")
            }
            PacketClock::Ascends | PacketClock::Reorders => packets
                .intact_notes(stream)
                .ok_or("it has signs of damage, or another number of packets than its container claims"),
        };
        let notes = notes.map_err(str::to_owned)?;
        if notes.iter().any(|note| note.anatomy.is_none()) {
            let (codec, container) = (stream.codec, &stream.container);
            return Err(format!("vidrec cannot tell what some packets of {codec} in {container} need"));
        }
        let contradicts = "its packets contradict each other, or do not begin with a key frame";
        Self::new(notes, stream.reorder).ok_or_else(|| contradicts.to_owned())
    }

    /// Returns the map of packets, if they do not contradict themselves or each other.
    ///
    /// `reorder` is the number of pictures that the decoder may hold back to reorder them, if that is limited.
    fn new(notes: &[Note], reorder: Option<usize>) -> Option<Self> {
        let anatomies: Vec<PacketInfo> = notes.iter().map(|n| n.anatomy).collect::<Option<_>>()?;
        let first = anatomies.first()?;
        let keys_agree = |(n, a): (&Note, &PacketInfo)| match a.role {
            PacketRole::Restart => n.key,
            PacketRole::Reference => true,
            PacketRole::Disposable => !n.key,
        };
        if first.role != PacketRole::Restart || !first.shown || !notes.iter().zip(&anatomies).all(keys_agree) {
            return None;
        }
        let top_layer = anatomies.iter().map(|a| a.layer).max()?;
        let (mut start, mut restarts) = (0, (0, 0));
        let mut packets = Vec::with_capacity(notes.len());
        for (i, (note, anatomy)) in notes.iter().zip(&anatomies).enumerate() {
            // A decoder that starts here must not need parameters of a skipped packet.
            if anatomy.role == PacketRole::Restart {
                restarts = (restarts.0 + usize::from(!note.sets.stands_alone), restarts.1 + 1);
                start = if note.sets.stands_alone { i } else { start };
            }
            packets.push(MapEntry {
                pts: note.pts.or((!anatomy.shown).then_some(0))?,
                key: note.key,
                shown: anatomy.shown && !note.hidden,
                disposable: anatomy.role == PacketRole::Disposable && anatomy.layer == top_layer && !note.sets.some,
                start,
            });
        }
        let mut in_order: Vec<usize> = (0..packets.len()).filter(|&i| anatomies[i].shown).collect();
        let decoded = in_order.clone();
        in_order.sort_by_key(|&i| packets[i].pts);
        let distinct = in_order.windows(2).all(|w| packets[w[0]].pts < packets[w[1]].pts);
        if !distinct || reorder.is_some_and(|most| held_back(&decoded, &in_order) > most) {
            return None;
        }
        let shown = in_order.into_iter().filter(|&i| packets[i].shown).collect();
        Some(PacketMap { packets, shown, restarts })
    }

    /// Returns why nearly every frame takes a decode from the first packets on; `None` if most key frames can be decoded by
    /// themselves.
    pub fn why_whole(&self) -> Option<String> {
        let (dependent, all) = self.restarts;
        let why = "the parameters of the stream change before them";
        (2 * dependent > all).then(|| format!("{dependent} of {all} key frames do not decode by themselves: {why}"))
    }

    /// Returns what to decode for the frames `wanted`, by ordinal; `None` if there is no such frame.
    pub fn plan(&self, wanted: &[u32]) -> Option<PacketChoice> {
        let mut feed = vec![false; self.packets.len()];
        // The first packet is always decoded, because it may hold what the decoder must know about the encoder,
        // and because the first frame determines the size.
        let mut runs = BTreeMap::from([(0, 0)]);
        for &ordinal in [0].iter().chain(wanted) {
            let last = *self.shown.get(ordinal as usize)?;
            feed[last] = true;
            let end = runs.entry(self.packets[last].start).or_insert(last);
            *end = last.max(*end);
        }
        for (start, end) in runs {
            for (feed, packet) in feed[start..=end].iter_mut().zip(&self.packets[start..=end]) {
                *feed |= !packet.disposable;
            }
        }
        let expected: Vec<ExpectedFrame> = (0u32..)
            .zip(&self.shown)
            .filter(|&(_, &i)| feed[i])
            .map(|(ordinal, &i)| ExpectedFrame { pts: self.packets[i].pts, key: self.packets[i].key, ordinal })
            .collect();
        let undecoded = u32::try_from(self.shown.len() - expected.len()).ok()?;
        Some(PacketChoice { feed, expected, undecoded })
    }
}

/// Returns the most pictures that a decoder has to hold back to reorder `decoded`, packets in decoding order, into
/// `presented`.
fn held_back(decoded: &[usize], presented: &[usize]) -> usize {
    // The worst case is a picture that is decoded after all pictures that are shown before it. For such a picture,
    // the number held back is the distance between its two positions.
    let place = |packet: usize| decoded.binary_search(&packet).unwrap_or(0); // `decoded` ascends and holds it
    presented.iter().enumerate().map(|(shown, &packet)| place(packet).saturating_sub(shown)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::video::container::PacketSets;

    /// Packets as letters: `I` restart, `P` reference, `b` disposable, with their times.
    fn notes(packets: &[(char, i64)]) -> Vec<Note> {
        packets
            .iter()
            .map(|&(letter, pts)| {
                let role = match letter {
                    'I' => PacketRole::Restart,
                    'P' => PacketRole::Reference,
                    _ => PacketRole::Disposable,
                };
                let anatomy = PacketInfo { role, shown: true, layer: 0, moves_ahead: false };
                Note {
                    pts: Some(pts),
                    dts: None,
                    duration: 0,
                    key: role == PacketRole::Restart,
                    hidden: false,
                    anatomy: Some(anatomy),
                    sets: PacketSets { some: false, stands_alone: true },
                }
            })
            .collect()
    }

    fn two_groups() -> Vec<Note> {
        notes(&[('I', 0), ('P', 3), ('b', 1), ('b', 2), ('P', 4), ('I', 5), ('P', 7), ('b', 6), ('P', 8)])
    }

    fn fed(notes: &[Note], wanted: &[u32]) -> Vec<usize> {
        let plan = PacketMap::new(notes, None).unwrap().plan(wanted).unwrap();
        assert!(plan.expected.is_sorted_by(|a, b| a.pts < b.pts && a.ordinal < b.ordinal));
        (0..notes.len()).filter(|&i| plan.feed[i]).collect()
    }

    #[test]
    fn only_what_a_frame_needs_is_decoded() {
        assert_eq!(fed(&two_groups(), &[0]), [0]);
        assert_eq!(fed(&two_groups(), &[2]), [0, 1, 3]);
        assert_eq!(fed(&two_groups(), &[6]), [0, 5, 6, 7]);
        assert_eq!(fed(&two_groups(), &[3, 8]), [0, 1, 5, 6, 8]);
        let plan = PacketMap::new(&two_groups(), None).unwrap().plan(&[6]).unwrap();
        assert_eq!(plan.undecoded, 5);
        assert_eq!(plan.expected[1], ExpectedFrame { pts: 5, key: true, ordinal: 5 });
        assert!(PacketMap::new(&two_groups(), None).unwrap().plan(&[9]).is_none());
    }

    #[test]
    fn parameter_sets_on_the_way_are_not_skipped() {
        let mut packets = two_groups();
        packets[5].sets.some = true;
        assert_eq!(fed(&packets, &[6]), [0, 5, 6, 7]);
        packets[5].sets.stands_alone = false;
        assert_eq!(fed(&packets, &[6]), [0, 1, 4, 5, 6, 7]);
        packets[2].sets.some = true;
        assert_eq!(fed(&packets, &[4]), [0, 1, 2, 4]);
    }

    #[test]
    fn only_the_top_layer_is_disposable() {
        let mut packets = two_groups();
        packets[3].anatomy.as_mut().unwrap().layer = 1;
        assert_eq!(fed(&packets, &[4]), [0, 1, 2, 4]);
    }

    #[test]
    fn hidden_pictures_are_decoded_and_do_not_count() {
        let mut packets = two_groups();
        packets[0].hidden = true;
        assert_eq!(fed(&packets, &[0]), [0, 1, 2]); // the frame at time 1
        packets[4].anatomy.as_mut().unwrap().shown = false;
        packets[4].pts = None;
        assert_eq!(fed(&packets, &[4]), [0, 1, 2, 5, 6, 7]);
    }

    #[test]
    fn contradictions_are_noticed() {
        let changed = |change: fn(&mut Vec<Note>)| {
            let mut packets = two_groups();
            change(&mut packets);
            PacketMap::new(&packets, None).is_none()
        };
        assert!(changed(|p| p[2].pts = None), "no time");
        assert!(changed(|p| p[2].pts = Some(2)), "a time twice");
        assert!(changed(|p| p[2].anatomy = None), "not understood");
        assert!(changed(|p| p[2].key = true), "a disposable key frame");
        assert!(changed(|p| p[5].key = false), "a restart that is no key frame");
        assert!(changed(|p| p.rotate_left(1)), "no restart at the beginning");
        assert!(changed(Vec::clear), "no packets");
        assert!(!changed(|_| ()));
    }

    #[test]
    fn the_decoder_has_to_hold_back_enough() {
        assert!(PacketMap::new(&two_groups(), Some(1)).is_some());
        assert!(PacketMap::new(&two_groups(), Some(0)).is_none());
        let pyramid = notes(&[('I', 0), ('P', 4), ('P', 2), ('b', 1), ('b', 3)]);
        assert!(PacketMap::new(&pyramid, Some(2)).is_some());
        assert!(PacketMap::new(&pyramid, Some(1)).is_none());
    }
}
