//! Provides the bytes that FFmpeg reads, and refuses files that are no videos.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::video::error::{Stage, VideoError};
use vidrec_core::store::disk::regular_file::{Links, try_open};
use vidrec_core::store::location::is_remote;
use vidrec_format::error::Error;
use vidrec_format::{header, recordio};

/// A video file, which may be opened several times.
#[derive(Debug, Clone)]
pub(crate) struct VideoFile {
    path: PathBuf,
    /// The file with its length, if it is open already: another process opened it, or it is a copy of a remote video.
    opened: Option<(Arc<File>, u64)>,
}

impl VideoFile {
    /// Creates a video from a file on this machine.
    pub fn local(path: &Path) -> Self {
        VideoFile { path: path.to_owned(), opened: None }
    }

    /// Creates a video from an open file of this length.
    pub fn opened(path: &Path, file: File, length: u64) -> Self {
        VideoFile { path: path.to_owned(), opened: Some((Arc::new(file), length)) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the open file and its length, if the video is one.
    pub fn as_opened(&self) -> Option<(&File, u64)> {
        self.opened.as_ref().map(|(file, length)| (&**file, *length))
    }

    /// Opens the video at its first byte.
    pub fn open(&self) -> Result<VideoSource, VideoError> {
        let failed = |e| VideoError::new(Stage::Open, e);
        let (file, length) = match &self.opened {
            Some(opened) => opened.clone(),
            None if is_remote(&self.path) => {
                let e = Error::usage("this is not a file on this machine");
                return Err(failed(e.help("pack remote videos, or read them from a local copy")));
            }
            None => match open_regular(&self.path) {
                Ok(Some((file, length))) => (Arc::new(file), length),
                Ok(None) => return Err(failed(Error::usage("this is not a regular file"))),
                Err(e) => return Err(failed(Error::io("open the video", &self.path, e))),
            },
        };
        let (path, failure) = (self.path.clone(), ReadFailure::default());
        Ok(VideoSource { inner: FileCursor { file, length, at: 0 }, bytes: length, path, failure })
    }
}

/// A position in an open file that several readers share, possibly in several processes.
struct FileCursor {
    file: Arc<File>,
    length: u64,
    at: u64,
}

impl Read for FileCursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for FileCursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// Opens a file and returns it with its length; `None` if it is not a regular file.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<(File, u64)>> {
    match try_open(path, Links::Follow, File::options().read(true))? {
        Ok(file) => file.metadata().map(|meta| Some((file, meta.len()))),
        Err(_) => Ok(None),
    }
}

/// The first read error. Through FFmpeg alone, a broken disk or network would look like a broken video.
#[derive(Clone, Default)]
pub(crate) struct ReadFailure(Arc<Mutex<Option<Error>>>);

impl ReadFailure {
    pub fn check(&self, stage: Stage) -> Result<(), VideoError> {
        self.0.lock().take().map_or(Ok(()), |e| Err(VideoError::new(stage, e)))
    }
}

/// An open video that remembers the first read error.
pub(crate) struct VideoSource {
    inner: FileCursor,
    /// The length of the video when it was opened.
    pub bytes: u64,
    path: PathBuf,
    pub failure: ReadFailure,
}

impl VideoSource {
    /// Records the error, and returns another one of its kind for FFmpeg.
    fn note(&self, e: io::Error) -> io::Error {
        let for_ffmpeg = e.raw_os_error().map_or_else(|| e.kind().into(), io::Error::from_raw_os_error);
        if e.kind() != io::ErrorKind::Interrupted {
            self.failure.0.lock().get_or_insert_with(|| Error::io("read the video", &self.path, e));
        }
        for_ffmpeg
    }

    /// Refuses what is no video by its first bytes, which FFmpeg would only call invalid data; and playlists, which
    /// FFmpeg would fail to follow, because the protocols that it needs are disabled. Returns the first bytes.
    pub fn refuse_others(&mut self) -> Result<Vec<u8>, VideoError> {
        let start = first_bytes(self);
        self.failure.check(Stage::Open)?;
        let failed = |e| Err(VideoError::new(Stage::Open, e));
        let start = match start {
            Ok(start) => start,
            Err(e) => return failed(Error::io("read the video", &self.path, e)),
        };
        if start.is_empty() {
            return failed(Error::decode("the file has 0 bytes").help("download or copy it again"));
        }
        match no_video(&start) {
            Some((what, help)) => failed(Error::decode(format!("this is {what}")).help(help)),
            None => playlist(&start).map_or(Ok(start), failed),
        }
    }
}

impl Read for VideoSource {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buf).map_err(|e| self.note(e))
    }
}

impl Seek for VideoSource {
    /// A demuxer may seek to a position that does not exist. That is not a disk failure.
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        self.inner.seek(pos)
    }
}

fn first_bytes(file: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(1024).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start)
}

/// Returns the error for a file that starts like a playlist.
fn playlist(start: &[u8]) -> Option<Error> {
    const STARTS: [(&[u8], &str); 5] = [
        (b"#EXTM3U", "an HLS playlist"),
        (b"ffconcat version", "an FFmpeg concat list"),
        (b"v=0\n", "an SDP session description"),
        (b"v=0\r\n", "an SDP session description"),
        (b"[playlist]", "a playlist"),
    ];
    let dash = start.starts_with(b"<") && start.windows(4).any(|w| w == b"<MPD");
    let what = STARTS.iter().find(|(s, _)| start.starts_with(s)).map(|&(_, what)| what);
    what.or(dash.then_some("a DASH manifest")).map(|what| {
        Error::decode(format!("this is {what}, which would open other files")).help("name the media files themselves")
    })
}

/// The kind of a file, and the remedy.
type FileKind = (&'static str, &'static str);

/// Returns what a file is if it begins like something that is no video.
pub(crate) fn no_video(start: &[u8]) -> Option<FileKind> {
    const POINTER: &str = "get the files that pointers stand for: `git lfs pull`, or download them again";
    const PAGE: &str = "the server answered with a page in place of the file; open it to see what it says, and download \
                        the file again";
    const UNPACK: &str = "unpack it first";
    const PACKED: &str = "it is packed already: give it to the other commands, such as `vidrec inspect`, or import it";
    const STARTS: [(&[u8], FileKind); 9] = [
        (&recordio::MAGIC.to_le_bytes(), ("a RecordIO file", PACKED)),
        (&header::MAGIC, ("the index of a data set", PACKED)),
        (b"version https://git-lfs.github.com/", ("a Git LFS pointer", POINTER)),
        (b"PK\x03\x04", ("a ZIP archive, or a document of an office program", "unpack it, or export it as text")),
        (b"\x1F\x8B", ("a gzip file", UNPACK)),
        (b"\x28\xB5\x2F\xFD", ("a Zstandard file", UNPACK)),
        (b"7z\xBC\xAF\x27\x1C", ("a 7z archive", UNPACK)),
        (b"Rar!\x1A\x07", ("a RAR archive", UNPACK)),
        (b"%PDF-", ("a PDF document", "download the file again")),
    ];
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start().to_ascii_lowercase();
    let is = |words: &[&[u8]]| words.iter().any(|word| text.starts_with(word));
    match STARTS.iter().find(|(begin, _)| start.starts_with(begin)) {
        Some((_, known)) => Some(*known),
        None if is(&[b"<!doctype html", b"<html", b"<head", b"<body"]) => Some(("an HTML page", PAGE)),
        None if is(&[b"/annex/objects/", b"../.git/annex", b".git/annex"]) => {
            Some(("a git-annex pointer", "`git annex get` the file"))
        }
        None => None,
    }
}

/// Returns what a file is that FFmpeg cannot open: text, or a kind of picture that it does not know.
pub(super) fn unknown(start: &[u8]) -> Option<FileKind> {
    let text = match std::str::from_utf8(start) {
        Ok(text) => Some(text),
        // The last character may be cut.
        Err(e) => std::str::from_utf8(&start[..e.valid_up_to()]).ok().filter(|_| e.error_len().is_none()),
    };
    let is_text = text.is_some_and(|text| text.chars().all(|c| !c.is_control() || c.is_whitespace()));
    match () {
        () if is_animated_webp(start) => {
            Some(("an animated WebP", "FFmpeg has no decoder for it; convert it to GIF, APNG or a video first"))
        }
        () if is_text => Some(("a text file", "see what it says, and download the video again")),
        () => None,
    }
}

/// Whether a file is WebP with the flag "animation" of its `VP8X` chunk (RFC 9649, 2.7).
fn is_animated_webp(start: &[u8]) -> bool {
    start.starts_with(b"RIFF")
        && start.get(8..16) == Some(b"WEBPVP8X")
        && start.get(20).is_some_and(|flags| flags & 2 != 0)
}
