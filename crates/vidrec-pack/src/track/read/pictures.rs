//! Pictures of numbers that are not in a file of values: PNG files, or the frames of a video.

use std::path::{Path, PathBuf};

use super::depth::{self, Depth};
use super::open::{ChoosePictures, EncodePicture, TrackFiles, bytes, ending};
use crate::track::arguments::{EpisodeFrames, Given};
use crate::track::spec::{TrackSpec, TrackSpecTiming};
use vidrec_format::error::{Error, Result};

/// The pictures of a track, in the order of the frames that they belong to.
pub(crate) enum Pictures<'a> {
    /// PNG files.
    Files(Vec<PathBuf>),
    /// The frames of a video, or those of them that belong to an episode.
    Video(&'a Path, Option<EpisodeFrames>),
}

/// The endings of files of values.
const VALUE_ENDINGS: [&str; 5] = ["npy", "npz", "csv", "tsv", "json"];

impl<'a> Pictures<'a> {
    /// Returns the pictures that a cell names; `None` if it has values of another kind.
    ///
    /// # Errors
    ///
    /// The folder cannot be listed or has no PNG file, or the track has a timing that pictures cannot have.
    pub fn of(spec: &TrackSpec, given: &'a Given, how: TrackFiles<'_>) -> Result<Option<Self>> {
        let pictures = match given {
            Given::Folder(path) => {
                let mut files = (how.list)(path)?;
                files.retain(|file| ending(file) == "png");
                if files.is_empty() {
                    return Err(Error::usage("the folder has no PNG file"));
                }
                Pictures::Files(files)
            }
            Given::Pictures(paths) => Pictures::Files(paths.clone()),
            Given::Video(path, frames) => Pictures::Video(path, Some(*frames)),
            Given::File(path) if ending(path) == "png" => Pictures::Files(vec![path.clone()]),
            Given::File(path) if spec.size.is_some() && !VALUE_ENDINGS.contains(&&*ending(path)) => {
                Pictures::Video(path, None)
            }
            Given::File(_) | Given::List(_) => return Ok(None),
        };
        match spec.timing {
            TrackSpecTiming::Frames | TrackSpecTiming::EveryFrame => Ok(Some(pictures)),
            _ => Err(Error::usage("pictures belong to frames").expected("frames or every-frame")),
        }
    }

    /// Returns the height and width of all pictures.
    ///
    /// # Errors
    ///
    /// The first one cannot be read.
    pub fn shape(&self, spec: &TrackSpec, how: TrackFiles<'_>) -> Result<[usize; 2]> {
        match (spec.size, self) {
            (Some((width, height)), _) => Ok([height as usize, width as usize]),
            (None, Pictures::Files(files)) => {
                let first = files.first().ok_or_else(|| Error::usage("the list names no picture"))?;
                read(first, how).map(|(_, shape)| shape)
            }
            (None, Pictures::Video(..)) => Err(Error::internal("a video without a size")),
        }
    }

    /// Reads and encodes the pictures that `choose` picks, each of them once.
    ///
    /// # Errors
    ///
    /// A picture cannot be read, is damaged, or is none of this track.
    pub fn encode(
        &self,
        how: TrackFiles<'_>,
        choose: ChoosePictures<'_>,
        encode: EncodePicture<'_>,
    ) -> Result<Vec<Vec<u8>>> {
        match self {
            Pictures::Files(files) => {
                let one = |place: usize| {
                    let file = files.get(place).ok_or_else(|| Error::internal("a picture that is not there"))?;
                    read(file, how).and_then(encode).map_err(|e| Error::usage(format!("{}: {e:#}", file.display())))
                };
                choose(files.len())?.into_iter().map(one).collect()
            }
            Pictures::Video(path, frames) => (how.video)((path, *frames), choose, encode),
        }
    }
}

fn read(file: &Path, how: TrackFiles<'_>) -> Result<Depth> {
    depth::read(&bytes(file, how.open)?)
}
