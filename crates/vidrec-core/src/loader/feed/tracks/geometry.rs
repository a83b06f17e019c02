//! Moves the values of a track from the coordinates of the stored frames to those of the pictures of a batch.

use std::ops::Range;

use half::f16;

use super::times::Pick;
use crate::loader::feed::sample_spec::SampleSpec;
use crate::loader::options::{CoordinateSize, Geometry, TrackHow, TrackWindow};
use vidrec_format::error::{Error, Result};
use vidrec_format::track::payload::TrackNumber;
use vidrec_format::track::schema::{TrackSchema, TrackType};

/// The coordinates of a track, seen from the pictures of a sample.
pub(super) struct Placement<'a> {
    geometry: Geometry,
    /// Takes a place in the coordinates of the track to its place in a picture.
    matrix: [[f64; 3]; 3],
    /// Whether left and right change places.
    flip: bool,
    /// Width and height of the pictures.
    size: (f64, f64),
    /// Pairs of points that change places in a flip.
    swap: &'a [(u32, u32)],
    /// The shape of a value.
    shape: &'a [u32],
}

impl<'a> Placement<'a> {
    /// The placement of values of a geometry. `sample` is that of the camera that they follow.
    ///
    /// # Errors
    ///
    /// The frames of the clip differ in size, or it is unknown of what size the pictures are in whose pixels coordinates are.
    pub fn new(
        geometry: Geometry,
        options: &'a TrackWindow,
        schema: &'a TrackSchema,
        sample: &SampleSpec<'_>,
    ) -> Result<Self> {
        let (frame, mut matrix) = sample.frame_size().zip(sample.params.matrix).ok_or_else(|| unequal(sample))?;
        let unit = match (options.size, geometry, &schema.shape[..]) {
            (None, Geometry::Flow, &[height, width, _]) => (width, height),
            (_, Geometry::Mask, _) => frame,
            (size, ..) => coordinate_size(size, sample, frame).map_err(|e| e.in_track(&schema.name))?,
        };
        let (x, y) = (f64::from(frame.0) / f64::from(unit.0), f64::from(frame.1) / f64::from(unit.1));
        matrix.iter_mut().for_each(|[a, b, _]| (*a, *b) = (*a * x, *b * y));
        let (flip, size) = (sample.params.flip, (f64::from(sample.size.0), f64::from(sample.size.1)));
        Ok(Placement { geometry, matrix, flip, size, swap: &options.swap, shape: &schema.shape })
    }

    /// Moves values, which are as they are stored, in the place of a sample. Clears the mask of what is not in the picture.
    pub fn apply(&self, kind: TrackType, out: &mut [u8], mask: &mut [bool], picks: &[Option<Pick>]) -> Result<()> {
        match (self.geometry, kind) {
            (Geometry::Mask, _) => Ok(()),
            (_, TrackType::F16) => self.each(f16::from_f64, floats::<f16>(out)?, mask, picks),
            (_, TrackType::F64) => self.each(|x| x, floats::<f64>(out)?, mask, picks),
            _ => self.each(|x| x as f32, floats::<f32>(out)?, mask, picks),
        }
    }

    fn each<F: TrackNumber + PartialOrd>(
        &self,
        round: fn(f64) -> F,
        out: &mut [F],
        mask: &mut [bool],
        picks: &[Option<Pick>],
    ) -> Result<()> {
        let count = picks.len().max(1);
        let values = out.chunks_exact_mut((out.len() / count).max(1));
        let masks = mask.chunks_exact_mut((mask.len() / count).max(1));
        for ((value, mask), _) in values.zip(masks).zip(picks).filter(|(_, pick)| pick.is_some()) {
            match self.geometry {
                Geometry::Boxes => self.items::<F, 4>(value, 4, mask, |edges| self.moved_box(edges, round)),
                Geometry::Points => self.points(value, mask, round),
                Geometry::Flow => {
                    let scale = [self.matrix[0][0], self.matrix[1][1]];
                    let scaled = |(x, scale): (&mut F, &f64)| *x = round(x.to_f64() * scale);
                    value.chunks_exact_mut(2).for_each(|motion| motion.iter_mut().zip(&scale).for_each(scaled));
                }
                Geometry::Intrinsics => value.chunks_exact_mut(9).for_each(|camera| self.move_camera(camera, round)),
                Geometry::Mask => {}
            }
        }
        Ok(())
    }

    /// Replaces the first `N` of each `side` numbers. What has no place in the picture becomes 0, and its mask false.
    fn items<F: TrackNumber, const N: usize>(
        &self,
        value: &mut [F],
        side: usize,
        mask: &mut [bool],
        moved: impl Fn([f64; N]) -> Option<[F; N]>,
    ) {
        for (item, is_there) in value.chunks_exact_mut(side).zip(mask) {
            let (place, _) = item.split_at_mut(N);
            match moved(std::array::from_fn(|i| place[i].to_f64())) {
                Some(moved) => place.copy_from_slice(&moved),
                None => {
                    item.fill(F::zeroed());
                    *is_there = false;
                }
            }
        }
    }

    fn point(&self, x: f64, y: f64) -> (f64, f64) {
        let [[a, _, left], [_, b, top], _] = self.matrix;
        (a * x + left, b * y + top)
    }

    /// The part of a box that is in the picture.
    fn moved_box<F: PartialOrd>(&self, [x0, y0, x1, y1]: [f64; 4], round: fn(f64) -> F) -> Option<[F; 4]> {
        let (x0, x1) = if self.flip { (x1, x0) } else { (x0, x1) };
        let ((left, top), (right, bottom)) = (self.point(x0, y0), self.point(x1, y1));
        let (x, y) = (|x: f64| round(x.clamp(0.0, self.size.0)), |y: f64| round(y.clamp(0.0, self.size.1)));
        let edges = [x(left), y(top), x(right), y(bottom)];
        (edges[0] < edges[2] && edges[1] < edges[3]).then_some(edges)
    }

    fn points<F: TrackNumber + PartialOrd>(&self, value: &mut [F], mask: &mut [bool], round: fn(f64) -> F) {
        let [count, side] = self.sides();
        if self.flip {
            for points in value.chunks_exact_mut(count * side) {
                for &(a, b) in self.swap {
                    let place = |point: u32| point as usize * side..(point as usize + 1) * side;
                    swap(points, place(a.min(b)), place(a.max(b)));
                }
            }
        }
        let is_inside = |x: F, length: f64| x >= round(0.0) && x < round(length);
        self.items::<F, 2>(value, side, mask, |[x, y]| {
            let (x, y) = self.point(x, y);
            let (x, y) = (round(x), round(y));
            (is_inside(x, self.size.0) && is_inside(y, self.size.1)).then_some([x, y])
        });
    }

    /// The last two sides of a value; a point alone is one of one.
    fn sides(&self) -> [usize; 2] {
        match *self.shape {
            [.., count, side] => [count as usize, side as usize],
            [side] => [1, side as usize],
            [] => [1, 1],
        }
    }

    /// Replaces a camera matrix by the product of the matrix and it.
    fn move_camera<F: TrackNumber>(&self, camera: &mut [F], round: fn(f64) -> F) {
        let stored: [f64; 9] = std::array::from_fn(|i| camera[i].to_f64());
        for (i, to) in camera.iter_mut().enumerate() {
            let row = self.matrix[i / 3];
            *to = round((0..3).map(|k| row[k] * stored[3 * k + i % 3]).sum());
        }
    }
}

/// Returns an error that names the track if its values do not have the geometry of its options.
pub(super) fn check(options: &TrackWindow, schema: &TrackSchema) -> Result<()> {
    let Some(geometry) = options.geometry else { return Ok(()) };
    let option = format!("loader option tracks[{:?}].geometry", schema.name);
    if let Some(expected) = geometry.mismatch(schema) {
        let e = Error::usage(format!("{option}: the values of the track are something else"));
        return Err(e.expected(expected).found(schema.words()));
    }
    let is_linear = geometry.is_picture() && options.how == TrackHow::Linear;
    if is_linear || options.normalize.is_some() || options.dims.is_some() {
        let e = Error::usage(format!("{option}: values with a geometry take no normalize and no dims"));
        return Err(e.help("omit them; pictures are never blended, so they take no how=linear either"));
    }
    let points = match schema.shape[..] {
        [.., points, _] => points,
        _ => 1,
    };
    match options.swap.iter().find(|(a, b)| a.max(b) >= &points) {
        Some((a, b)) => {
            let e = Error::usage(format!("loader option tracks[{:?}].swap: there is no such point", schema.name));
            Err(e.expected(format!("numbers below {points}")).found(format!("{a} and {b}")))
        }
        None => Ok(()),
    }
}

/// Exchanges two ranges of the same length, the first of which comes first.
fn swap<F>(all: &mut [F], first: Range<usize>, second: Range<usize>) {
    let (head, tail) = all.split_at_mut(second.start);
    head[first].swap_with_slice(&mut tail[..second.end - second.start]);
}

/// The size of the pictures in whose pixels the coordinates of a clip are.
fn coordinate_size(size: Option<CoordinateSize>, sample: &SampleSpec<'_>, frame: (u32, u32)) -> Result<(u32, u32)> {
    let source = || sample.clip.source_size();
    match size {
        Some(CoordinateSize::Of(size)) => Ok(size),
        Some(CoordinateSize::Frames) => Ok(frame),
        Some(CoordinateSize::Source) => source()?.ok_or_else(|| {
            let e = Error::usage("the clip does not know a video, so the size of its pictures is unknown");
            e.in_clip(sample.clip.ordinal()).help("give the track the size \"frames\", or height and width")
        }),
        None => match source()?.filter(|&source| source != frame) {
            None => Ok(frame),
            Some(source) => {
                let e = Error::usage("coordinates could be in pixels of the frames or of the video they are from");
                let e = e.in_clip(sample.clip.ordinal()).expected("the track's option size");
                let found = format!("frames of {}x{}, a video of {}x{}", frame.0, frame.1, source.0, source.1);
                Err(e.found(found).help("give the track the size \"source\" or \"frames\""))
            }
        },
    }
}

fn unequal(sample: &SampleSpec<'_>) -> Error {
    let e = Error::usage("the frames of the clip differ in size, so no track can follow them");
    e.in_clip(sample.clip.ordinal()).help("omit geometry of the track, or leave the clip out")
}

fn floats<F: TrackNumber>(out: &mut [u8]) -> Result<&mut [F]> {
    bytemuck::try_cast_slice_mut(out).map_err(|_| Error::internal("values that are not aligned for their type"))
}
