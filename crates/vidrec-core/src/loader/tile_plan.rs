//! The plan by which a device makes the pictures of a batch of JPEGs, bit for bit as this loader does.

use bytemuck::NoUninit;

use super::batch::Batch;
use super::decoded::FrameKey;

/// The plan by which a device makes the pictures of a batch: see [`Loader::serve_device`](crate::loader::Loader::serve_device).
///
/// All numbers are counted from zero. A device decodes the tiles of each frame to planes, one tile after another in
/// rows, blends rows of planes to lines, and makes each pixel of the picture from the lines, or from the planes.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct TilePlan {
    /// The parts of the plan, one behind the other, as values of this machine:
    ///
    /// * For each tile, as `[u32; 4]`: the first byte of its data in the JPEGs, the one after the last, its frame, and its
    ///   number there.
    /// * For each JPEG, as `[i32; FRAME]`: see [`FRAME`](Self::FRAME).
    /// * Quantizers and Huffman codes, as `u16`.
    /// * Heads and first samples of the tables of resampling, as `i32`.
    /// * Weights of the tables of resampling, as `i16`, in units of 2^-14.
    /// * For each table, as `f32`, the map from planes to channels: factors, offsets, and lower and upper ends.
    /// * JPEGs that the device keeps and copies to the bytes of the batch, as `[i64; 3]`: where they are kept, where they go,
    ///   and their lengths.
    /// * JPEGs of the batch that the device copies to those that it keeps, likewise.
    pub packed: Vec<u8>,
    /// Where each part begins and ends.
    pub parts: Vec<(usize, usize)>,
    /// The samples of all planes together.
    pub samples: u64,
    /// The samples of all lines together: rows of planes, blended to the rows of a picture. A line has a row of luma
    /// and then one of each chroma. Pictures that copy pixels of the frame have no lines.
    pub lines: u64,
    /// The samples of the longest line.
    pub longest_line: u64,
    /// The bytes of all JPEGs: first those of the batch, and then those that the device keeps.
    pub bytes: u64,
    /// The keys of the JPEGs to keep.
    pub(crate) keys: Vec<FrameKey>,
    /// The numbers of clips in the batch, counted over all cameras, of which the processor made the pictures, because a
    /// device cannot.
    pub others: Vec<u64>,
    /// The pictures of these clips.
    pub made: Batch,
}

impl TilePlan {
    /// The numbers of a frame: where its lines begin, in units of [`UNIT`](Self::UNIT) samples, its number of tiles,
    /// tiles in a row, MCUs in a tile, samples along the side of a block (8, 4, 2 or 1), the place of its coding, the
    /// place and the number of its table, the left and upper side of its planes in samples of luma, its place in the
    /// batch, and where its planes begin, in the same units.
    pub const FRAME: usize = 12;

    /// Planes and lines begin at a multiple of so many samples.
    pub const UNIT: u64 = 64;

    /// Parts begin at multiples of so many bytes.
    const ALIGNMENT: usize = 64;

    /// Appends a part.
    pub(super) fn push<T: NoUninit>(&mut self, values: &[T]) {
        let start = self.packed.len();
        self.packed.extend_from_slice(bytemuck::cast_slice(values));
        self.parts.push((start, self.packed.len()));
        self.packed.resize(self.packed.len().next_multiple_of(Self::ALIGNMENT), 0);
    }
}
