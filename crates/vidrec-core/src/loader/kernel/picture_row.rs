//! A row of the picture, block by block. Columns, colors and samples stay in registers in between.
//!
//! A function that is called for each block is inlined into a function that is compiled for each kind of machine,
//! so it is compiled for that machine too. A closure would not be, so there are none.

use super::colors::{Conversion, Kind};
use super::isa::{Isa, LineBlock, Lines};
use super::picture_buffer::SampleType;
use super::plane_tables::ColumnTable;
use super::spec::BLOCK;

/// The kinds of conversions by their numbers, for parameters that have to be numbers.
const KINDS: [Kind; 3] = [Kind::Full, Kind::Plain, Kind::Levels];

/// A row of the picture. `KIND` is a [`Kind`].
pub(super) struct PictureRow<'a, const PLANES: usize, const KIND: usize, const LINES: bool> {
    pub lines: [&'a [i16]; 3],
    pub sums: [&'a [[i32; BLOCK]]; 3],
    /// The columns of the first plane. `chroma` has those of the others.
    pub columns: &'a ColumnTable,
    pub chroma: &'a ColumnTable,
    pub conversion: &'a Conversion,
}

impl<const PLANES: usize, const KIND: usize, const LINES: bool> PictureRow<'_, PLANES, KIND, LINES> {
    /// Writes all blocks of the row.
    #[inline(always)]
    pub fn write<I: Isa, O: RowOut>(&self, isa: I, out: O) {
        let constants = Constants::new(isa, self.conversion);
        let (places, rest) = out.places();
        // These loops call no function, so that all constants stay in registers. Zipped iterators have one counter
        // and no checks.
        if LINES {
            let [first, blue, red] = self.lines;
            let (luma, chroma) = (Lines::new([first], self.columns), Lines::new([blue, red], self.chroma));
            assert!(places.len() <= luma.blocks().len().min(chroma.blocks().len()), "columns without a block");
            for (place, (luma, chroma)) in places.zip(luma.blocks().zip(chroma.blocks())) {
                let planes = Self::from_lines(isa, luma, chroma, &constants);
                O::write(isa, Self::channels::<I, O>(isa, planes, &constants), place);
            }
            if let (Some(rest), Some((luma, chroma))) = (rest, luma.blocks().zip(chroma.blocks()).next_back()) {
                let planes = Self::from_lines(isa, luma, chroma, &constants);
                O::write_rest(isa, Self::channels::<I, O>(isa, planes, &constants), rest);
            }
        } else {
            let [first, second, third] = self.sums;
            assert!(self.sums.iter().all(|sums| places.len() <= sums.len()), "columns without sums");
            for (place, sums) in places.zip(first.iter().zip(second).zip(third)) {
                let planes = Self::from_sums(isa, sums, &constants);
                O::write(isa, Self::channels::<I, O>(isa, planes, &constants), place);
            }
            if let (Some(rest), Some(sums)) = (rest, first.iter().zip(second).zip(third).next_back()) {
                let planes = Self::from_sums(isa, sums, &constants);
                O::write_rest(isa, Self::channels::<I, O>(isa, planes, &constants), rest);
            }
        }
    }

    /// Makes a block of each plane from lines.
    #[inline(always)]
    fn from_lines<I: Isa>(
        isa: I,
        luma: LineBlock<'_, 1>,
        chroma: LineBlock<'_, 2>,
        constants: &Constants<I>,
    ) -> [I::Floats; PLANES] {
        let mut planes = [isa.splat(constants.offset[0]); PLANES];
        [planes[0]] = isa.columns(luma);
        if PLANES == 3 {
            [planes[1], planes[2]] = isa.columns(chroma);
        }
        planes
    }

    /// Makes a block of each plane from sums.
    #[inline(always)]
    fn from_sums<I: Isa>(isa: I, ((a, b), c): Sums<'_>, constants: &Constants<I>) -> [I::Floats; PLANES] {
        let mut planes = [isa.splat(constants.offset[0]); PLANES];
        for (plane, sums) in planes.iter_mut().zip([a, b, c]) {
            *plane = isa.floats(sums);
        }
        planes
    }

    /// Converts planes to channels. See [`Conversion`].
    #[inline(always)]
    fn channels<I: Isa, O: RowOut>(isa: I, planes: [I::Floats; PLANES], constants: &Constants<I>) -> [I::Floats; 3] {
        let mut channels = [isa.splat(constants.offset[0]); 3];
        for (c, channel) in channels.iter_mut().enumerate().take(O::CHANNELS) {
            let mut level = isa.splat(constants.offset[c]);
            for (plane, &floats) in planes.iter().enumerate() {
                if !KINDS[KIND].zeros().contains(&(c, plane)) {
                    level = isa.scale_and_add(floats, constants.rows[c][plane], level);
                }
            }
            *channel = if O::SATURATES { level } else { isa.clamp(level, constants.low[c], constants.high[c]) };
        }
        channels
    }
}

/// The sums of a block of each plane.
type Sums<'a> = ((&'a [i32; BLOCK], &'a [i32; BLOCK]), &'a [i32; BLOCK]);

/// A [`Conversion`] for the loop over a row.
struct Constants<I: Isa> {
    rows: [[I::Constant; 3]; 3],
    offset: [I::Constant; 3],
    low: [I::Constant; 3],
    high: [I::Constant; 3],
}

impl<I: Isa> Constants<I> {
    #[inline(always)]
    fn new(isa: I, Conversion { rows, offset, low, high }: &Conversion) -> Self {
        let three = |[a, b, c]: [f32; 3]| [isa.constant(a), isa.constant(b), isa.constant(c)];
        let rows = [three(rows[0]), three(rows[1]), three(rows[2])];
        Constants { rows, offset: three(*offset), low: three(*low), high: three(*high) }
    }
}

/// The output for the channels of a row, or of all rows of a picture.
pub(super) trait RowOut: Sized {
    /// The number of channels, 1 or 3.
    const CHANNELS: usize;

    /// Whether values may be outside their range, because the code that writes them saturates.
    const SATURATES: bool;

    /// Takes the output for the first pixels.
    fn split_off(&mut self, pixels: usize) -> Self;
    /// The place of a block.
    type Place;

    /// The place of the last block, if it has fewer pixels.
    type Rest;

    /// The places of the blocks in order, and the rest after them.
    fn places(self) -> (impl ExactSizeIterator<Item = Self::Place>, Option<Self::Rest>);

    /// Writes a block.
    fn write<I: Isa>(isa: I, channels: [I::Floats; 3], place: Self::Place);

    /// Writes the part of the last block that has room.
    fn write_rest<I: Isa>(isa: I, channels: [I::Floats; 3], rest: Self::Rest);
}

/// One channel.
pub(super) struct GrayOut<'a, S>(pub &'a mut [S]);

impl<'a, S: SampleType> RowOut for GrayOut<'a, S> {
    const CHANNELS: usize = 1;
    const SATURATES: bool = !S::NORMALIZED;
    type Place = &'a mut [S; BLOCK];
    type Rest = &'a mut [S];

    #[inline(always)]
    fn split_off(&mut self, pixels: usize) -> Self {
        GrayOut(split_off(&mut self.0, pixels))
    }

    #[inline(always)]
    fn places(self) -> (impl ExactSizeIterator<Item = Self::Place>, Option<Self::Rest>) {
        let (blocks, rest) = self.0.as_chunks_mut();
        (blocks.iter_mut(), (!rest.is_empty()).then_some(rest))
    }

    #[inline(always)]
    fn write<I: Isa>(isa: I, channels: [I::Floats; 3], place: Self::Place) {
        S::write(isa, channels[0], place);
    }

    #[inline(always)]
    fn write_rest<I: Isa>(isa: I, channels: [I::Floats; 3], rest: Self::Rest) {
        write_some(isa, channels[0], rest);
    }
}

/// Three channels, each in a plane of its own.
pub(super) struct PlaneOut<'a, S>(pub [&'a mut [S]; 3]);

impl<'a, S: SampleType> RowOut for PlaneOut<'a, S> {
    const CHANNELS: usize = 3;
    const SATURATES: bool = !S::NORMALIZED;
    type Place = ((&'a mut [S; BLOCK], &'a mut [S; BLOCK]), &'a mut [S; BLOCK]);
    type Rest = [&'a mut [S]; 3];

    #[inline(always)]
    fn split_off(&mut self, pixels: usize) -> Self {
        let [first, second, third] = &mut self.0;
        PlaneOut([split_off(first, pixels), split_off(second, pixels), split_off(third, pixels)])
    }

    #[inline(always)]
    fn places(self) -> (impl ExactSizeIterator<Item = Self::Place>, Option<Self::Rest>) {
        let [(a, rest_a), (b, rest_b), (c, rest_c)] = self.0.map(|row| row.as_chunks_mut());
        let rest = (!rest_a.is_empty()).then_some([rest_a, rest_b, rest_c]);
        (a.iter_mut().zip(b).zip(c), rest)
    }

    #[inline(always)]
    fn write<I: Isa>(isa: I, [first, second, third]: [I::Floats; 3], ((a, b), c): Self::Place) {
        S::write(isa, first, a);
        S::write(isa, second, b);
        S::write(isa, third, c);
    }

    #[inline(always)]
    fn write_rest<I: Isa>(isa: I, channels: [I::Floats; 3], rest: Self::Rest) {
        for (values, rest) in channels.into_iter().zip(rest) {
            write_some(isa, values, rest);
        }
    }
}

/// Takes the first values.
#[inline(always)]
fn split_off<'a, S>(values: &mut &'a mut [S], count: usize) -> &'a mut [S] {
    values.split_off_mut(..count).expect("a slot with all pixels of its picture")
}

/// Writes the first values of a block.
#[inline(always)]
fn write_some<I: Isa, S: SampleType>(isa: I, values: I::Floats, to: &mut [S]) {
    let mut block = [S::default(); BLOCK];
    S::store(isa, values, &mut block);
    to.copy_from_slice(&block[..to.len()]);
}

/// Three channels that lie side by side in each pixel.
pub(super) struct PixelOut<'a, S>(pub &'a mut [S]);

impl<'a, S: SampleType> RowOut for PixelOut<'a, S> {
    const CHANNELS: usize = 3;
    const SATURATES: bool = !S::NORMALIZED;
    type Place = &'a mut [[S; BLOCK]; 3];
    type Rest = &'a mut [S];

    #[inline(always)]
    fn split_off(&mut self, pixels: usize) -> Self {
        PixelOut(split_off(&mut self.0, 3 * pixels))
    }

    #[inline(always)]
    fn places(self) -> (impl ExactSizeIterator<Item = Self::Place>, Option<Self::Rest>) {
        let (blocks, rest) = self.0.split_at_mut(self.0.len() / (3 * BLOCK) * (3 * BLOCK));
        (blocks.as_chunks_mut().0.as_chunks_mut().0.iter_mut(), (!rest.is_empty()).then_some(rest))
    }

    #[inline(always)]
    fn write<I: Isa>(isa: I, channels: [I::Floats; 3], place: Self::Place) {
        for (out, values) in place.iter_mut().zip(isa.interleave(channels)) {
            S::write(isa, values, out);
        }
    }

    #[inline(always)]
    fn write_rest<I: Isa>(isa: I, channels: [I::Floats; 3], rest: Self::Rest) {
        let mut pixels = [[S::default(); BLOCK]; 3];
        for (out, values) in pixels.iter_mut().zip(isa.interleave(channels)) {
            S::store(isa, values, out);
        }
        rest.copy_from_slice(&pixels.as_flattened()[..rest.len()]);
    }
}
