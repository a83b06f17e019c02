//! Gives out the packets of a stream a second time: from memory, or from the file.

use std::collections::VecDeque;

use ffmpeg_next::Packet;

use super::input::{Deadline, Input, NextPacket};
use super::source::VideoFile;
use crate::video::error::VideoError;

/// The bytes of memory that a packet takes besides its data, for structures of FFmpeg and of its allocator.
const PACKET_OVERHEAD: usize = 512;

/// The most bytes of packets of a stream that is too long to keep. Parts of a video often share a group of pictures, or
/// begin before the last one ended.
const WINDOW: usize = 8 << 20;

/// The packets of a stream, in the file's order. The last ones that were read are in memory, up to all of them.
pub(super) struct Replay {
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
    pub fn new(file: VideoFile, deadline: Deadline, most: usize) -> Self {
        let (input, head, recent) = Default::default();
        Replay { file, deadline, input, head, recent, first: 0, bytes: 0, most }
    }

    /// Takes the next packet while the stream is read for the first time.
    pub fn take(&mut self, packet: Packet) {
        if self.first == 0 {
            self.push(packet);
        }
        if self.first > 0 {
            // None of them comes again before the file is opened again.
            self.rest();
        }
    }

    /// From here on, keeps at most [`WINDOW`] bytes of packets, for a stream that is read again later.
    pub fn rest(&mut self) {
        if self.bytes > WINDOW {
            self.input = None;
            self.recent.clear();
            (self.first, self.bytes) = (usize::MAX, 0);
        }
        self.most = self.most.min(WINDOW);
    }

    /// Returns a packet; `None` beyond the end of the file.
    pub fn get(&mut self, number: usize) -> Result<Option<&Packet>, VideoError> {
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
