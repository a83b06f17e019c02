//! The decoder's loop: packets in, frames out, every error told apart and counted.

use std::fmt;
use std::time::Instant;

use ffmpeg_next::error::EAGAIN;
use ffmpeg_next::{Packet, codec, decoder, ffi, frame};

use crate::limits;

use super::input::{StreamInfo, ffmpeg_error, shortage, timeout};
use super::packets::Packets;
use super::{Stage, VideoError};

/// Errors in a row, without a frame between them, after which a decoder that is being emptied is given up.
const MAX_FLUSH_ERRORS: u32 = 1000;

/// What went wrong in one pass over a stream.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Packets or frames that the decoder refused.
    pub errors: u64,
    /// FFmpeg's text of the first of them, with its place.
    pub first_error: Option<String>,
}

impl Tally {
    fn note(&mut self, place: Place, error: ffmpeg_next::Error) {
        self.errors += 1;
        self.first_error.get_or_insert_with(|| format!("{place}: {error}"));
    }
}

/// Where in the stream an error came up.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// After so many packets, counted from 0.
    Packet(u64),
    /// When the decoder was emptied.
    End,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Packet(index) => write!(f, "packet {index}"),
            Place::End => f.write_str("at the end"),
        }
    }
}

/// One decoder, used for one pass over the stream.
pub(super) struct Decoder {
    inner: decoder::Video,
    deadline: Instant,
    tally: Tally,
    frame: frame::Video,
}

/// Why decoding ends before the end.
#[derive(Debug)]
pub(super) enum Halt {
    /// The video cannot be read.
    Failed(VideoError),
    /// What came out is not what was expected. The stream has to be decoded whole.
    Unexpected,
}

impl From<VideoError> for Halt {
    fn from(e: VideoError) -> Self {
        Halt::Failed(e)
    }
}

type OnFrame<'a> = &'a mut dyn FnMut(&frame::Video) -> Result<(), Halt>;

impl Decoder {
    pub fn open(stream: &StreamInfo, max_pixels: u64, deadline: Instant) -> Result<Self, VideoError> {
        let fail = |e: ffmpeg_next::Error| {
            VideoError::new(Stage::Decode, ffmpeg_error(&format!("FFmpeg cannot decode {}", stream.codec), &e))
        };
        let mut context = codec::Context::from_parameters(stream.parameters.clone()).map_err(fail)?;
        // One thread: packing is parallel over videos, and the order of errors stays the same from run to run.
        context.set_threading(codec::threading::Config {
            kind: codec::threading::Type::None,
            count: 1,
            ..Default::default()
        });
        let max_pixels = i64::try_from(max_pixels.min(limits::MAX_PIXELS)).unwrap_or(i64::MAX);
        let mut decoder = context.decoder();
        decoder.set_packet_time_base((stream.time_base.0 as i32, stream.time_base.1 as i32));
        // SAFETY: the context is not open yet, and these fields are meant to be set before opening.
        unsafe {
            let c = decoder.as_mut_ptr();
            (*c).framerate = ffi::AVRational { num: stream.frame_rate.0, den: stream.frame_rate.1 };
            (*c).max_pixels = max_pixels;
        }
        let inner = decoder.video().map_err(fail)?;
        Ok(Decoder { inner, deadline, tally: Tally::default(), frame: frame::Video::empty() })
    }

    /// Decodes all packets, or those that `feed` names, and gives every frame to `on_frame`, in the order of presentation.
    pub fn run(mut self, packets: &Packets, feed: Option<&[bool]>, on_frame: OnFrame) -> Result<Tally, Halt> {
        packets.replay(feed, |index, packet| self.feed(packet, Place::Packet(index), on_frame))?;
        match self.inner.send_eof() {
            Ok(()) | Err(ffmpeg_next::Error::Eof) => {}
            Err(e) => self.note(Place::End, e)?,
        }
        self.drain(Place::End, on_frame)?;
        Ok(self.tally)
    }

    fn feed(&mut self, packet: &Packet, place: Place, on_frame: OnFrame) -> Result<(), Halt> {
        if packet.size() == 0 {
            return Ok(()); // to a decoder it would mean the end of the stream
        }
        match self.inner.send_packet(packet) {
            Ok(()) => {}
            Err(ffmpeg_next::Error::Other { errno }) if errno == EAGAIN => {
                self.drain(place, on_frame)?;
                if let Err(e) = self.inner.send_packet(packet) {
                    self.note(place, e)?;
                }
            }
            Err(e) => self.note(place, e)?,
        }
        self.drain(place, on_frame)
    }

    /// Takes out all frames that are ready.
    fn drain(&mut self, place: Place, on_frame: OnFrame) -> Result<(), Halt> {
        let mut errors_in_a_row = 0;
        loop {
            if Instant::now() >= self.deadline {
                return Err(timeout("decoding").into());
            }
            match self.inner.receive_frame(&mut self.frame) {
                Ok(()) => {
                    errors_in_a_row = 0;
                    on_frame(&self.frame)?;
                }
                Err(ffmpeg_next::Error::Eof) => return Ok(()),
                Err(ffmpeg_next::Error::Other { errno }) if errno == EAGAIN => return Ok(()),
                Err(e) => {
                    self.note(place, e)?;
                    errors_in_a_row += 1;
                    if errors_in_a_row == MAX_FLUSH_ERRORS {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Counts an error of the data; an error of the machine ends the pass, because a second run could differ.
    fn note(&mut self, place: Place, error: ffmpeg_next::Error) -> Result<(), VideoError> {
        if shortage(&error).is_some() {
            return Err(VideoError::new(Stage::Decode, ffmpeg_error(&place.to_string(), &error)));
        }
        self.tally.note(place, error);
        Ok(())
    }
}
