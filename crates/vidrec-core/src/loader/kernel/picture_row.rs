//! Where the channels of a row of the picture go, block by block.

use super::colors::Conversion;
use super::isa::Isa;
use super::picture_buffer::SampleType;
use super::spec::BLOCK;

/// A [`Conversion`] for the loop over a row.
pub(super) struct Constants<I: Isa> {
    pub rows: [[I::Constant; 3]; 3],
    pub offset: [I::Constant; 3],
    pub low: [I::Constant; 3],
    pub high: [I::Constant; 3],
}

impl<I: Isa> Constants<I> {
    #[inline(always)]
    pub fn new(isa: I, Conversion { rows, offset, low, high }: &Conversion) -> Self {
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
            let mut block = [S::default(); BLOCK];
            S::store(isa, values, &mut block);
            rest.copy_from_slice(&block[..rest.len()]);
        }
    }
}

/// Takes the first values.
#[inline(always)]
fn split_off<'a, S>(values: &mut &'a mut [S], count: usize) -> &'a mut [S] {
    values.split_off_mut(..count).expect("a slot with all pixels of its picture")
}

/// One channel, or three that lie side by side in each pixel.
pub(super) struct PixelOut<'a, S, const CHANNELS: usize>(pub &'a mut [S]);

impl<const CHANNELS: usize, S> PixelOut<'_, S, CHANNELS> {
    #[inline(always)]
    fn side_by_side<I: Isa>(isa: I, channels: [I::Floats; 3]) -> [I::Floats; 3] {
        if CHANNELS == 1 { channels } else { isa.interleave(channels) }
    }
}

impl<'a, S: SampleType, const CHANNELS: usize> RowOut for PixelOut<'a, S, CHANNELS> {
    const CHANNELS: usize = CHANNELS;
    const SATURATES: bool = !S::NORMALIZED;
    type Place = &'a mut [[S; BLOCK]; CHANNELS];
    type Rest = &'a mut [S];

    #[inline(always)]
    fn split_off(&mut self, pixels: usize) -> Self {
        PixelOut(split_off(&mut self.0, CHANNELS * pixels))
    }

    #[inline(always)]
    fn places(self) -> (impl ExactSizeIterator<Item = Self::Place>, Option<Self::Rest>) {
        let (blocks, rest) = self.0.split_at_mut(self.0.len() / (CHANNELS * BLOCK) * (CHANNELS * BLOCK));
        (blocks.as_chunks_mut().0.as_chunks_mut().0.iter_mut(), (!rest.is_empty()).then_some(rest))
    }

    #[inline(always)]
    fn write<I: Isa>(isa: I, channels: [I::Floats; 3], place: Self::Place) {
        for (out, values) in place.iter_mut().zip(Self::side_by_side(isa, channels)) {
            S::write(isa, values, out);
        }
    }

    #[inline(always)]
    fn write_rest<I: Isa>(isa: I, channels: [I::Floats; 3], rest: Self::Rest) {
        let mut pixels = [[S::default(); BLOCK]; CHANNELS];
        for (out, values) in pixels.iter_mut().zip(Self::side_by_side(isa, channels)) {
            S::store(isa, values, out);
        }
        rest.copy_from_slice(&pixels.as_flattened()[..rest.len()]);
    }
}
