//! The place of a picture in the batch.

/// The samples of one picture in a batch, and no others. All pictures can therefore be written at the same time.
///
/// In (B, C, T, H, W), the planes of a clip's frames alternate. A slot holds each plane as its own slice. No two
/// slots share memory, and safe Rust proves it.
pub(crate) enum PictureSlot<'a, S> {
    /// One channel, row by row.
    Gray(&'a mut [S]),
    /// One plane for each of three channels, row by row.
    Planes([&'a mut [S]; 3]),
    /// The three channels of each pixel side by side.
    Pixels(&'a mut [S]),
}

impl<'a, S> PictureSlot<'a, S> {
    /// Creates a picture of `channels` consecutive planes: (B, T, C, H, W).
    pub fn planes(picture: &'a mut [S], channels: usize) -> Self {
        if channels == 1 {
            return PictureSlot::Gray(picture);
        }
        let (first, rest) = picture.split_at_mut(picture.len() / 3);
        let (second, third) = rest.split_at_mut(first.len());
        PictureSlot::Planes([first, second, third])
    }

    /// Creates a picture whose pixels have their `channels` side by side: (B, T, H, W, C).
    pub fn pixels(picture: &'a mut [S], channels: usize) -> Self {
        if channels == 1 { PictureSlot::Gray(picture) } else { PictureSlot::Pixels(picture) }
    }

    /// Sets all values to 0.
    pub fn clear(self)
    where
        S: Default + Clone,
    {
        match self {
            PictureSlot::Gray(plane) | PictureSlot::Pixels(plane) => plane.fill(S::default()),
            PictureSlot::Planes(planes) => planes.into_iter().for_each(|plane| plane.fill(S::default())),
        }
    }

    /// Creates the pictures of a clip of `frames` frames. Each plane follows that of the previous frame: (B, C, T,
    /// H, W).
    pub fn clip(clip: &'a mut [S], channels: usize, frames: usize) -> Vec<Self> {
        let plane = (clip.len() / channels / frames.max(1)).max(1);
        if channels == 1 {
            return clip.chunks_exact_mut(plane).map(PictureSlot::Gray).collect();
        }
        let (first, rest) = clip.split_at_mut(clip.len() / 3);
        let (second, third) = rest.split_at_mut(first.len());
        let planes = [first, second, third].map(|planes| planes.chunks_exact_mut(plane));
        let [first, second, third] = planes;
        first.zip(second).zip(third).map(|((a, b), c)| PictureSlot::Planes([a, b, c])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(slot: PictureSlot<'_, u8>, value: u8) {
        match slot {
            PictureSlot::Gray(plane) | PictureSlot::Pixels(plane) => plane.fill(value),
            PictureSlot::Planes(planes) => planes.into_iter().zip(1..).for_each(|(plane, c)| plane.fill(value + c)),
        }
    }

    #[test]
    fn planes_of_a_clip_lie_channel_by_channel() {
        let mut clip = [0; 12];
        PictureSlot::clip(&mut clip, 3, 2).into_iter().zip([10, 20]).for_each(|(slot, value)| mark(slot, value));
        assert_eq!(clip, [11, 11, 21, 21, 12, 12, 22, 22, 13, 13, 23, 23]);
        PictureSlot::clip(&mut clip, 1, 3).into_iter().zip([1, 2, 3]).for_each(|(slot, value)| mark(slot, value));
        assert_eq!(clip, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    }

    #[test]
    fn planes_of_a_picture_follow_each_other() {
        let mut picture = [0; 6];
        mark(PictureSlot::planes(&mut picture, 3), 0);
        assert_eq!(picture, [1, 1, 2, 2, 3, 3]);
        mark(PictureSlot::pixels(&mut picture, 1), 9);
        assert_eq!(picture, [9; 6]);
    }
}
