//! Batches whose pixels can be moved into a tensor.

use vidrec::{Loader, Result};

/// Batches that are made ahead of the training loop.
const AHEAD: usize = 2;

/// A batch: what a tensor is made of, without a copy.
pub struct Clips {
    /// Gray pixels of each clip, frame by frame.
    pub pixels: Vec<f32>,
    /// Clips, frames of a clip, rows, columns.
    pub shape: [usize; 4],
    pub labels: Vec<i64>,
}

impl Clips {
    /// The number of clips that have their label among `guesses`, and the number of all clips.
    pub fn right(&self, guesses: &[i64]) -> (usize, usize) {
        let right = self.labels.iter().zip(guesses).filter(|(label, guess)| label == guess).count();
        (right, self.labels.len())
    }
}

/// The batches of an epoch. The loader's threads write pixels where the tensor will have them.
pub fn epoch(loader: &Loader, number: u64) -> Result<impl Iterator<Item = Result<Clips>>> {
    let values = loader.batch_bytes() / size_of::<f32>();
    let mut batches = loader.iter_into(number)?;
    for _ in 0..AHEAD {
        batches.provide(Floats(vec![0.0; values]));
    }
    Ok(std::iter::from_fn(move || {
        let made = batches.next()?;
        // The tensor keeps the memory of this batch. So here is some for another one.
        batches.provide(Floats(vec![0.0; values]));
        Some(made.map(|(Floats(mut pixels), batch, _state)| {
            let [clips, frames, channels, rows, columns] = batch.shape();
            // The last batch may have fewer clips. They are at the start of the memory.
            pixels.truncate(batch.shape().iter().product());
            Clips { pixels, shape: [clips, frames * channels, rows, columns], labels: batch.labels }
        }))
    }))
}

/// Memory that the loader fills.
struct Floats(Vec<f32>);

impl AsMut<[u8]> for Floats {
    fn as_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
