//! The messages between a run and its worker processes: JSON and JPEGs, each preceded by its length, and open files beside them.
//!
//! ```text
//! message := length u32, little endian | bytes
//! worker  := Greeting, then for each Request any number of Asks, then a Reply and the JPEGs and tracks that it announces
//! run     := Request, and for each ResourceRequest a ResourceReply
//! ```

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, IoSlice, IoSliceMut, Read, Stdin, Write};
use std::mem::{MaybeUninit, take};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::cmsg_space;
use rustix::io::retry_on_intr;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::packed::PackedVideo;
use super::stamp::Stamp;
use crate::plan::Job;
use crate::system_path;
use crate::track::PlannedTrack;
use crate::video::{Stage, VideoError};
use vidrec_format::error::Error;
use vidrec_format::json_object::JsonObject;
use vidrec_format::limits;

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
    pub failure: Option<VideoError>,
}

/// A request of a worker while it packs a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum ResourceRequest {
    /// A file that the job names.
    File(OsString),
    /// Room for this many bytes of memory.
    Memory(u64),
}

/// The answer of the run to a [`ResourceRequest`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ResourceReply {
    /// An open file of this length. The file itself goes beside the message.
    File(u64),
    /// The path is not a regular file, or not one of the job.
    NoFile,
    /// A system error.
    SystemError(i32),
    Failed(VideoError),
    /// There is room in memory.
    Memory,
}

/// A message of a worker that packs a video.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Asks(ResourceRequest),
    /// The video, without its JPEGs, of which there are so many, and the bytes of its tracks. They follow.
    Packed(Box<PackedVideo>, u32),
    Failed(VideoError),
}

/// A message that came from a worker.
pub(crate) enum FromWorker {
    Asks(ResourceRequest),
    /// The video is done.
    Packed(Result<Box<PackedVideo>, VideoError>),
}

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
pub(crate) fn send_ask<S: AsFd>(channel: &mut Channel<S>, ask: ResourceRequest) -> io::Result<()> {
    channel.send(&Reply::Asks(ask), None)
}

/// Sends the result of packing a video.
pub(crate) fn send_packed(out: &mut impl Write, packed: Result<PackedVideo, VideoError>) -> io::Result<()> {
    let (reply, following) = match packed {
        Ok(mut video) => {
            let mut following = take(&mut video.jpegs);
            let jpegs = following.len() as u32;
            let tracks = video.clips.iter_mut().flat_map(|clip| &mut clip.tracks);
            following.extend(tracks.map(|track| take(&mut track.bytes)));
            (Reply::Packed(Box::new(video), jpegs), following)
        }
        Err(failure) => (Reply::Failed(failure), Vec::new()),
    };
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
    send_bytes(&mut out, &serde_json::to_vec(&reply)?)?;
    following.iter().try_for_each(|bytes| send_bytes(&mut out, bytes))?;
    out.flush()
}

/// Reads the next message of a worker, of at most `most` bytes.
///
/// Returns an error if the worker has ended or the message is invalid.
pub(crate) fn receive_from_worker(input: &mut impl Read, most: u64) -> io::Result<FromWorker> {
    let input = &mut input.take(most);
    let (mut video, jpegs) = match receive(input)?.ok_or(io::ErrorKind::UnexpectedEof)? {
        Reply::Packed(video, jpegs) => (video, jpegs),
        Reply::Failed(failure) => return Ok(FromWorker::Packed(Err(failure))),
        Reply::Asks(ask) => return Ok(FromWorker::Asks(ask)),
    };
    if video.clips.iter().flat_map(|clip| &clip.frames).any(|frame| frame.jpeg >= jpegs as usize) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    for _ in 0..jpegs {
        video.jpegs.push(receive_bytes(input, limits::MAX_RECORD_BYTES as u32)?.ok_or(io::ErrorKind::UnexpectedEof)?);
    }
    for track in video.clips.iter_mut().flat_map(|clip| &mut clip.tracks) {
        track.bytes = receive_bytes(input, u32::MAX)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    }
    Ok(FromWorker::Packed(Ok(video)))
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

/// A worker's connection to its run, which opens files and shares out memory, because a worker may do neither.
#[derive(Debug)]
pub(crate) struct RunClient(Mutex<BufReader<Channel<Stdin>>>);

impl RunClient {
    /// Connects over standard input, and greets the run.
    pub fn connect(greeting: &Greeting) -> io::Result<Arc<Self>> {
        let mut channel = Channel::new(io::stdin());
        channel.get_mut().send(greeting, None)?;
        Ok(Arc::new(RunClient(Mutex::new(channel))))
    }

    /// Returns the next video to pack; `None` when the run ends.
    pub fn next(&self) -> io::Result<Option<Request>> {
        receive(&mut *self.0.lock())
    }

    /// Returns the result of a video.
    pub fn reply(&self, packed: Result<PackedVideo, VideoError>) -> io::Result<()> {
        send_packed(self.0.lock().get_mut(), packed)
    }

    /// Waits until there is room for this many bytes of memory.
    pub fn reserve(&self, bytes: u64) {
        // If the run has ended, this process ends too.
        let _ = self.ask(ResourceRequest::Memory(bytes));
    }

    /// Returns an open file that the job names, and its length; `None` if it is not a regular file.
    pub fn file(&self, path: &Path) -> Result<io::Result<Option<(File, u64)>>, VideoError> {
        let unexpected = |answer| io::Error::new(io::ErrorKind::InvalidData, format!("the run answered {answer:?}"));
        Ok(match self.ask(ResourceRequest::File(path.into())) {
            Ok((ResourceReply::File(length), Some(file))) => Ok(Some((file, length))),
            // The file did arrive, but this process may not have more files open.
            Ok((ResourceReply::File(_), None)) => Err(io::Error::from_raw_os_error(libc::EMFILE)),
            Ok((ResourceReply::NoFile, _)) => Ok(None),
            Ok((ResourceReply::SystemError(code), _)) => Err(io::Error::from_raw_os_error(code)),
            Ok((ResourceReply::Failed(failure), _)) => return Err(failure),
            Ok((answer @ ResourceReply::Memory, _)) => Err(unexpected(answer)),
            Err(e) => {
                return Err(VideoError::new(Stage::Open, Error::io("ask the run", "standard input", e)));
            }
        })
    }

    fn ask(&self, ask: ResourceRequest) -> io::Result<(ResourceReply, Option<File>)> {
        let mut channel = self.0.lock();
        send_ask(channel.get_mut(), ask)?;
        let answer = receive(&mut *channel)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let file = matches!(answer, ResourceReply::File(_)).then(|| channel.get_mut().take_file()).flatten();
        Ok((answer, file))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Seek;

    use super::*;
    use crate::video::VideoFacts;
    use crate::work::packed::{PackedClip, PackedFrame};
    use vidrec_core::dataset::writer::{ClipInfo, Track, TrackValues};

    fn receive_reply(input: &mut impl Read) -> io::Result<Result<PackedVideo, VideoError>> {
        match receive_from_worker(input, u64::MAX)? {
            FromWorker::Packed(packed) => Ok(packed.map(|video| *video)),
            FromWorker::Asks(ask) => panic!("{ask:?}"),
        }
    }

    #[test]
    fn what_is_sent_is_received() {
        let info = ClipInfo { source: "a".into(), ..ClipInfo::default() };
        let frames =
            vec![PackedFrame { jpeg: 1, pts: -5, source_index: 7 }, PackedFrame { jpeg: 0, pts: 1, source_index: 8 }];
        let track = Track { values: TrackValues::U8(vec![5, 6]), name: "t".into(), ..Track::default() };
        let track = track.encode(2).unwrap();
        let draw = |draw: u32| PackedClip {
            info: ClipInfo { label: Some(draw), ..info.clone() },
            frames: frames.clone(),
            tracks: vec![track.clone()],
        };
        let (jpegs, psnr) = (vec![vec![1, 2], vec![]], vec![0.1 + 0.2]);
        let (clips, facts) = (vec![draw(3), draw(4)], VideoFacts::default());
        let mut bytes = Vec::new();
        let video = PackedVideo { clips, jpegs: jpegs.clone(), psnr: psnr.clone(), facts };
        send_packed(&mut bytes, Ok(video)).unwrap();
        let failure = VideoError { is_lost: true, ..VideoError::new(Stage::Open, Error::decode("no")) };
        send_packed(&mut bytes, Err(failure)).unwrap();
        let mut input = bytes.as_slice();
        let video = receive_reply(&mut input).unwrap().unwrap();
        let clips = &video.clips;
        assert_eq!((clips.len(), clips[0].info.label, clips[1].info.label), (2, Some(3), Some(4)));
        assert_eq!((&clips[1].tracks, &video.psnr, &video.jpegs), (&vec![track], &psnr, &jpegs));
        assert_eq!((clips[1].frames[0].pts, clips[1].frames[1].source_index), (-5, 8));
        let failure = receive_reply(&mut input).unwrap().err().unwrap();
        assert_eq!((failure.stage, &*failure.message, failure.is_lost), (Stage::Open, "no", true));
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
