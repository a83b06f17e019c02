//! Opens a file and chooses the stream. FFmpeg never opens another file.
//!
//! FFmpeg reads through a Rust [`VideoSource`](super::source::VideoSource) and never learns the file's name. It
//! therefore cannot take a name for a URL, an option or a pattern, and it recognizes the container by content
//! alone. No protocol is allowed, so a playlist cannot open other files.

use std::io::Seek;
use std::sync::Arc;
use std::time::Instant;

use ffmpeg_next::format::context::{self, StreamIo};
use ffmpeg_next::format::stream::Disposition;
use ffmpeg_next::packet::side_data;
use ffmpeg_next::{Dictionary, Packet, Stream, codec, ffi, format, media};
use parking_lot::Mutex;

use super::source::{ReadFailure, VideoFile, unknown};
use super::stream::{StreamInfo, encryption, matrix_from_exif};
use crate::video::error::{Stage, VideoError, encrypted, ffmpeg_error, shortage, timeout};
use crate::video::ffmpeg;
use crate::video::ffmpeg::LoggedErrors;
use vidrec_format::error::Error;

/// The number of bytes that FFmpeg reads from the file at a time.
const READ_BYTES: usize = 128 << 10;

/// When reading a file has to be done. An open file that is read for several clips gets a new time for each.
#[derive(Debug, Clone)]
pub(crate) struct Deadline(Arc<Mutex<Instant>>);

impl Deadline {
    pub fn new(at: Instant) -> Self {
        Deadline(Arc::new(Mutex::new(at)))
    }

    pub fn at(&self) -> Instant {
        *self.0.lock()
    }

    pub fn set(&self, at: Instant) {
        *self.0.lock() = at;
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.at()
    }
}

/// An open container. Its video stream is chosen, and all others are discarded.
pub(crate) struct Input {
    context: context::Input,
    stream: usize,
    deadline: Deadline,
    file_bytes: u64,
    failure: ReadFailure,
    logged: LoggedErrors,
    /// The EXIF data of a PNG or WebP picture. FFmpeg says the same of a JPEG, with each frame.
    display_matrix: Option<[i32; 9]>,
}

/// The result of the next read.
pub(crate) enum NextPacket {
    /// A packet of the video stream.
    Packet(Packet),
    /// The end, with FFmpeg's error unless the end is clean.
    End(Option<ffmpeg_next::Error>),
}

impl Input {
    /// Opens a file and chooses its video stream.
    pub fn open(file: &VideoFile, deadline: &Deadline) -> Result<Self, VideoError> {
        let mut input = Input::open_any(file, deadline)?;
        let stream = choose_stream(&input.context)?;
        input.choose(stream)?;
        Ok(input)
    }

    /// Opens a file and chooses the audio stream that FFmpeg ranks first; returns `None` if it has none.
    pub fn open_audio(file: &VideoFile, deadline: Instant) -> Result<Option<Self>, VideoError> {
        let mut input = Input::open_any(file, &Deadline::new(deadline))?;
        let best = input.context.streams().best(media::Type::Audio).map(|stream| stream.index());
        best.map(|stream| input.choose(stream).map(|()| input)).transpose()
    }

    /// Chooses a stream, unless it is encrypted.
    fn choose(&mut self, stream: usize) -> Result<(), VideoError> {
        self.stream = stream;
        discard_others(&mut self.context, stream);
        // FFmpeg reads neither fragments nor tracks whose encryption it cannot follow, and says so as it opens the file.
        const LOGGED: [&str; 4] = ["saio", "saiz", "senc", "Unsupported encoding type"];
        let logged = self.logged.first.clone().filter(|text| LOGGED.iter().any(|word| text.contains(word)));
        let how = self.context.stream(stream).and_then(|stream| encryption(&stream)).or(logged);
        how.map_or(Ok(()), |how| Err(self.refuse_encrypted(&how)))
    }

    fn refuse_encrypted(&self, how: &str) -> VideoError {
        let medium = self.context.stream(self.stream).map(|stream| stream.parameters().medium());
        encrypted(medium == Some(media::Type::Audio), how)
    }

    fn open_any(file: &VideoFile, deadline: &Deadline) -> Result<Self, VideoError> {
        let mut source = file.open()?;
        let start = source.refuse_others()?;
        let display_matrix = vidrec_jpeg::png_or_webp_exif(&mut source).and_then(|exif| matrix_from_exif(&exif));
        let _ = source.rewind();
        source.failure.check(Stage::Open)?;
        let (file_bytes, failure) = (source.bytes, source.failure.clone());
        let io = StreamIo::from_read_seek_with_capacity(source, READ_BYTES).map_err(|e| open_error(&e, None))?;
        let mut options = Dictionary::new();
        // No protocol has this name, so FFmpeg refuses everything that a demuxer tries to open.
        options.set("protocol_whitelist", "none");
        // Demuxers compare these checksums only on request.
        options.set("err_detect", "crccheck");
        let (deadline, interrupt) = (deadline.clone(), deadline.clone());
        let late = move || interrupt.is_over();
        let (opened, said) =
            ffmpeg::collect_errors(|| format::input_from_stream_with_interrupt(io, None, Some(options), late));
        failure.check(Stage::Open)?;
        let context = match opened {
            Ok(context) => context,
            Err(_) if deadline.is_over() => return Err(timeout("opening")),
            Err(e) => return Err(other_kind(&start).unwrap_or_else(|| open_error(&e, said.first.as_deref()))),
        };
        // This demuxer hands the whole file to a decoder that knows single pictures.
        if let (true, Some(e)) = (context.format().name() == "webp_pipe", other_kind(&start)) {
            return Err(e);
        }
        let mut logged = LoggedErrors::default();
        logged.add(said, "opening");
        Ok(Input { context, stream: 0, deadline, file_bytes, failure, logged, display_matrix })
    }

    /// Returns the length of the file when it was opened.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Returns the errors that FFmpeg has logged so far while it opened and read the file.
    pub fn logged(&self) -> &LoggedErrors {
        &self.logged
    }

    pub fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    fn stream(&self) -> Result<Stream<'_>, VideoError> {
        let gone = || VideoError::new(Stage::Stream, Error::decode("the stream vanished"));
        self.context.stream(self.stream).ok_or_else(gone)
    }

    pub fn stream_info(&self) -> Result<StreamInfo, VideoError> {
        let stream = self.stream()?;
        let info = StreamInfo::of(&self.context, &stream);
        Ok(StreamInfo { display_matrix: info.display_matrix.or(self.display_matrix), ..info })
    }

    /// Returns the decoder parameters and the time base that the container states for the audio stream.
    pub fn audio_info(&self) -> Result<(codec::Parameters, (u32, u32)), VideoError> {
        let stream = self.stream()?;
        let unsigned = |v: i32| u32::try_from(v).unwrap_or(0).max(1);
        let unit = stream.time_base();
        // This is a copy, because the original keeps the file open.
        Ok((stream.parameters().clone(), (unsigned(unit.numerator()), unsigned(unit.denominator()))))
    }

    /// Reads the next packet of the chosen stream.
    ///
    /// A broken packet does not end the file: FFmpeg's demuxers resynchronize if they can. An error from
    /// `av_read_frame` is final, as it is for the `ffmpeg` program.
    pub fn next(&mut self) -> Result<NextPacket, VideoError> {
        loop {
            if self.deadline.is_over() {
                return Err(timeout("reading"));
            }
            let mut packet = Packet::empty();
            let (read, said) = ffmpeg::collect_errors(|| packet.read(&mut self.context));
            self.logged.add(said, "reading");
            match read {
                Ok(()) if packet.stream() == self.stream => {
                    return match is_encrypted(&packet) {
                        true => Err(self.refuse_encrypted("packets with vectors of Common Encryption")),
                        false => Ok(NextPacket::Packet(packet)),
                    };
                }
                Ok(()) => {}
                Err(ffmpeg_next::Error::Other { errno }) if errno == ffmpeg_next::error::EAGAIN => {}
                Err(ffmpeg_next::Error::Exit) => return Err(timeout("reading")),
                Err(e) => {
                    self.failure.check(Stage::Decode)?;
                    if shortage(&e).is_some() {
                        return Err(VideoError::new(Stage::Decode, ffmpeg_error("reading broke off", &e, None)));
                    }
                    return Ok(NextPacket::End((e != ffmpeg_next::Error::Eof).then_some(e)));
                }
            }
        }
    }
}

/// Whether FFmpeg says how to decrypt the packet.
fn is_encrypted(packet: &Packet) -> bool {
    packet.side_data().any(|data| data.kind() == side_data::Type::EncryptionInfo)
}

/// Returns the error for a file that is known to be something else.
fn other_kind(start: &[u8]) -> Option<VideoError> {
    let (what, help) = unknown(start)?;
    Some(VideoError::new(Stage::Open, Error::decode(format!("this is {what}")).help(help)))
}

fn open_error(e: &ffmpeg_next::Error, said: Option<&str>) -> VideoError {
    let said = said.map(|said| format!(" ({said})")).unwrap_or_default();
    VideoError::new(Stage::Open, ffmpeg_error(&format!("FFmpeg cannot open it as a video{said}"), e, None))
}

/// Returns the stream that FFmpeg ranks first, unless it is a cover picture and the file has a real video.
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
