//! Holds the packets of the video stream: reads them once to count them, then replays them as often as needed.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};

use ffmpeg_next::packet::Ref;
use ffmpeg_next::packet::side_data::Type;
use ffmpeg_next::{Packet, ffi};

use super::bitstream::{self, PacketInfo, PacketSets, ParameterSets, Syntax};
use super::checksums::{self, Checksums};
use super::input::{Deadline, Input, NextPacket};
use super::source::VideoFile;
use super::stream::StreamInfo;
use crate::video::error::{VideoError, words};
use crate::video::ffmpeg::LoggedErrors;
use crate::video::timeline::Timeline;

/// The properties of a packet that vidrec remembers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Note {
    pub pts: Option<i64>,
    pub dts: Option<i64>,
    /// The time for which the frame is shown, in units of the time base; 0 if unknown.
    pub duration: i64,
    pub key: bool,
    /// Whether the packet holds no data, or an edit list hides its frame.
    pub hidden: bool,
    /// The properties that the data itself tells, if vidrec understands it.
    pub anatomy: Option<PacketInfo>,
    /// Its parameter sets.
    pub sets: PacketSets,
}

impl Note {
    fn of(packet: &Packet, syntax: Option<Syntax>, sets: &mut ParameterSets<'_>) -> Self {
        let replaced = packet.side_data().any(|d| matches!(d.kind(), Type::NewExtraData | Type::ParamChange));
        let is_readable = !replaced || new_syntax(packet, syntax) == syntax;
        let sets = sets.take(packet.data().filter(|_| !replaced));
        Note {
            pts: packet.pts(),
            dts: packet.dts(),
            duration: packet.duration(),
            key: packet.is_key(),
            hidden: packet.size() == 0 || is_hidden(packet),
            anatomy: syntax.zip(packet.data()).filter(|_| is_readable).and_then(|(syntax, data)| syntax.read(data)),
            sets,
        }
    }

    fn time(&self) -> Option<i64> {
        self.pts.or(self.dts)
    }

    /// Whether the packet should yield a frame.
    fn promises(&self) -> bool {
        !self.hidden && self.anatomy.is_none_or(|a| a.shown)
    }
}

/// The order of the times of a stream's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PacketClock {
    /// Presentation times only ascend, as if pictures were shown in the order in which they are decoded.
    Ascends,
    /// Presentation times do not always ascend.
    Reorders,
    /// Decoding times go back, for more than a few single packets: the clock restarts.
    Restarts,
}

impl PacketClock {
    fn of(notes: &[Note]) -> Self {
        let pts = notes.iter().filter(|n| n.promises()).map(|n| n.pts);
        let decoded: Vec<i64> = notes.iter().filter_map(|n| n.dts).collect();
        if misplaced(&decoded) > (decoded.len() / FEW).max(2) {
            PacketClock::Restarts
        } else if pts.is_sorted_by(|a, b| a.is_some() && a < b) {
            PacketClock::Ascends
        } else {
            PacketClock::Reorders
        }
    }
}

/// One packet in this many may have a misplaced time before the clock counts as restarted. Two packets are always
/// allowed, because two times may be swapped.
const FEW: usize = 20;

/// Returns the smallest number of times to remove so that the others ascend.
fn misplaced(times: &[i64]) -> usize {
    // For each length, the lowest last time of an ascending subsequence (the longest increasing subsequence by
    // patience sorting).
    let mut ends: Vec<i64> = Vec::new();
    for &time in times {
        let place = ends.partition_point(|&end| end <= time);
        match ends.get_mut(place) {
            Some(end) => *end = time,
            None => ends.push(time),
        }
    }
    times.len() - ends.len()
}

/// All packets of one stream, in the file's order.
pub(crate) struct Packets {
    replay: RefCell<Replay>,
    notes: Vec<Note>,
    /// Packets that the demuxer marked as damaged.
    pub corrupt: u64,
    /// The errors that FFmpeg logged while it opened and read the file.
    pub logged: LoggedErrors,
    /// The container's own checksums.
    pub checksums: Checksums,
    /// The error that ended the stream, if it did not end cleanly.
    pub read_error: Option<ffmpeg_next::Error>,
}

impl Packets {
    /// Reads the stream to its end, and keeps it in memory if it has no more than `keep_bytes`. Also checks the
    /// container's checksums.
    pub fn scan(
        input: &mut Input,
        stream: &StreamInfo,
        file: VideoFile,
        keep_bytes: usize,
    ) -> Result<Self, VideoError> {
        let checksums = checksums::check(&file, &stream.container, input.deadline().at())?;
        let mut all = Packets {
            replay: RefCell::new(Replay::new(file, input.deadline().clone(), keep_bytes)),
            notes: Vec::new(),
            corrupt: 0,
            logged: LoggedErrors::default(),
            checksums,
            read_error: None,
        };
        let extradata = bitstream::extradata(&stream.parameters);
        let syntax = Syntax::of(stream.parameters.id(), extradata);
        let mut sets = ParameterSets::new(syntax, extradata);
        loop {
            let packet = match input.next()? {
                NextPacket::Packet(packet) => packet,
                NextPacket::End(error) => {
                    all.read_error = error;
                    all.logged = input.logged().clone();
                    return Ok(all);
                }
            };
            all.notes.push(Note::of(&packet, syntax, &mut sets));
            all.corrupt += u64::from(packet.is_corrupt());
            all.replay.get_mut().take(packet);
        }
    }

    /// Returns the frames that the packets promise.
    pub fn timeline(&self, stream: &StreamInfo) -> Timeline {
        let promising = self.notes.iter().filter(|n| n.promises());
        let mut frames: Vec<(i64, bool)> = promising.map(|n| (n.time().unwrap_or(i64::MAX), n.key)).collect();
        // The sort is stable, so packets without a time keep their order, at the end.
        frames.sort_by_key(|&(pts, _)| pts);
        let (pts, key): (Vec<i64>, Vec<bool>) = frames.into_iter().unzip();
        let end = self.end_of(pts.last().copied().unwrap_or(0), stream);
        Timeline::new((pts, key), stream.time_base, end, stream.player_zero)
    }

    pub fn clock(&self) -> PacketClock {
        PacketClock::of(&self.notes)
    }

    /// Whether some packet may hold a picture that is shown before one that is decoded earlier.
    pub fn may_reorder(&self) -> bool {
        self.notes.iter().any(|n| n.anatomy.is_none_or(|a| a.moves_ahead))
    }

    /// Returns the times of the packets that the container marks as key frames, if it marks some and not others.
    pub fn key_times(&self) -> Option<BTreeSet<i64>> {
        let promising = || self.notes.iter().filter(|n| n.promises());
        let marks_some = promising().any(|n| n.key) && promising().any(|n| !n.key);
        marks_some.then(|| promising().filter(|n| n.key).filter_map(Note::time).collect())
    }

    /// Returns the seconds from the first frame to the end of the last, by the times of the packets; `None` if
    /// they have no times.
    pub fn seconds(&self, stream: &StreamInfo) -> Option<f64> {
        let times = || self.notes.iter().filter(|n| n.promises()).filter_map(Note::time);
        let (first, last) = times().min().zip(times().max())?;
        let units = self.end_of(last, stream).checked_sub(first)?;
        Some(units as f64 * f64::from(stream.time_base.0) / f64::from(stream.time_base.1))
    }

    /// Returns the end of the last frame, which is at `last`: after the duration of its packet, or later if a file that is
    /// whole says so.
    ///
    /// Matroska stores no duration with most frames, but FFmpeg's muxer writes into a tag when the last one ends.
    pub fn end_of(&self, last: i64, stream: &StreamInfo) -> i64 {
        let packet = self.notes.iter().rev().find(|n| n.promises() && n.time() == Some(last));
        let Some(packet) = packet else { return last.saturating_add(stream.nominal_duration()) };
        let duration = if packet.duration > 0 { packet.duration } else { stream.nominal_duration() };
        let end = last.saturating_add(duration);
        let is_whole = self.checksums.whole && self.read_error.is_none() && self.logged.errors == 0;
        stream.claimed_end.filter(|_| is_whole).map_or(end, |claimed| end.max(claimed))
    }

    /// Returns the first flaw that reading the file revealed.
    pub fn first_error(&self) -> Option<String> {
        let read_error = || self.read_error.map(|e| format!("reading: {}", words(&e, None)));
        self.checksums.first.clone().or_else(|| self.logged.first.clone()).or_else(read_error)
    }

    /// Returns the notes of all packets, if nothing indicates damage and their number is the one that the
    /// container claims.
    pub fn intact_notes(&self, stream: &StreamInfo) -> Option<&[Note]> {
        let claimed = stream.claimed_frames.is_none_or(|n| n == self.notes.len() as u64);
        let intact = self.corrupt == 0 && self.read_error.is_none() && self.logged.errors == 0;
        (intact && self.checksums.failed == 0 && claimed).then_some(&self.notes)
    }

    /// Calls `each` with every packet and its position, from the first to the last. With `feed`, calls it only for
    /// the packets that `feed` selects.
    pub fn replay<E: From<VideoError>>(
        &self,
        feed: Option<&[bool]>,
        mut each: impl FnMut(u64, &Packet) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut replay = self.replay.borrow_mut();
        for i in (0..self.notes.len()).filter(|&i| feed.is_none_or(|feed| feed.get(i) == Some(&true))) {
            match replay.get(i)? {
                Some(packet) => each(i as u64, packet)?,
                None => break,
            }
        }
        Ok(())
    }

    /// From here on, keeps only a few packets, for a video that is read again later.
    pub fn rest(&mut self) {
        self.replay.get_mut().rest();
    }
}

/// The bytes of memory that a packet takes besides its data, for structures of FFmpeg and of its allocator.
const PACKET_OVERHEAD: usize = 512;

/// The most bytes of packets of a stream that is too long to keep. Parts of a video often share a group of pictures, or
/// begin before the last one ended.
const WINDOW: usize = 8 << 20;

/// The packets of a stream, in the file's order. The last ones that were read are in memory, up to all of them.
struct Replay {
    file: VideoFile,
    deadline: Deadline,
    /// The open file, which gives the packet after `recent` next; `None` if it has ended or has to be opened.
    input: Option<Input>,
    /// The first packet, which every decoder gets.
    head: Option<Packet>,
    recent: VecDeque<Packet>,
    /// The number of the first of `recent`.
    first: usize,
    bytes: usize,
    /// The most bytes of `recent`.
    most: usize,
}

impl Replay {
    /// Keeps all packets of a stream of no more than `most` bytes, and few of a longer one.
    fn new(file: VideoFile, deadline: Deadline, most: usize) -> Self {
        let (input, head, recent) = Default::default();
        Replay { file, deadline, input, head, recent, first: 0, bytes: 0, most }
    }

    /// Takes the next packet while the stream is read for the first time.
    fn take(&mut self, packet: Packet) {
        if self.first == 0 {
            self.push(packet);
        }
        if self.first > 0 {
            // None of them comes again before the file is opened again.
            self.rest();
        }
    }

    /// From here on, keeps at most [`WINDOW`] bytes of packets, for a stream that is read again later.
    fn rest(&mut self) {
        if self.bytes > WINDOW {
            self.input = None;
            self.recent.clear();
            (self.first, self.bytes) = (usize::MAX, 0);
        }
        self.most = self.most.min(WINDOW);
    }

    /// Returns a packet; `None` beyond the end of the file.
    fn get(&mut self, number: usize) -> Result<Option<&Packet>, VideoError> {
        if number == 0 && self.head.is_some() {
            return Ok(self.head.as_ref());
        }
        let behind = |all: &Self| all.first.saturating_add(all.recent.len());
        if number < self.first || (number >= behind(self) && self.input.is_none()) {
            self.input = Some(Input::open(&self.file, &self.deadline)?);
            self.recent.clear();
            (self.first, self.bytes) = (0, 0);
        }
        while number >= behind(self) {
            let next = self.input.as_mut().map_or(Ok(NextPacket::End(None)), Input::next)?;
            let NextPacket::Packet(packet) = next else { return Ok(None) };
            self.push(packet);
        }
        Ok(self.recent.get(number - self.first))
    }

    fn push(&mut self, packet: Packet) {
        if self.head.is_none() {
            self.head = Some(packet.clone());
        }
        self.bytes += cost(&packet);
        self.recent.push_back(packet);
        while self.bytes > self.most && self.recent.len() > 1 {
            self.bytes -= self.recent.pop_front().as_ref().map_or(0, cost);
            self.first += 1;
        }
    }
}

fn cost(packet: &Packet) -> usize {
    packet.size().saturating_add(PACKET_OVERHEAD)
}

/// Whether the container says that the packet's frame is decoded only for other frames and never shown (edit
/// lists).
fn is_hidden(packet: &Packet) -> bool {
    // SAFETY: the packet is live; `flags` is a plain field. ffmpeg-next has no name for this flag.
    unsafe { (*packet.as_ptr()).flags & ffi::AV_PKT_FLAG_DISCARD != 0 }
}

/// Returns the syntax of the stream from a packet on; `None` if it is unknown.
fn new_syntax(packet: &Packet, syntax: Option<Syntax>) -> Option<Syntax> {
    let record = packet.side_data().find(|d| d.kind() == Type::NewExtraData)?;
    Syntax::of(syntax?.codec(), record.data())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_misplaced_is_what_is_not_in_the_longest_ascent() {
        assert_eq!(misplaced(&[]), 0);
        assert_eq!(misplaced(&[1, 1, 2]), 0);
        assert_eq!(misplaced(&[1, 3, 2, 4]), 1);
        assert_eq!(misplaced(&[9, 1, 2, 3]), 1);
        assert_eq!(misplaced(&[1, 9, 3, 4, 5, 2, 10]), 2);
        assert_eq!(misplaced(&[4, 3, 2, 1]), 3);
    }
}
