//! Files of values, opened after a check of their kind and size, and their contents.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::table::Table;
use crate::track::arguments::EpisodeFrames;
use crate::track::array::Array;
use crate::track::place::RawTrack;
use vidrec_core::store::location::is_remote;
use vidrec_format::error::{Error, Result};

/// A picture: its numbers in row-major order, its height and its width.
pub(crate) type Depth = (Vec<u16>, [usize; 2]);

/// Opens a file, and returns it with its length, or `None` if it is not a regular file. A process that decodes may
/// not open files itself.
pub(crate) type OpenFile<'a> = &'a dyn Fn(&Path) -> io::Result<Option<(File, u64)>>;

/// Chooses among so many pictures. The places ascend.
pub(crate) type ChoosePictures<'a> = &'a dyn Fn(usize) -> Result<Vec<usize>>;

/// Turns a picture into the bytes to store.
pub(crate) type EncodePicture<'a> = &'a dyn Fn(Depth) -> Result<Vec<u8>>;

/// Reads the frames of a video, or of a part of it, as numbers, and returns what was made of those that were chosen.
pub(crate) type ReadVideo<'a> =
    &'a dyn Fn((&Path, Option<EpisodeFrames>), ChoosePictures<'_>, EncodePicture<'_>) -> Result<Vec<Vec<u8>>>;

/// Functions that open the files of tracks.
#[derive(Clone, Copy)]
pub(crate) struct TrackFiles<'a> {
    pub open: OpenFile<'a>,
    /// Lists the pictures of a folder, in the natural order of their names.
    pub list: &'a dyn Fn(&Path) -> Result<Vec<PathBuf>>,
    pub video: ReadVideo<'a>,
}

/// Returns the bytes of a file on this machine, which `how` opens.
pub(super) fn bytes(path: &Path, how: OpenFile<'_>) -> Result<Vec<u8>> {
    if is_remote(path) {
        return Err(Error::usage("files of values must be on this machine"));
    }
    let opened = how(path).map_err(|e| Error::io("read the values", path, e).without_file())?;
    let (file, length) = opened.ok_or_else(|| Error::usage("this is not a regular file"))?;
    let too_large = || Error::limit("the file is too large").expected(format!("at most {MAX_BYTES} bytes"));
    if length > MAX_BYTES {
        return Err(too_large().found(length));
    }
    let mut bytes = Vec::new();
    let read = std::io::Read::take(file, MAX_BYTES + 1);
    std::io::copy(&mut { read }, &mut bytes).map_err(|e| Error::io("read the values", path, e).without_file())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Returns the ending of a file in lowercase.
pub(super) fn ending(path: &Path) -> String {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// The size limit in bytes of a file of values, and of each array in it.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// The contents of a file or a list.
pub(super) enum Content {
    /// One array without a name.
    One(Array),
    /// Named arrays or columns.
    Named(Table),
    /// Spans from a list.
    Spans(RawTrack),
}
