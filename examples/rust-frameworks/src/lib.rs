//! Shared code of the programs for candle and for burn: data sets, batches whose pixels become a tensor's, and the score.

mod clips;
mod data;
mod textures;

pub use clips::{Clips, epoch};
pub use data::Data;
