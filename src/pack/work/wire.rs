//! What a run and its decoding processes say to each other: JSON and JPEGs, each after its length.
//!
//! ```text
//! message := length u32, little endian | bytes
//! process := Hello, then for each Request a Reply and the JPEGs that it announces
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::failure::ClipFailure;
use super::packed::{PackedClip, PackedFrame};
use crate::jpeg::{Measured, Scores};
use crate::pack::plan::Job;
use crate::pack::track::PlannedTrack;
use crate::video::VideoFacts;
use crate::writer::EncodedTrack;
use crate::{ClipInfo, JsonObject, Storage, limits};

/// Longest message of JSON.
const MAX_JSON: u32 = 256 << 20;

/// The first thing that a process says: what it is, and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub tool: String,
    pub ffmpeg: String,
    pub settings: JsonObject,
}

impl Hello {
    /// As text, for an error.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Pack this video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub job: Job,
    /// Whether nothing else is packed at the time.
    pub alone: bool,
    /// How a remote video is read. Options may be secret, so they are in no command line.
    pub storage: Option<RequestStorage>,
    /// Type and shape of the tracks.
    pub tracks: Vec<PlannedTrack>,
    /// The number of channels of all sound, if the first video decided.
    pub channels: Option<u32>,
}

/// What of [`Storage`] matters for videos.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RequestStorage {
    options: BTreeMap<String, String>,
    timeout: Duration,
}

impl RequestStorage {
    pub fn of(storage: &Storage) -> Self {
        RequestStorage { options: storage.options.clone(), timeout: storage.timeout }
    }

    pub fn to_storage(&self) -> Storage {
        Storage { options: self.options.clone(), timeout: self.timeout, ..Storage::default() }
    }
}

impl fmt::Debug for RequestStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_storage().fmt(f)
    }
}

/// A clip, but for its JPEGs and the bytes of its tracks.
type ReplyClip = (ClipInfo, Vec<PackedFrame>, Vec<EncodedTrack>);

/// What was measured of a JPEG: its quality, PSNR and SSIM, as bits, for text would change them.
type ReplyMeasured = (u8, u64, u64);

/// What became of it.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Packed { clips: Vec<ReplyClip>, facts: Box<VideoFacts>, jpegs: u32, measured: Vec<ReplyMeasured> },
    Failed(ClipFailure),
}

pub(crate) fn send<T: Serialize>(out: &mut impl Write, message: &T) -> io::Result<()> {
    send_bytes(out, &serde_json::to_vec(message)?)?;
    out.flush()
}

/// The next message; `None` at the end.
pub(crate) fn receive<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<T>> {
    match receive_bytes(input, MAX_JSON)? {
        Some(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        None => Ok(None),
    }
}

/// What became of a video, as [`pack_one`](super::pack_one) gives it.
pub(crate) type PackedResult = Result<Vec<PackedClip>, ClipFailure>;

pub(crate) fn send_reply(out: &mut impl Write, packed: PackedResult) -> io::Result<()> {
    let (reply, jpegs, tracks) = match packed {
        Ok(mut clips) => {
            // All clips of a video share its JPEGs and facts.
            let shared = clips.first().map(|c| (Arc::clone(&c.jpegs), c.facts.clone(), Arc::clone(&c.measured)));
            let (jpegs, facts, measured) = shared.unwrap_or_default();
            let measured = measured.iter().map(|m| (m.quality, m.scores.psnr.to_bits(), m.scores.ssim.to_bits()));
            // Their bytes come after the JPEGs.
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

/// A whole reply. An error if the process ended or talks nonsense.
pub(crate) fn receive_reply(input: &mut impl Read) -> io::Result<PackedResult> {
    let (mut clips, facts, count, measured) = match receive(input)?.ok_or(io::ErrorKind::UnexpectedEof)? {
        Reply::Packed { clips, facts, jpegs, measured } => (clips, facts, jpegs, measured),
        Reply::Failed(failure) => return Ok(Err(failure)),
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
    let measured = measured.into_iter().map(|(quality, psnr, ssim)| {
        let scores = Scores { psnr: f64::from_bits(psnr), ssim: f64::from_bits(ssim) };
        Measured { quality, scores, took: Duration::ZERO }
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
    Ok(Ok(clips.into_iter().map(clip).collect()))
}

fn send_bytes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)
}

fn receive_bytes(input: &mut impl Read, limit: u32) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if input.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    input.read_exact(&mut length[1..])?;
    let length = u32::from_le_bytes(length);
    if length > limit {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Grows with what comes, whatever was announced.
    let mut bytes = Vec::new();
    if input.take(u64::from(length)).read_to_end(&mut bytes)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::failure::PackStage;
    use super::*;
    use crate::{Track, TrackValues};

    #[test]
    fn what_is_sent_is_received() {
        let info = ClipInfo { source: "a".into(), ..ClipInfo::default() };
        let frames =
            vec![PackedFrame { jpeg: 1, pts: -5, source_index: 7 }, PackedFrame { jpeg: 0, pts: 1, source_index: 8 }];
        let jpegs = Arc::new(vec![vec![1, 2], vec![]]);
        let track = Track { values: TrackValues::U8(vec![5, 6]), name: "t".into(), ..Track::default() };
        let track = track.encode(2).unwrap();
        let scores = Scores { psnr: f64::INFINITY, ssim: 0.1 + 0.2 };
        let measured = Arc::new(vec![Measured { quality: 90, scores, took: Duration::ZERO }]);
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
        assert!(receive_bytes(&mut &b"\xff\xff\xff\xffabc"[..], 100).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn paths_need_not_be_text() {
        use std::os::unix::ffi::OsStringExt;
        let path = std::ffi::OsString::from_vec(vec![b'a', 0xff]).into();
        let (attributes, segment) = (Default::default(), None);
        let job = Job {
            path,
            source: "a".into(),
            label: None,
            class: String::new(),
            segment,
            ordinal: 1,
            attributes,
            fault: None,
            tracks: None,
            episode: None,
        };
        let storage = Some(RequestStorage::of(&Storage::default()));
        let request = Request { job, alone: true, storage, tracks: Vec::new(), channels: Some(2) };
        let mut bytes = Vec::new();
        send(&mut bytes, &request).unwrap();
        assert_eq!(receive::<Request>(&mut bytes.as_slice()).unwrap(), Some(request));
    }
}
