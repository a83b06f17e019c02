//! The file that FFmpeg reads.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;
use crate::video::error::{Stage, VideoError};

/// The operating system's own error. Through FFmpeg alone, a broken disk would look like a broken video.
#[derive(Clone, Default)]
pub(crate) struct ReadFailure(Arc<Mutex<Option<(io::Error, std::path::PathBuf)>>>);

impl ReadFailure {
    pub fn check(&self, stage: Stage) -> Result<(), VideoError> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((e, path)) => Err(VideoError::new(stage, Error::io("read the video", path, e))),
            None => Ok(()),
        }
    }
}

/// The file that FFmpeg reads, which remembers the first error of the operating system.
pub(crate) struct FileSource {
    file: File,
    pub bytes: u64,
    path: std::path::PathBuf,
    failure: ReadFailure,
}

impl FileSource {
    pub fn open(path: &Path) -> Result<(Self, ReadFailure), VideoError> {
        let io = |e| VideoError::new(Stage::Open, Error::io("open the video", path, e));
        // Checked before opening, because opening a named pipe waits for its writer.
        let meta = std::fs::metadata(path).map_err(io)?;
        if !meta.is_file() {
            return Err(VideoError::new(Stage::Open, Error::usage("not a regular file")));
        }
        let mut file = File::open(path).map_err(io)?;
        refuse_playlist(&mut file).map_err(io)??;
        let failure = ReadFailure::default();
        Ok((FileSource { file, bytes: meta.len(), path: path.to_owned(), failure: failure.clone() }, failure))
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

impl Read for FileSource {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.file.read(buf).map_err(|e| self.note(e))
    }
}

impl Seek for FileSource {
    /// A demuxer may ask for places that do not exist; that is not a failure of the disk.
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        self.file.seek(pos)
    }
}

/// Refuses a playlist by name. FFmpeg would only fail to follow it, because the protocols that it needs are closed.
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
