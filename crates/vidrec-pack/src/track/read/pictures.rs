//! Pictures of one number to a pixel, such as depth, that are not in a file of values: PNG files, or the frames of a video.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::{DynamicImage, ImageFormat, ImageReader};

use super::open::{ChoosePictures, Depth, EncodePicture, TrackFiles, bytes, ending};
use crate::track::arguments::{EpisodeFrames, TrackInput};
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
pub(super) const VALUE_ENDINGS: [&str; 5] = ["npy", "npz", "csv", "tsv", "json"];

impl<'a> Pictures<'a> {
    /// Returns the pictures that a cell names; `None` if it has values of another kind.
    ///
    /// # Errors
    ///
    /// The folder cannot be listed or has no PNG file, or the track has a timing that pictures cannot have.
    pub fn of(spec: &TrackSpec, given: &'a TrackInput, how: TrackFiles<'_>) -> Result<Option<Self>> {
        let pictures = match given {
            TrackInput::Folder(path) => {
                let mut files = (how.list)(path)?;
                files.retain(|file| ending(file) == "png");
                if files.is_empty() {
                    return Err(Error::usage("the folder has no PNG file"));
                }
                Pictures::Files(files)
            }
            TrackInput::Pictures(paths) => Pictures::Files(paths.clone()),
            TrackInput::Video(path, frames) => Pictures::Video(path, Some(*frames)),
            TrackInput::File(path) if ending(path) == "png" => Pictures::Files(vec![path.clone()]),
            TrackInput::File(path) if spec.size.is_some() && !VALUE_ENDINGS.contains(&&*ending(path)) => {
                Pictures::Video(path, None)
            }
            TrackInput::File(_) | TrackInput::List(_) => return Ok(None),
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
                read_file(first, how).map(|(_, shape)| shape)
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
                    read_file(file, how)
                        .and_then(encode)
                        .map_err(|e| Error::usage(format!("{}: {e:#}", file.display())))
                };
                choose(files.len())?.into_iter().map(one).collect()
            }
            Pictures::Video(path, frames) => (how.video)((path, *frames), choose, encode),
        }
    }
}

fn read_file(file: &Path, how: TrackFiles<'_>) -> Result<Depth> {
    read_png(&bytes(file, how.open)?)
}

/// Reads the numbers of a gray PNG file as they are. Those of 8 bits stay below 256.
///
/// # Errors
///
/// It is not a PNG file, it is damaged or too large, or it is not gray.
fn read_png(png: &[u8]) -> Result<Depth> {
    // With the crate's limits of size and memory.
    let decoded = ImageReader::with_format(Cursor::new(png), ImageFormat::Png).decode();
    let decoded = decoded.map_err(|e| Error::usage(format!("vidrec cannot read this PNG file: {e}")))?;
    let shape = [decoded.height() as usize, decoded.width() as usize];
    let numbers = match decoded {
        DynamicImage::ImageLuma16(gray) => gray.into_raw(),
        DynamicImage::ImageLuma8(gray) => gray.into_raw().into_iter().map(u16::from).collect(),
        other => {
            let e = Error::usage("the picture does not have one number to a pixel").expected("a gray PNG file");
            return Err(e.found(format!("{:?}", other.color())));
        }
    };
    Ok((numbers, shape))
}

#[cfg(test)]
mod tests {
    use image::{ImageBuffer, Luma, Rgb};

    use super::*;

    fn png(image: DynamicImage) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn numbers_come_as_they_are() {
        let deep = ImageBuffer::<Luma<u16>, _>::from_raw(3, 2, vec![0, 1, 256, 65_535, 7, 300]).unwrap();
        assert_eq!(read_png(&png(deep.clone().into())).unwrap(), (deep.into_raw(), [2, 3]));
        let shallow = ImageBuffer::<Luma<u8>, _>::from_raw(1, 2, vec![0, 255]).unwrap();
        assert_eq!(read_png(&png(shallow.into())).unwrap(), (vec![0, 255], [2, 1]));
        let color = ImageBuffer::<Rgb<u8>, _>::from_raw(1, 1, vec![1, 2, 3]).unwrap();
        assert!(read_png(&png(color.into())).unwrap_err().to_string().contains("one number to a pixel"));
        assert!(read_png(b"GIF").unwrap_err().to_string().contains("PNG"));
    }
}
