//! Opening a file and choosing the stream. Nothing but the one file is ever opened.
//!
//! FFmpeg reads through a Rust [`File`] and is not told the file's name, so no name can be taken for a URL, an option or
//! a pattern, and the container is known by content alone. No protocol is allowed, so a playlist cannot open others.

use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ffmpeg_next::format::context::{self, StreamIo};
use ffmpeg_next::format::stream::Disposition;
use ffmpeg_next::{Dictionary, Packet, Stream, codec, ffi, format, media, packet};

use crate::Error;
use crate::machine::Shortage;

use super::clock::{self, Moment};
use super::log::{self, Heard};
use super::{Stage, VideoError};

/// Bytes that FFmpeg asks the file for at a time.
const READ_BYTES: usize = 128 << 10;

/// An opened container with its video stream chosen, and all others discarded.
pub(super) struct Input {
    context: context::Input,
    stream: usize,
    deadline: Instant,
    file_bytes: u64,
    failure: Failure,
    heard: Heard,
}

/// What the container says about the video stream.
pub(super) struct StreamInfo {
    pub parameters: codec::Parameters,
    pub codec: &'static str,
    /// The four bytes by which the container names the codec; zeros where it does not.
    pub tag: [u8; 4],
    pub container: String,
    pub time_base: (u32, u32),
    /// Where a player's clock shows 0.
    pub player_zero: Moment,
    /// Frames per second as numerator and denominator; 0 when unknown.
    pub frame_rate: (i32, i32),
    pub claimed_frames: Option<u64>,
    pub claimed_seconds: Option<f64>,
    pub sar: (u32, u32),
    pub display_matrix: Option<[i32; 9]>,
    /// Pictures that the decoder will hold back to bring them into order, where it does not know that for sure from the
    /// stream: FFmpeg guesses it for H.264, and loses pictures that come later than that.
    pub reorder: Option<usize>,
    /// Width, height and bits a pixel of the pictures as the container has them; 24 bits if it does not say.
    pub picture: (u32, u32, u32),
}

/// What reading on gives.
pub(super) enum Next {
    /// A packet of the video stream.
    Packet(Packet),
    /// The end, with FFmpeg's error if it is not a clean one.
    End(Option<ffmpeg_next::Error>),
}

impl Input {
    pub fn open(path: &Path, deadline: Instant) -> Result<Self, VideoError> {
        let (file, failure) = Source::open(path)?;
        let file_bytes = file.bytes;
        let io = StreamIo::from_read_seek_with_capacity(file, READ_BYTES).map_err(|e| open_error(&e, None))?;
        let mut options = Dictionary::new();
        // No protocol has this name, so whatever a demuxer wants to open is refused.
        options.set("protocol_whitelist", "none");
        // Checksums that a demuxer compares only if it is asked to.
        options.set("err_detect", "crccheck");
        let late = move || Instant::now() >= deadline;
        let (opened, said) = log::listen(|| format::input_from_stream_with_interrupt(io, None, Some(options), late));
        failure.check(Stage::Open)?;
        let mut context = match opened {
            Ok(context) => context,
            Err(_) if late() => return Err(timeout("opening")),
            Err(e) => return Err(open_error(&e, said.first.as_deref())),
        };
        let mut heard = Heard::default();
        heard.add(said, "opening");
        let stream = choose_stream(&context)?;
        discard_others(&mut context, stream);
        Ok(Input { context, stream, deadline, file_bytes, failure, heard })
    }

    /// Length of the file when it was opened.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// What FFmpeg logged as errors while the file was opened and read, so far.
    pub fn heard(&self) -> &Heard {
        &self.heard
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    pub fn stream_info(&self) -> Result<StreamInfo, VideoError> {
        let gone = || VideoError::new(Stage::Stream, Error::decode("the video stream vanished"));
        let stream = self.context.stream(self.stream).ok_or_else(gone)?;
        let time_base = stream.time_base();
        let unsigned = |v: i32| u32::try_from(v).unwrap_or(0);
        let parameters = stream.parameters();
        // SAFETY: `parameters` keeps the context alive, and these are plain fields of it.
        let (own_sar, of_codec) = unsafe { ((*stream.as_ptr()).sample_aspect_ratio, &*parameters.as_ptr()) };
        let sar = if own_sar.num > 0 { own_sar } else { of_codec.sample_aspect_ratio };
        Ok(StreamInfo {
            codec: parameters.id().name(),
            tag: of_codec.codec_tag.to_le_bytes(),
            // A copy of its own: the original keeps the file open.
            parameters: parameters.clone(),
            container: self.context.format().name().to_owned(),
            time_base: (unsigned(time_base.numerator()).max(1), unsigned(time_base.denominator()).max(1)),
            player_zero: clock::player_zero(&self.context, &stream),
            frame_rate: (stream.avg_frame_rate().numerator(), stream.avg_frame_rate().denominator()),
            claimed_frames: u64::try_from(stream.frames()).ok().filter(|&n| n > 0),
            claimed_seconds: super::claims::claimed_seconds(&self.context, &stream),
            sar: (unsigned(sar.num), unsigned(sar.den)),
            display_matrix: stream
                .side_data()
                .find(|d| d.kind() == packet::side_data::Type::DisplayMatrix)
                .and_then(|d| matrix_from_bytes(d.data())),
            reorder: (parameters.id() == codec::Id::H264).then_some(usize::try_from(of_codec.video_delay).unwrap_or(0)),
            picture: (unsigned(of_codec.width), unsigned(of_codec.height), bits_per_pixel(of_codec.format)),
        })
    }

    /// Reads on to the next packet of the video stream.
    ///
    /// A broken packet does not end the file for FFmpeg: demuxers find their way again where they can. What
    /// `av_read_frame` returns as an error is final, as it is for the `ffmpeg` program.
    pub fn next(&mut self) -> Result<Next, VideoError> {
        loop {
            if Instant::now() >= self.deadline {
                return Err(timeout("reading"));
            }
            let mut packet = Packet::empty();
            let (read, said) = log::listen(|| packet.read(&mut self.context));
            self.heard.add(said, "reading");
            match read {
                Ok(()) if packet.stream() == self.stream => return Ok(Next::Packet(packet)),
                Ok(()) => {}
                Err(ffmpeg_next::Error::Other { errno }) if errno == ffmpeg_next::error::EAGAIN => {}
                Err(ffmpeg_next::Error::Exit) => return Err(timeout("reading")),
                Err(e) => {
                    self.failure.check(Stage::Decode)?;
                    if shortage(&e).is_some() {
                        return Err(VideoError::new(Stage::Decode, ffmpeg_error("reading broke off", &e)));
                    }
                    return Ok(Next::End((e != ffmpeg_next::Error::Eof).then_some(e)));
                }
            }
        }
    }
}

/// Bits that a pixel takes in memory, over all planes, in a pixel format of FFmpeg's; 24 if it is none.
fn bits_per_pixel(format: c_int) -> u32 {
    if !(0..ffi::AVPixelFormat::AV_PIX_FMT_NB as c_int).contains(&format) {
        return 24;
    }
    // SAFETY: AVPixelFormat is a C enum of the range just checked, without holes below AV_PIX_FMT_NB.
    let format = unsafe { std::mem::transmute::<c_int, ffi::AVPixelFormat>(format) };
    // SAFETY: the call takes any format; a non-null result points to a static table.
    let bits = unsafe {
        let description = ffi::av_pix_fmt_desc_get(format);
        if description.is_null() { 0 } else { ffi::av_get_padded_bits_per_pixel(description) }
    };
    u32::try_from(bits).ok().filter(|&bits| bits > 0).unwrap_or(24)
}

/// The 36 bytes of FFmpeg's display matrix side data, in native order.
pub(super) fn matrix_from_bytes(data: &[u8]) -> Option<[i32; 9]> {
    let (words, _) = data.as_chunks::<4>();
    let words: &[[u8; 4]; 9] = words.get(..9)?.try_into().ok()?;
    Some(words.map(i32::from_ne_bytes))
}

pub(super) fn timeout(doing: &str) -> VideoError {
    let error =
        Error::limit(format!("the time ran out while {doing}")).help("raise the timeout if the video is this long");
    VideoError::new(Stage::Timeout, error)
}

/// An error of FFmpeg's; where the machine has not enough of something, that is the error.
pub(super) fn ffmpeg_error(what: &str, e: &ffmpeg_next::Error) -> Error {
    Error::decode(format!("{what}: {e}")).short_of(shortage(e))
}

/// What the machine has not enough of, if that is the error.
pub(super) fn shortage(e: &ffmpeg_next::Error) -> Option<Shortage> {
    match e {
        ffmpeg_next::Error::Other { errno } => Shortage::of(&io::Error::from_raw_os_error(*errno)),
        _ => None,
    }
}

fn open_error(e: &ffmpeg_next::Error, said: Option<&str>) -> VideoError {
    let said = said.map(|said| format!(" ({said})")).unwrap_or_default();
    VideoError::new(Stage::Open, ffmpeg_error(&format!("FFmpeg cannot open it as a video{said}"), e))
}

/// The stream that FFmpeg likes best, unless that is a cover picture and there is a real video.
fn choose_stream(context: &context::Input) -> Result<usize, VideoError> {
    let is_cover = |s: &Stream| s.disposition().contains(Disposition::ATTACHED_PIC);
    if let Some(best) = context.streams().best(media::Type::Video)
        && !is_cover(&best)
    {
        return Ok(best.index());
    }
    let mut videos = context.streams().filter(|s| s.parameters().medium() == media::Type::Video).peekable();
    let only_covers = videos.peek().is_some();
    match videos.find(|s| !is_cover(s)) {
        Some(stream) => Ok(stream.index()),
        None => {
            let what = if only_covers { "no video stream, only a cover picture" } else { "no video stream" };
            let kinds: Vec<_> = context.streams().map(|s| s.parameters().id().name()).collect();
            let error = Error::decode(what).found(format!("{} stream(s): [{}]", kinds.len(), kinds.join(", ")));
            Err(VideoError::new(Stage::Stream, error))
        }
    }
}

fn discard_others(context: &mut context::Input, keep: usize) {
    for index in (0..context.nb_streams() as usize).filter(|&i| i != keep) {
        // SAFETY: `index` is below `nb_streams`, so the pointer is a live stream of this context, which we borrow
        // mutably; `discard` is meant to be set by the caller.
        unsafe { (**(*context.as_mut_ptr()).streams.add(index)).discard = ffi::AVDiscard::AVDISCARD_ALL };
    }
}

/// The operating system's own error, kept beside FFmpeg, which would make a broken disk look like a broken video.
#[derive(Clone, Default)]
struct Failure(Arc<Mutex<Option<(io::Error, std::path::PathBuf)>>>);

impl Failure {
    fn check(&self, stage: Stage) -> Result<(), VideoError> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((e, path)) => Err(VideoError::new(stage, Error::io("read the video", path, e))),
            None => Ok(()),
        }
    }
}

/// The file that FFmpeg reads, which remembers the first error of the operating system.
struct Source {
    file: File,
    bytes: u64,
    path: std::path::PathBuf,
    failure: Failure,
}

impl Source {
    fn open(path: &Path) -> Result<(Self, Failure), VideoError> {
        let io = |e| VideoError::new(Stage::Open, Error::io("open the video", path, e));
        // Asked before opening, because opening a named pipe waits for its writer.
        let meta = std::fs::metadata(path).map_err(io)?;
        if !meta.is_file() {
            return Err(VideoError::new(Stage::Open, Error::usage("not a regular file")));
        }
        let mut file = File::open(path).map_err(io)?;
        refuse_playlist(&mut file).map_err(io)??;
        let failure = Failure::default();
        Ok((Source { file, bytes: meta.len(), path: path.to_owned(), failure: failure.clone() }, failure))
    }

    fn note(&self, e: io::Error) -> io::Error {
        let for_ffmpeg = e.raw_os_error().map_or_else(|| e.kind().into(), io::Error::from_raw_os_error);
        if e.kind() != io::ErrorKind::Interrupted {
            let mut slot = self.failure.0.lock().unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert_with(|| (e, self.path.clone()));
        }
        for_ffmpeg
    }
}

impl Read for Source {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.file.read(buf).map_err(|e| self.note(e))
    }
}

impl Seek for Source {
    /// A demuxer may ask for places that do not exist; that is its own affair and no failure of the disk.
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        self.file.seek(pos)
    }
}

/// Says clearly what a playlist is, which FFmpeg would only fail to follow: the protocols that it needs are closed.
fn refuse_playlist(file: &mut File) -> io::Result<Result<(), VideoError>> {
    const STARTS: [(&[u8], &str); 5] = [
        (b"#EXTM3U", "an HLS playlist"),
        (b"ffconcat version", "an FFmpeg concat list"),
        (b"v=0\n", "an SDP session description"),
        (b"v=0\r\n", "an SDP session description"),
        (b"[playlist]", "a playlist"),
    ];
    let mut start = [0; 1024];
    let mut len = 0;
    while len < start.len() {
        match file.read(&mut start[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    file.rewind()?;
    let start = &start[..len];
    let dash = start.starts_with(b"<") && start.windows(4).any(|w| w == b"<MPD");
    let what = STARTS.iter().find(|(s, _)| start.starts_with(s)).map(|&(_, what)| what);
    Ok(match what.or(dash.then_some("a DASH manifest")) {
        Some(what) => {
            let error =
                Error::decode(format!("{what}, which would open other files")).help("name the media files themselves");
            Err(VideoError::new(Stage::Open, error))
        }
        None => Ok(()),
    })
}
