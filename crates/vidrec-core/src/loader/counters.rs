//! Counters of the work that a loader has done.

use crate::store::storage::RemoteStats;

/// Counters of a loader since its creation. They cost one addition for each frame or batch and are always on.
///
/// A consumer that waits a lot is starved: more threads, smaller pictures or a faster disk help. A producer that
/// waits a lot is not the bottleneck, so fewer threads are enough.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct LoaderStats {
    /// Batches that were made, not counting failed ones.
    pub batches: u64,
    /// Frames that were decoded, returned as JPEGs, or read decoded from the
    /// [`DecodedCache`](super::DecodedCache).
    pub frames: u64,
    /// Bytes of the JPEGs of these frames.
    pub bytes: u64,
    /// Tiles of these JPEGs that were decoded.
    pub tiles_decoded: u64,
    /// Tiles of these JPEGs that were not decoded because they are outside the crop.
    pub tiles_skipped: u64,
    /// Frames of batches for a device that the processor made, because the device could not.
    pub device_declined: u64,
    /// Bytes of the JPEGs that a device keeps for later epochs.
    pub device_kept_bytes: u64,
    /// Counters of the cache of decoded frames, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded_cache: Option<DecodedStats>,
    /// Clips that could not be read and were replaced. See [`OnBadFrame::Substitute`](super::OnBadFrame).
    pub substituted_clips: u64,
    /// Clips of the data set with fewer frames than a sample needs. See [`ShortClips`](super::ShortClips).
    pub short_clips: u64,
    /// Short clips that no epoch contains.
    pub skipped_clips: u64,
    /// Samples that are in no batch of a whole epoch, because they cannot be shared among the ranks. See
    /// [`Last`](vidrec_format::sampler::order::LastBatch). Epochs of a mix differ in it: the most in any epoch so far.
    pub samples_left_out: u64,
    /// The fetches of all readers of this open data set, if the data set is remote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteStats>,
    /// Batches that are ready now, in all running [`Batches`](super::Batches).
    pub ready: u64,
    /// Time in seconds that consumers of [`Batches`](super::Batches) waited for a batch.
    pub consumer_wait_seconds: f64,
    /// Time in seconds that producers waited because enough batches were ready.
    pub producer_wait_seconds: f64,
}

/// Counters of a [`DecodedCache`](super::DecodedCache), in [`LoaderStats`]. All of them except `taken_bytes` count
/// only this loader.
///
/// `hits`, `misses` and `other_frames` add up to the frames.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct DecodedStats {
    /// The maximum number of bytes that the cache takes.
    pub limit_bytes: u64,
    /// Bytes that all processes have taken, including the index of frames.
    pub taken_bytes: u64,
    /// Frames that came from the cache. Nothing of them was read.
    pub hits: u64,
    /// Frames that were not in the cache and were decoded.
    pub misses: u64,
    /// Frames that are never kept, because they are not 4:2:0.
    pub other_frames: u64,
    /// Bytes that this loader has added.
    pub kept_bytes: u64,
    /// Frames that were decoded but not kept because the cache was full.
    pub refused: u64,
    /// The reason why the cache keeps no more frames or is no longer used; `None` if it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}
