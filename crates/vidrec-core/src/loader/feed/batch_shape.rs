//! The size of a batch.

use crate::loader::options::ResolvedOptions;
use vidrec_format::error::{Error, Hint, Result};

/// The size of the batches of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchShape {
    pub clips: u32,
    /// The number of cameras of each clip.
    pub cameras: u32,
    /// The maximum number of frames of each clip.
    pub frames: u32,
    /// Whether every batch has exactly this number of frames. If not, each batch has as many as its longest clip.
    pub exact: bool,
    /// Width and height of the pictures.
    pub size: (u32, u32),
}

impl BatchShape {
    /// Returns an error for a batch that no memory can hold, or for a budget below one clip.
    pub fn new(options: &ResolvedOptions, frames: u32, size: (u32, u32), exact: bool) -> Result<Self> {
        let (width, height) = size;
        let cameras = options.cameras_per_sample() as u32;
        // Clips without frames take nothing of a budget.
        let budget = options.budget().filter(|_| frames > 0);
        let clips = budget.map_or(options.batch_size, |budget| budget.clips(frames, size) / cameras);
        if clips == 0 {
            let what = format!(
                "loader option batching: even one clip of {frames} frames of {width}x{height} pixels does not fit"
            );
            return Err(Error::usage(what).found(format!("{:?}", options.budget())));
        }
        let factors = [clips, cameras, frames, width, height, 3 * size_of::<f32>() as u32];
        let bytes = factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(factor.into()));
        if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
            return Ok(BatchShape { clips, cameras, frames, exact, size });
        }
        let what = format!("a batch of {clips} clips of {frames} frames of {width}x{height} pixels");
        Err(Error::limit(what).hint(Hint::Set("batch_size")))
    }

    /// The dimensions of a batch.
    pub fn dimensions(&self, options: &ResolvedOptions) -> [usize; 5] {
        options.shape(self.clips * self.cameras, self.frames, self.size)
    }

    /// The number of values in a batch.
    pub fn values(&self, options: &ResolvedOptions) -> usize {
        // `new` proved that the product fits.
        self.dimensions(options).iter().product()
    }
}
