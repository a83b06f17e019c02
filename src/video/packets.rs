//! The packets of the video stream: read once to count them, then given out as often as wanted.

use std::path::PathBuf;
use std::time::Instant;

use ffmpeg_next::packet::Ref;
use ffmpeg_next::{Packet, ffi};

use super::input::{Input, Next};
use super::{Timeline, VideoError};

/// What a packet costs in memory beside its data: the structures of FFmpeg and its allocator.
const PACKET_OVERHEAD: usize = 512;

/// All packets of one stream, in the file's order.
pub(super) struct Packets {
    path: PathBuf,
    deadline: Instant,
    /// Empty when the stream was too long to keep.
    kept: Option<Vec<Packet>>,
    /// Time and key flag of the packets that should each give a frame: they hold data, and no edit list hides them.
    promising: Vec<(i64, bool)>,
    /// Packets that the demuxer marked as damaged.
    pub corrupt: u64,
    /// The error that ended the stream, if it did not end cleanly.
    pub read_error: Option<ffmpeg_next::Error>,
}

impl Packets {
    /// Reads the stream to its end, and keeps it if it is not over `keep_bytes`.
    pub fn scan(input: &mut Input, path: PathBuf, keep_bytes: usize) -> Result<Self, VideoError> {
        let mut all = Packets {
            path,
            deadline: input.deadline(),
            kept: Some(Vec::new()),
            promising: Vec::new(),
            corrupt: 0,
            read_error: None,
        };
        let mut bytes = 0usize;
        loop {
            let packet = match input.next()? {
                Next::Packet(packet) => packet,
                Next::End(error) => {
                    all.read_error = error;
                    return Ok(all);
                }
            };
            if packet.size() > 0 && !is_hidden(&packet) {
                all.promising.push((packet.pts().or(packet.dts()).unwrap_or(i64::MAX), packet.is_key()));
            }
            all.corrupt += u64::from(packet.is_corrupt());
            bytes = bytes.saturating_add(packet.size()).saturating_add(PACKET_OVERHEAD);
            match &mut all.kept {
                Some(kept) if bytes <= keep_bytes => kept.push(packet),
                _ => all.kept = None,
            }
        }
    }

    /// The frames that the packets promise.
    pub fn timeline(&self, time_base: (u32, u32)) -> Timeline {
        let mut frames = self.promising.clone();
        // Stable: packets without a time stay in their order, at the end.
        frames.sort_by_key(|&(pts, _)| pts);
        let (pts, key) = frames.into_iter().unzip();
        Timeline { pts, key, time_base }
    }

    /// The lowest and the highest time of the packets that promise a frame.
    pub fn span(&self) -> Option<(i64, i64)> {
        let times = || self.promising.iter().map(|&(pts, _)| pts).filter(|&pts| pts != i64::MAX);
        times().min().zip(times().max())
    }

    /// Gives each packet to `each`, from the first to the last.
    pub fn replay(&self, mut each: impl FnMut(&Packet) -> Result<(), VideoError>) -> Result<(), VideoError> {
        if let Some(kept) = &self.kept {
            return kept.iter().try_for_each(each);
        }
        let mut input = Input::open(&self.path, self.deadline)?;
        while let Next::Packet(packet) = input.next()? {
            each(&packet)?;
        }
        Ok(())
    }
}

/// Whether the container says that the packet's frame is decoded for others only and never shown (edit lists).
fn is_hidden(packet: &Packet) -> bool {
    // SAFETY: the packet is live; `flags` is a plain field. ffmpeg-next has no name for this flag.
    unsafe { (*packet.as_ptr()).flags & ffi::AV_PKT_FLAG_DISCARD != 0 }
}
