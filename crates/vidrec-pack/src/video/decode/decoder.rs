//! The decoder's loop: takes packets, returns frames, and counts every error by kind.
//!
//! With one thread, a decoder decodes a packet when it receives the packet, or when it is asked for frames before
//! the next packet. Whatever FFmpeg logs in between therefore concerns that packet.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::fmt;
use std::time::Instant;

use ffmpeg_next::error::EAGAIN;
use ffmpeg_next::{Packet, codec, decoder, ffi, frame, picture};

use crate::video::container::{Packets, StreamInfo};
use crate::video::error::{Stage, VideoError, ffmpeg_error, shortage, timeout, words};
use crate::video::ffmpeg::{self, LoggedErrors};
use vidrec_format::error::Error;
use vidrec_format::limits;

/// After this many consecutive errors without a frame, vidrec stops draining a decoder.
const MAX_FLUSH_ERRORS: u32 = 1000;

/// The faults that decoders check for, besides errors that stop them: checksums, and violations of the standard that "have
/// not been seen in the wild" (FFmpeg's words for `careful`).
///
/// The other flags found nothing more in files with flipped bits. They also report legal data as errors:
/// `bitstream` reports the stuffing at the end of an MPEG-1 picture, and `aggressive` what Xvid writes.
const ERROR_DETECTION: c_int = (ffi::AV_EF_CRCCHECK | ffi::AV_EF_CAREFUL) as c_int;

/// The errors of one pass over a stream.
#[derive(Debug, Default)]
pub(crate) struct ErrorTally {
    /// The number of packets or frames that the decoder refused.
    pub errors: u64,
    /// The number of errors that FFmpeg logged.
    pub logged: u64,
    /// FFmpeg's message for the first error of either kind, with its place in the stream.
    pub first_error: Option<String>,
}

impl ErrorTally {
    pub fn is_clean(&self) -> bool {
        self.errors == 0 && self.logged == 0
    }

    /// Records what a call logged and the error that it returned.
    fn note(&mut self, place: ErrorPlace, logged: LoggedErrors, error: Option<ffmpeg_next::Error>) {
        self.errors += u64::from(error.is_some());
        self.logged += logged.errors;
        let text = match (error, logged.first) {
            (None, None) => return,
            (Some(error), said) => words(&error, said.as_deref()),
            (None, Some(said)) => said,
        };
        self.first_error.get_or_insert_with(|| format!("{place}: {text}"));
    }
}

/// Where in the stream an error occurred.
#[derive(Debug, Clone, Copy)]
enum ErrorPlace {
    /// At this packet, counted from 0.
    Packet(u64),
    /// When the decoder was opened.
    Opening,
    /// When the decoder was drained.
    End,
}

impl fmt::Display for ErrorPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorPlace::Packet(index) => write!(f, "packet {index}"),
            ErrorPlace::Opening => f.write_str("at the beginning"),
            ErrorPlace::End => f.write_str("at the end"),
        }
    }
}

/// One decoder, used for one pass over the stream.
pub(crate) struct PacketDecoder {
    inner: decoder::Video,
    deadline: Instant,
    tally: ErrorTally,
    suspects: Suspects,
    /// Whether the decoder itself marks damaged frames.
    marks: bool,
    frame: frame::Video,
}

/// The result of a decoder call.
#[derive(Debug, PartialEq, Eq)]
enum CallResult {
    Done,
    /// The decoder has no frame ready, or accepts no packet until its frames are taken out.
    NotNow,
    /// The decoder returned an error, which is recorded.
    Refused,
}

/// Why decoding stops before the end of the stream.
#[derive(Debug)]
pub(crate) enum DecodeStop {
    /// The video cannot be read.
    Failed(VideoError),
    /// The frames that came out are not the expected ones. The whole stream must be decoded.
    Unexpected,
}

impl From<VideoError> for DecodeStop {
    fn from(e: VideoError) -> Self {
        DecodeStop::Failed(e)
    }
}

/// Receives a frame, and whether it decoded with damage.
type OnFrame<'a> = &'a mut dyn FnMut(&frame::Video, bool) -> Result<(), DecodeStop>;

impl PacketDecoder {
    pub fn open(stream: &StreamInfo, max_pixels: u64, deadline: Instant) -> Result<Self, VideoError> {
        let fail =
            |e: ffmpeg_next::Error, said: Option<&str>| VideoError::new(Stage::Decode, cannot_decode(stream, e, said));
        let parameters = stream.parameters.clone();
        let mut context = codec::Context::from_parameters(parameters).map_err(|e| fail(e, None))?;
        // One thread is enough, because packing is parallel over videos. The order of errors also stays the same
        // from run to run.
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
            (*c).err_recognition = ERROR_DETECTION;
        }
        let (opened, logged) = ffmpeg::collect_errors(|| decoder.video());
        let inner = opened.map_err(|e| fail(e, logged.first.as_deref()))?;
        let mut tally = ErrorTally::default();
        tally.note(ErrorPlace::Opening, logged, None);
        let (suspects, marks) = (Suspects::default(), marks_damage(stream.parameters.id()));
        Ok(PacketDecoder { inner, deadline, tally, suspects, marks, frame: frame::Video::empty() })
    }

    /// Decodes all packets, or those that `feed` selects, and passes each frame to `on_frame` when it comes out.
    pub fn run(
        mut self,
        packets: &Packets,
        feed: Option<&[bool]>,
        on_frame: OnFrame,
    ) -> Result<ErrorTally, DecodeStop> {
        packets.replay(feed, |index, packet| self.feed(packet, ErrorPlace::Packet(index), on_frame))?;
        self.suspects.begin(None, self.delay());
        self.call(ErrorPlace::End, |decoder, _| decoder.send_eof())?;
        self.drain(ErrorPlace::End, on_frame)?;
        Ok(self.tally)
    }

    fn feed(&mut self, packet: &Packet, place: ErrorPlace, on_frame: OnFrame) -> Result<(), DecodeStop> {
        if packet.size() == 0 {
            return Ok(()); // a decoder takes an empty packet for the end of the stream
        }
        self.suspects.begin(packet.pts(), self.delay());
        if self.call(place, |decoder, _| decoder.send_packet(packet))? == CallResult::NotNow {
            self.drain(place, on_frame)?;
            if self.call(place, |decoder, _| decoder.send_packet(packet))? == CallResult::NotNow {
                self.tally.note(place, LoggedErrors::default(), Some(ffmpeg_next::Error::Other { errno: EAGAIN }));
            }
        }
        self.drain(place, on_frame)
    }

    /// Takes all frames that are ready out of the decoder.
    fn drain(&mut self, place: ErrorPlace, on_frame: OnFrame) -> Result<(), DecodeStop> {
        let mut errors_in_a_row = 0;
        while errors_in_a_row < MAX_FLUSH_ERRORS {
            if Instant::now() >= self.deadline {
                return Err(timeout("decoding").into());
            }
            match self.call(place, |decoder, frame| decoder.receive_frame(frame))? {
                CallResult::Done => {
                    errors_in_a_row = 0;
                    let suspect = self.suspects.has(&self.frame);
                    on_frame(&self.frame, suspect || is_marked(&self.frame))?;
                }
                CallResult::NotNow => break,
                CallResult::Refused => errors_in_a_row += 1,
            }
        }
        Ok(())
    }

    /// Calls the decoder, and records errors in the data. An error of the machine ends the pass, because a second
    /// run could differ.
    fn call(
        &mut self,
        place: ErrorPlace,
        call: impl FnOnce(&mut decoder::Video, &mut frame::Video) -> Result<(), ffmpeg_next::Error>,
    ) -> Result<CallResult, VideoError> {
        use ffmpeg_next::Error::{Eof, Other};
        let (result, logged) = ffmpeg::collect_errors(|| call(&mut self.inner, &mut self.frame));
        if logged.errors > 0 && !self.marks {
            self.suspects.add();
        }
        let (answer, error) = match result {
            Ok(()) => (CallResult::Done, None),
            Err(Eof | Other { errno: EAGAIN }) => (CallResult::NotNow, None),
            Err(e) if shortage(&e).is_some() => {
                return Err(VideoError::new(Stage::Decode, ffmpeg_error(&place.to_string(), &e, None)));
            }
            Err(e) => (CallResult::Refused, Some(e)),
        };
        self.tally.note(place, logged, error);
        Ok(answer)
    }

    /// Returns the number of pictures that the decoder holds back to reorder them.
    fn delay(&self) -> u32 {
        // SAFETY: the context is live; this is a plain field of it.
        u32::try_from(unsafe { (*self.inner.as_ptr()).has_b_frames }).unwrap_or(0)
    }
}

fn cannot_decode(stream: &StreamInfo, e: ffmpeg_next::Error, said: Option<&str>) -> Error {
    let id = stream.parameters.id();
    if id == codec::Id::None {
        return Error::decode("FFmpeg does not know the codec of the video stream")
            .found(format!("the tag '{}' in {}", stream.tag.escape_ascii(), stream.container))
            .help("convert the video with a program that can read it");
    }
    if e == ffmpeg_next::Error::DecoderNotFound {
        return Error::decode(format!("this FFmpeg has no decoder for {}", stream.codec));
    }
    ffmpeg_error(&format!("FFmpeg cannot decode {}", stream.codec), &e, said)
}

/// Whether the decoder conceals damage with FFmpeg's common code (`error_resilience.c`), and therefore marks every
/// frame that it repaired. Its other log messages, such as one about a misplaced NAL unit, do not mean that a
/// picture is damaged.
fn marks_damage(id: codec::Id) -> bool {
    use codec::Id::*;
    const MARKING: [codec::Id; 17] = [
        H264, MPEG1VIDEO, MPEG2VIDEO, MPEG4, H263, H263I, H263P, FLV1, MSMPEG4V1, MSMPEG4V2, MSMPEG4V3, WMV1, WMV2,
        WMV3, VC1, RV10, RV20,
    ];
    MARKING.contains(&id)
}

/// Whether FFmpeg itself marks the frame: it is incomplete, or its decoder met errors in it.
fn is_marked(frame: &frame::Video) -> bool {
    // SAFETY: the frame is live; these are plain fields of it.
    let (flags, errors) = unsafe { ((*frame.as_ptr()).flags, (*frame.as_ptr()).decode_error_flags) };
    flags & ffi::AV_FRAME_FLAG_CORRUPT != 0 || errors != 0
}

/// The packets at which FFmpeg logged errors, identified by their times, which their frames share.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    /// The time of the packet that the decoder is working on.
    current: Option<i64>,
    /// The number of pictures that the decoder holds back.
    delay: u32,
    times: BTreeSet<i64>,
    /// The next `untimed` frames that others may refer to are suspects, and so is every frame before the last of
    /// them. This is set if an error was logged at a packet without a time (AVI, bare streams), because the frame
    /// of that packet cannot be identified.
    untimed: u32,
}

impl Suspects {
    /// Records that the decoder receives a packet with the time `pts` while it holds back `delay` pictures.
    pub fn begin(&mut self, pts: Option<i64>, delay: u32) {
        if self.delay == 0 {
            self.untimed = 0; // the frame of the error would have come out already
        }
        (self.current, self.delay) = (pts, delay);
    }

    /// Records that an error was logged.
    pub fn add(&mut self) {
        match self.current {
            Some(pts) => drop(self.times.insert(pts)),
            None => self.untimed = self.delay.saturating_add(1),
        }
    }

    /// Whether a frame that comes out is a suspect.
    pub fn has(&mut self, frame: &frame::Video) -> bool {
        self.is_suspect(frame.pts(), frame.kind() == picture::Type::B)
    }

    fn is_suspect(&mut self, pts: Option<i64>, is_b: bool) -> bool {
        let untimed = self.untimed > 0;
        self.untimed = self.untimed.saturating_sub(u32::from(!is_b));
        untimed || pts.is_some_and(|pts| self.times.contains(&pts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_known_by_their_time() {
        let mut suspects = Suspects::default();
        suspects.begin(Some(40), 2);
        suspects.add();
        suspects.begin(Some(20), 2);
        let mut is = |pts| suspects.is_suspect(Some(pts), false);
        assert_eq!([10, 20, 40, 50].map(&mut is), [false, false, true, false]);
    }

    /// The frames are coded as I0 P3 B1 B2 P6 and come out as I0 B1 B2 P3.
    #[test]
    fn without_times_all_that_may_be_it_are_suspected() {
        let mut suspects = Suspects::default();
        suspects.begin(None, 1);
        assert!(!suspects.is_suspect(None, false));
        suspects.begin(None, 1); // P3
        suspects.add();
        for (is_b, suspect) in [(false, true), (true, true), (true, true), (false, true), (true, false)] {
            assert_eq!(suspects.is_suspect(None, is_b), suspect);
            suspects.begin(None, 1);
        }
    }

    #[test]
    fn without_times_and_delay_a_refused_packet_spoils_no_other_frame() {
        let mut suspects = Suspects::default();
        suspects.begin(None, 0);
        suspects.add();
        suspects.begin(None, 0);
        assert!(!suspects.is_suspect(None, false));
        suspects.add();
        assert!(suspects.is_suspect(None, false));
    }
}
