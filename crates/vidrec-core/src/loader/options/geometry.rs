//! What the values of a track are in the picture, so that they follow its crop, resize and flip.

use serde::{Deserialize, Serialize};

use super::values::size;
use vidrec_format::track::schema::{TrackSchema, TrackType};

/// What the values of a track are in the frames. With it, they come in the coordinates of the pictures of a batch.
///
/// Coordinates count from the top left corner, in pixels, so that the center of the first pixel is at (0.5, 0.5).
///
/// | Geometry | A value in the data set | In a batch |
/// | --- | --- | --- |
/// | `Boxes` | numbers of shape `[..., 4]`: left, top, right, bottom | `f32`, cut at the edges of the picture. The mask is false, and the box 0, if no area is left |
/// | `Points` | numbers of shape `[..., 2]`, or `[..., 3]` of which the third stays as it is | `f32`. The mask is false, and the point 0, if it is not in the picture |
/// | `Mask` | a picture of numbers, `[height, width]` or `[height, width, channels]` | a picture of the size of the frames: each pixel is that of the stored picture in which its center lies, so no value is blended with another |
/// | `Flow` | a picture of floats, `[height, width, 2]`: motion along x and y | as `Mask`, and motion is scaled with the picture; motion along x changes its sign in a flip |
/// | `Intrinsics` | camera matrices, `[..., 3, 3]` | `f32`: the matrix of the sample ([`SampleParams::matrix`](crate::loader::SampleParams::matrix)) times that of the track |
///
/// `f64` stays `f64`. The mask of boxes and points has the dimensions of the values without the last one, so each box and each
/// point has its own.
///
/// ```
/// use vidrec::{CoordinateSize, Geometry, TrackWindow};
///
/// // The boxes count the pixels of the videos, of which the data set has smaller frames.
/// let geometry = Some(Geometry::Boxes);
/// let boxes = TrackWindow { geometry, size: Some(CoordinateSize::Source), ..TrackWindow::default() };
/// # drop(boxes);
/// ```
///
/// As a word (`Display`, serde): `boxes`, `points`, `mask`, `flow` or `intrinsics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum Geometry {
    /// Boxes with sides along the axes.
    Boxes,
    /// Points, such as keypoints.
    Points,
    /// Pictures of numbers, such as masks, depth and heat maps. They show the same scene as a frame, whatever their size.
    Mask,
    /// Optical flow, in pixels of its own pictures unless [`TrackWindow::size`](super::TrackWindow::size) says otherwise.
    Flow,
    /// Camera matrices.
    Intrinsics,
}

impl Geometry {
    /// Whether values are pictures.
    pub(crate) fn is_picture(self) -> bool {
        matches!(self, Geometry::Mask | Geometry::Flow)
    }

    /// The shape of what has a flag of its own in the mask, for values of this shape.
    pub(crate) fn item(self, shape: &[u32]) -> &[u32] {
        match self {
            Geometry::Boxes | Geometry::Points => &shape[shape.len().saturating_sub(1)..],
            _ => shape,
        }
    }

    /// What is expected of values, if they do not have it.
    pub(crate) fn mismatch(self, schema: &TrackSchema) -> Option<&'static str> {
        let is_float = matches!(schema.kind, TrackType::F16 | TrackType::F32 | TrackType::F64);
        let (fits, expected) = match (self, &schema.shape[..]) {
            (Geometry::Boxes, shape) => (matches!(shape, [.., 4]), "numbers of shape [..., 4]"),
            (Geometry::Points, shape) => (matches!(shape, [.., 2 | 3]), "numbers of shape [..., 2] or [..., 3]"),
            (Geometry::Mask, shape) => {
                (matches!(shape.len(), 2 | 3), "numbers of shape [height, width] or [height, width, channels]")
            }
            (Geometry::Flow, shape) => (is_float && matches!(shape, [_, _, 2]), "floats of shape [height, width, 2]"),
            (Geometry::Intrinsics, shape) => (matches!(shape, [.., 3, 3]), "numbers of shape [..., 3, 3]"),
        };
        (!fits || schema.kind == TrackType::Utf8).then_some(expected)
    }
}

/// The width and height of the picture in whose pixels coordinates are. The picture shows all of a frame.
///
/// As JSON (serde): `"frames"`, `"source"`, a number, or height and width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[serde(expecting = "expected as size of coordinates frames, source, a number, or height and width")]
#[non_exhaustive]
pub enum CoordinateSize {
    /// That of the frames in the data set.
    Frames,
    /// That of the video from which the clip was packed, as a player shows it: upright, with square pixels.
    Source,
    /// This one; (1, 1) for coordinates from 0 to 1.
    #[serde(untagged)]
    Of(#[serde(with = "size")] (u32, u32)),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_of_coordinates_is_a_word_or_numbers() {
        let read = |text| serde_json::from_str::<CoordinateSize>(text);
        for (text, size) in [
            ("\"frames\"", CoordinateSize::Frames),
            ("\"source\"", CoordinateSize::Source),
            ("1", CoordinateSize::Of((1, 1))),
            ("[72,96]", CoordinateSize::Of((96, 72))),
        ] {
            assert_eq!(read(text).unwrap(), size);
            assert_eq!(serde_json::to_string(&size).unwrap(), text);
        }
        assert!(read("\"video\"").unwrap_err().to_string().contains("source, a number"));
    }
}
