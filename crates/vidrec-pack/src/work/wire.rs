//! The messages between a run and its decoding processes: JSON and JPEGs, each preceded by its length.
//!
//! ```text
//! message := length u32, little endian | bytes
//! process := Greeting, then for each Request any number of Wants, then a Reply and the JPEGs that it announces
//! run     := Request, and for each Want a Given, with an open file or followed by bytes
//! ```

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::failure::ClipFailure;
use super::packed::{PackedClip, PackedFrame};
use super::stamp::Stamp;
use crate::plan::Job;
use crate::track::PlannedTrack;
use crate::video::VideoFacts;
use vidrec_core::dataset::writer::ClipInfo;
use vidrec_core::dataset::writer::EncodedTrack;
use vidrec_format::json_object::JsonObject;
use vidrec_format::limits;
use vidrec_jpeg::{Measured, Scores};

/// How many bytes are read or written at a time, if there are that many.
pub(crate) const READ_BYTES: usize = 256 << 10;

/// The longest JSON message.
const MAX_JSON: u32 = 256 << 20;

/// What a process says of itself at first: its versions and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub tool: String,
    pub ffmpeg: String,
    pub settings: JsonObject,
}

impl Hello {
    /// Returns the JSON text, for an error message.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The first message of a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    pub hello: Hello,
    /// Why the process is not confined; `None` if it is.
    pub unconfined: Option<String>,
}

/// What a run says to a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Pack(Box<Request>),
    Take(Given),
}

/// The request to pack a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub job: Job,
    /// Whether the video is a folder of images.
    pub folder: bool,
    /// Whether no other video is being packed.
    pub alone: bool,
    /// Whether each JPEG is compared with its picture.
    pub measure: bool,
    /// The types and shapes of the tracks.
    pub tracks: Vec<PlannedTrack>,
    /// The number of channels of all sound, if the first video decided it.
    pub channels: Option<u32>,
    /// The stamp of the video, if several clips are made of it.
    pub shared: Option<Stamp>,
}

/// What a process asks the run for while it packs a video, because it may not open it itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Want {
    /// A file: the video, one of its images, or one of its tracks.
    File(OsString),
    /// The images of a folder: the video, or one of its tracks.
    Pictures(OsString),
    /// The video, or one of its tracks, which is remote.
    Object(OsString),
    /// At most `count` bytes of a remote video that is open, from byte `at` on.
    Bytes { path: OsString, at: u64, count: u32 },
    /// Room for this many bytes of memory.
    Memory(u64),
}

/// The answer of the run to a [`Want`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Given {
    /// An open file of this length. The file itself goes beside the message, on systems that can do that.
    File(u64),
    /// The path is not a regular file.
    NoFile,
    /// A system error.
    SystemError(i32),
    Pictures(Vec<OsString>),
    /// A remote video: its size in bytes, and how many of them are kept in memory.
    Object {
        bytes: u64,
        kept: u64,
    },
    /// Bytes, which follow as the next message.
    Bytes,
    Failed(ClipFailure),
    /// Room in memory.
    Room,
}

/// A clip without its JPEGs and the bytes of its tracks.
type ReplyClip = (ClipInfo, Vec<PackedFrame>, Vec<EncodedTrack>);

/// The measurements of a JPEG: its quality, PSNR, SSIM, PSNR of RGB, and the nanoseconds that measuring took. PSNR and SSIM
/// are the bits of the numbers, because text would change them.
type ReplyMeasured = (u8, u64, u64, Option<u64>, u64);

/// A message of a process that packs a video.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Wants(Want),
    Packed { clips: Vec<ReplyClip>, facts: Box<VideoFacts>, jpegs: u32, measured: Vec<ReplyMeasured> },
    Failed(ClipFailure),
}

/// A message that came from a process.
pub(crate) enum Said {
    Wants(Want),
    /// The video is done.
    Packed(PackedResult),
}

pub(crate) fn send<T: Serialize>(out: &mut impl Write, message: &T) -> io::Result<()> {
    send_bytes(out, &serde_json::to_vec(message)?)?;
    out.flush()
}

/// Reads the next message; `None` at the end.
pub(crate) fn receive<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<T>> {
    match receive_bytes(input, MAX_JSON)? {
        Some(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        None => Ok(None),
    }
}

/// The result of packing a video, as [`pack_one`](super::pack_one) returns it.
pub(crate) type PackedResult = Result<Vec<PackedClip>, ClipFailure>;

pub(crate) fn send_reply(out: &mut impl Write, packed: PackedResult) -> io::Result<()> {
    let (reply, jpegs, tracks) = match packed {
        Ok(mut clips) => {
            // All clips of a video share its JPEGs and facts.
            let shared = clips.first().map(|c| (Arc::clone(&c.jpegs), c.facts.clone(), Arc::clone(&c.measured)));
            let (jpegs, facts, measured) = shared.unwrap_or_default();
            let measured = measured.iter().map(|m| {
                let took = u64::try_from(m.took.as_nanos()).unwrap_or(u64::MAX);
                let rgb_psnr = m.rgb_psnr.map(f64::to_bits);
                (m.quality, m.scores.psnr.to_bits(), m.scores.ssim.to_bits(), rgb_psnr, took)
            });
            // Their bytes follow the JPEGs.
            let tracks: Vec<Vec<u8>> =
                clips.iter_mut().flat_map(|c| &mut c.tracks).map(|t| take(&mut t.bytes)).collect();
            let clips = clips.into_iter().map(|clip| (clip.info, clip.frames, clip.tracks)).collect();
            let (facts, measured) = (Box::new(facts), measured.collect());
            (Reply::Packed { clips, facts, jpegs: jpegs.len() as u32, measured }, jpegs, tracks)
        }
        Err(failure) => (Reply::Failed(failure), Arc::default(), Vec::new()),
    };
    send_bytes(out, &serde_json::to_vec(&reply)?)?;
    jpegs.iter().chain(&tracks).try_for_each(|bytes| send_bytes(out, bytes))?;
    out.flush()
}

pub(crate) fn send_want(out: &mut impl Write, want: Want) -> io::Result<()> {
    send(out, &Reply::Wants(want))
}

/// Reads the next message of a process, of at most `most` bytes.
///
/// Returns an error if the process has ended or the message is invalid.
pub(crate) fn receive_said(input: &mut impl Read, most: u64) -> io::Result<Said> {
    let input = &mut input.take(most);
    let (mut clips, facts, count, measured) = match receive(input)?.ok_or(io::ErrorKind::UnexpectedEof)? {
        Reply::Packed { clips, facts, jpegs, measured } => (clips, facts, jpegs, measured),
        Reply::Failed(failure) => return Ok(Said::Packed(Err(failure))),
        Reply::Wants(want) => return Ok(Said::Wants(want)),
    };
    if clips.iter().flat_map(|(_, frames, _)| frames).any(|f| f.jpeg >= count as usize) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut jpegs = Vec::new();
    for _ in 0..count {
        jpegs.push(receive_bytes(input, limits::MAX_RECORD_BYTES as u32)?.ok_or(io::ErrorKind::UnexpectedEof)?);
    }
    for track in clips.iter_mut().flat_map(|(_, _, tracks)| tracks) {
        track.bytes = receive_bytes(input, u32::MAX)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    }
    let measured = measured.into_iter().map(|(quality, psnr, ssim, rgb_psnr, took)| {
        let scores = Scores { psnr: f64::from_bits(psnr), ssim: f64::from_bits(ssim) };
        Measured { quality, scores, rgb_psnr: rgb_psnr.map(f64::from_bits), took: Duration::from_nanos(took) }
    });
    let (jpegs, measured) = (Arc::new(jpegs), Arc::new(measured.collect()));
    let clip = |(info, frames, tracks)| PackedClip {
        info,
        frames,
        tracks,
        jpegs: Arc::clone(&jpegs),
        measured: Arc::clone(&measured),
        facts: (*facts).clone(),
    };
    Ok(Said::Packed(Ok(clips.into_iter().map(clip).collect())))
}

pub(crate) fn send_bytes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)
}

pub(crate) fn receive_bytes(input: &mut impl Read, limit: u32) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if input.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    input.read_exact(&mut length[1..])?;
    let length = u32::from_le_bytes(length);
    if length > limit {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // The buffer grows beyond this only with bytes that arrive, whatever length was announced.
    let mut bytes = Vec::with_capacity((length as usize).min(READ_BYTES));
    if input.take(u64::from(length)).read_to_end(&mut bytes)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::failure::PackStage;
    use super::*;
    use vidrec_core::dataset::writer::{Track, TrackValues};

    fn receive_reply(input: &mut impl Read) -> io::Result<PackedResult> {
        match receive_said(input, u64::MAX)? {
            Said::Packed(packed) => Ok(packed),
            Said::Wants(want) => panic!("{want:?}"),
        }
    }

    #[test]
    fn what_is_sent_is_received() {
        let info = ClipInfo { source: "a".into(), ..ClipInfo::default() };
        let frames =
            vec![PackedFrame { jpeg: 1, pts: -5, source_index: 7 }, PackedFrame { jpeg: 0, pts: 1, source_index: 8 }];
        let jpegs = Arc::new(vec![vec![1, 2], vec![]]);
        let track = Track { values: TrackValues::U8(vec![5, 6]), name: "t".into(), ..Track::default() };
        let track = track.encode(2).unwrap();
        let scores = Scores { psnr: f64::INFINITY, ssim: 0.1 + 0.2 };
        let measured = Arc::new(vec![Measured { quality: 90, scores, rgb_psnr: Some(0.3), took: Duration::ZERO }]);
        let draw = |draw: u32| PackedClip {
            info: ClipInfo { label: Some(draw), ..info.clone() },
            jpegs: Arc::clone(&jpegs),
            frames: frames.clone(),
            measured: Arc::clone(&measured),
            facts: VideoFacts::default(),
            tracks: vec![track.clone()],
        };
        let mut bytes = Vec::new();
        send_reply(&mut bytes, Ok(vec![draw(3), draw(4)])).unwrap();
        let failure = ClipFailure::new(PackStage::Video(crate::video::Stage::Open), "no");
        send_reply(&mut bytes, Err(failure)).unwrap();
        let mut input = bytes.as_slice();
        let clips = receive_reply(&mut input).unwrap().unwrap();
        assert_eq!((clips.len(), clips[0].info.label, clips[1].info.label), (2, Some(3), Some(4)));
        assert_eq!(clips[1].tracks, [track]);
        assert_eq!(clips[1].measured, measured);
        assert_eq!((&clips[1].jpegs, clips[1].frames[0].pts, clips[1].frames[1].source_index), (&jpegs, -5, 8));
        assert_eq!(receive_reply(&mut input).unwrap().err().unwrap().message, "no");
        assert!(receive_reply(&mut input).is_err(), "the end");
        for cut in 0..bytes.len() {
            let mut input = &bytes[..cut];
            while receive_reply(&mut input).is_ok() {}
        }
        assert!(receive_said(&mut bytes.as_slice(), 20).is_err(), "more than may come");
        assert!(receive_bytes(&mut &b"\xff\xff\xff\xffabc"[..], 100).is_err());
    }
}
