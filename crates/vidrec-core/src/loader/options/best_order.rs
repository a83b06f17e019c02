//! The order that is best for training on a data set.

use crate::dataset::Dataset;
use vidrec_format::sampler::order::Order;

/// The number of bytes in a block of the order for remote data sets, and of blocks in a window: half a gigabyte is
/// mixed.
const BLOCK_BYTES: u64 = 8 << 20;
const WINDOW: u32 = 64;

/// The order of a shuffle that is left to the loader: an exact shuffle of a local data set, blocks of a remote one.
pub(crate) fn best_order(dataset: &Dataset) -> Order {
    if !dataset.is_remote() {
        return Order::Shuffled;
    }
    let block = (BLOCK_BYTES / dataset.mean_clip_bytes().max(1)).clamp(1, u64::from(u32::MAX));
    Order::Homes { homes: None, exchange: 1.0, block: block as u32, window: WINDOW }
}
