//! The messages between a run and its worker processes: JSON and JPEGs, each preceded by its length, and open files beside them.
//!
//! ```text
//! message := length u32, little endian | bytes
//! worker  := Greeting, then for each Request any number of Asks, then a Reply and the JPEGs and tracks that it announces
//! run     := Request, and for each Ask an Answer
//! ```

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, IoSlice, IoSliceMut, Read, Write};
use std::mem::{MaybeUninit, take};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::cmsg_space;
use rustix::io::retry_on_intr;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::packed::{PackedClip, PackedFrame};
use super::stamp::Stamp;
use crate::plan::Job;
use crate::system_path;
use crate::track::PlannedTrack;
use crate::video::{Stage, VideoError, VideoFacts};
use vidrec_core::dataset::writer::{ClipInfo, EncodedTrack};
use vidrec_format::error::Error;
use vidrec_format::json_object::JsonObject;
use vidrec_format::limits;
use vidrec_format::machine::Shortage;
use vidrec_jpeg::{Measured, Scores};

/// The number of bytes that are read or written at a time, if there are that many.
const BUFFER_BYTES: usize = 256 << 10;

/// The longest JSON message.
const MAX_JSON: u32 = 256 << 20;

/// The versions and the settings of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub tool: String,
    pub ffmpeg: String,
    pub settings: JsonObject,
}

/// The first message of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    pub setup: Setup,
    /// Why the process is not confined; `None` if it is.
    pub unconfined: Option<String>,
}

/// The request to pack a video.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Request {
    pub job: Job,
    /// The folders of images that the job names.
    pub folders: Vec<PictureFolder>,
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

/// A folder of images, which a worker may not list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PictureFolder {
    #[serde(with = "system_path")]
    pub path: PathBuf,
    #[serde(with = "system_path::several")]
    pub pictures: Vec<PathBuf>,
    /// Why the folder could not be listed.
    pub failure: Option<FailureMessage>,
}

/// A request of a worker while it packs a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// A file that the job names.
    File(OsString),
    /// Room for this many bytes of memory.
    Memory(u64),
}

/// The answer of the run to an [`Ask`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// An open file of this length. The file itself goes beside the message.
    File(u64),
    /// The path is not a regular file, or not one of the job.
    NoFile,
    /// A system error.
    SystemError(i32),
    Failed(FailureMessage),
    /// There is room in memory.
    Memory,
}

/// Why a video has no clip.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FailureMessage {
    stage: Stage,
    message: String,
    shortage: Option<Shortage>,
    is_lost: bool,
}

impl From<&VideoError> for FailureMessage {
    fn from(e: &VideoError) -> Self {
        FailureMessage { stage: e.stage, message: e.message(), shortage: e.shortage(), is_lost: e.is_lost }
    }
}

impl From<FailureMessage> for VideoError {
    fn from(FailureMessage { stage, message, shortage, is_lost }: FailureMessage) -> Self {
        VideoError { is_lost, ..VideoError::new(stage, Error::decode("")).reworded(message, shortage) }
    }
}

/// The measurements of a JPEG: its quality, PSNR, SSIM, PSNR of RGB, and the nanoseconds that measuring took. PSNR and SSIM
/// are the bits of the numbers, because text would change them.
type MeasuredBits = (u8, u64, u64, Option<u64>, u64);

/// A message of a worker that packs a video.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Asks(Ask),
    /// The clips, without their JPEGs and the bytes of their tracks, which follow.
    Packed {
        clips: Vec<(ClipInfo, Vec<PackedFrame>, Vec<EncodedTrack>)>,
        facts: Box<VideoFacts>,
        jpegs: u32,
        measured: Vec<MeasuredBits>,
    },
    Failed(FailureMessage),
}

/// A message that came from a worker.
pub(crate) enum FromWorker {
    Asks(Ask),
    /// The video is done.
    Packed(PackResult),
}

/// The result of packing a video.
pub(crate) type PackResult = Result<Vec<PackedClip>, VideoError>;

/// One end of the socket between a run and a worker.
#[derive(Debug)]
pub(crate) struct Channel<S = UnixStream> {
    socket: S,
    /// The files that arrived, in order.
    files: VecDeque<File>,
    /// When a read has to be done; `None` to wait as long as it takes.
    pub deadline: Option<Instant>,
}

impl Channel {
    /// Creates the end of a run, and the socket of the worker.
    pub fn pair() -> io::Result<(BufReader<Self>, OwnedFd)> {
        let (here, there) = UnixStream::pair()?;
        // A process that does not read must not block the run.
        here.set_write_timeout(Some(Duration::from_secs(60)))?;
        Ok((Channel::new(here), there.into()))
    }
}

impl<S: AsFd> Channel<S> {
    pub fn new(socket: S) -> BufReader<Self> {
        let channel = Channel { socket, files: VecDeque::new(), deadline: None };
        BufReader::with_capacity(BUFFER_BYTES, channel)
    }

    /// Takes the first file that arrived and was not yet taken.
    pub fn take_file(&mut self) -> Option<File> {
        self.files.pop_front()
    }

    /// Sends a message in one piece, and an open file beside it.
    pub fn send<T: Serialize>(&mut self, message: &T, file: Option<&File>) -> io::Result<()> {
        let mut bytes = Vec::new();
        send_bytes(&mut bytes, &serde_json::to_vec(message)?)?;
        let sent = file.map_or(Ok(0), |file| self.send_file(&bytes, file))?;
        self.write_all(&bytes[sent..])
    }

    /// Sends the first of some bytes together with a file. Returns the number of these bytes.
    fn send_file(&mut self, bytes: &[u8], file: &File) -> io::Result<usize> {
        let files = [file.as_fd()];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        // The buffer has room for one.
        beside.push(SendAncillaryMessage::ScmRights(&files));
        Ok(retry_on_intr(|| sendmsg(&self.socket, &[IoSlice::new(bytes)], &mut beside, SendFlags::empty()))?)
    }
}

impl<S: AsFd> Read for Channel<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            set_socket_timeout(&self.socket, Timeout::Recv, Some(left))?;
        }
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let read = match recvmsg(&self.socket, &mut [IoSliceMut::new(buffer)], &mut beside, RecvFlags::empty()) {
            Err(rustix::io::Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            read => read?.bytes,
        };
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files.map(File::from));
            }
        }
        Ok(read)
    }
}

impl<S: AsFd> Write for Channel<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(&self.socket, bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the next message; `None` at the end.
pub(crate) fn receive<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<T>> {
    receive_bytes(input, MAX_JSON)?.map(|bytes| Ok(serde_json::from_slice(&bytes)?)).transpose()
}

/// Asks the run for something.
pub(crate) fn send_ask<S: AsFd>(channel: &mut Channel<S>, ask: Ask) -> io::Result<()> {
    channel.send(&Reply::Asks(ask), None)
}

/// Sends the result of packing a video.
pub(crate) fn send_packed(out: &mut impl Write, packed: PackResult) -> io::Result<()> {
    let (reply, jpegs, tracks) = match packed {
        Ok(mut clips) => {
            // All clips of a video share its JPEGs and facts.
            let shared = clips.first().map(|c| (Arc::clone(&c.jpegs), c.facts.clone(), Arc::clone(&c.measured)));
            let (jpegs, facts, measured) = shared.unwrap_or_default();
            let measured = measured.iter().map(|m| {
                let took = u64::try_from(m.took.as_nanos()).unwrap_or(u64::MAX);
                (m.quality, m.scores.psnr.to_bits(), m.scores.ssim.to_bits(), m.rgb_psnr.map(f64::to_bits), took)
            });
            let tracks: Vec<Vec<u8>> =
                clips.iter_mut().flat_map(|c| &mut c.tracks).map(|t| take(&mut t.bytes)).collect();
            let clips = clips.into_iter().map(|clip| (clip.info, clip.frames, clip.tracks)).collect();
            let (facts, measured) = (Box::new(facts), measured.collect());
            (Reply::Packed { clips, facts, jpegs: jpegs.len() as u32, measured }, jpegs, tracks)
        }
        Err(failure) => (Reply::Failed((&failure).into()), Arc::default(), Vec::new()),
    };
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
    send_bytes(&mut out, &serde_json::to_vec(&reply)?)?;
    jpegs.iter().chain(&tracks).try_for_each(|bytes| send_bytes(&mut out, bytes))?;
    out.flush()
}

/// Reads the next message of a worker, of at most `most` bytes.
///
/// Returns an error if the worker has ended or the message is invalid.
pub(crate) fn receive_from_worker(input: &mut impl Read, most: u64) -> io::Result<FromWorker> {
    let input = &mut input.take(most);
    let (mut clips, facts, count, measured) = match receive(input)?.ok_or(io::ErrorKind::UnexpectedEof)? {
        Reply::Packed { clips, facts, jpegs, measured } => (clips, facts, jpegs, measured),
        Reply::Failed(failure) => return Ok(FromWorker::Packed(Err(failure.into()))),
        Reply::Asks(ask) => return Ok(FromWorker::Asks(ask)),
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
    Ok(FromWorker::Packed(Ok(clips.into_iter().map(clip).collect())))
}

fn send_bytes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)
}

fn receive_bytes(input: &mut impl Read, limit: u32) -> io::Result<Option<Vec<u8>>> {
    let mut length = Vec::with_capacity(4);
    if input.take(4).read_to_end(&mut length)? == 0 {
        return Ok(None);
    }
    let length = <[u8; 4]>::try_from(length).map_err(|_| io::ErrorKind::UnexpectedEof)?;
    let length = u32::from_le_bytes(length);
    if length > limit {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // The buffer grows beyond this only with bytes that arrive, whatever length was announced.
    let mut bytes = Vec::with_capacity((length as usize).min(BUFFER_BYTES));
    if input.take(length.into()).read_to_end(&mut bytes)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Seek;

    use super::*;
    use vidrec_core::dataset::writer::{Track, TrackValues};

    fn receive_reply(input: &mut impl Read) -> io::Result<PackResult> {
        match receive_from_worker(input, u64::MAX)? {
            FromWorker::Packed(packed) => Ok(packed),
            FromWorker::Asks(ask) => panic!("{ask:?}"),
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
        send_packed(&mut bytes, Ok(vec![draw(3), draw(4)])).unwrap();
        let failure = VideoError { is_lost: true, ..VideoError::new(Stage::Open, Error::decode("no")) };
        send_packed(&mut bytes, Err(failure)).unwrap();
        let mut input = bytes.as_slice();
        let clips = receive_reply(&mut input).unwrap().unwrap();
        assert_eq!((clips.len(), clips[0].info.label, clips[1].info.label), (2, Some(3), Some(4)));
        assert_eq!(clips[1].tracks, [track]);
        assert_eq!(clips[1].measured, measured);
        assert_eq!((&clips[1].jpegs, clips[1].frames[0].pts, clips[1].frames[1].source_index), (&jpegs, -5, 8));
        let failure = receive_reply(&mut input).unwrap().err().unwrap();
        assert_eq!((failure.stage, failure.message(), failure.is_lost), (Stage::Open, "no".into(), true));
        assert!(receive_reply(&mut input).is_err(), "the end");
        for cut in 0..bytes.len() {
            let mut input = &bytes[..cut];
            while receive_reply(&mut input).is_ok() {}
        }
        assert!(receive_from_worker(&mut bytes.as_slice(), 20).is_err(), "more than may come");
        assert!(receive_bytes(&mut &b"\xff\xff\xff\xffabc"[..], 100).is_err());
    }

    #[test]
    fn files_come_in_their_order_whatever_is_read_at_a_time() {
        let (mut here, there) = Channel::pair().unwrap();
        for i in 0..5u8 {
            let mut file = (i % 2 == 0).then(|| tempfile::tempfile().unwrap());
            if let Some(file) = &mut file {
                file.write_all(&[i; 3]).unwrap();
                file.rewind().unwrap();
            }
            here.get_mut().send(&[i; 10], file.as_ref()).unwrap();
        }
        drop(here);
        let mut receiver = Channel::new(UnixStream::from(there));
        let messages = std::iter::from_fn(|| receive::<[u8; 10]>(&mut receiver).unwrap());
        assert_eq!(messages.map(|message| message[0]).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        for i in [0u8, 2, 4] {
            let mut content = Vec::new();
            receiver.get_mut().take_file().unwrap().read_to_end(&mut content).unwrap();
            assert_eq!(content, [i; 3]);
        }
        assert!(receiver.get_mut().take_file().is_none());
    }
}
