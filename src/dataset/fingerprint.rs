//! What a data set is, in a few bytes.

/// Tells data sets apart: two that have the same are the same clips in the same order, packed to the same bytes.
///
/// It depends on the record files alone, so names, folders and labels may change. It is known without reading them, from
/// the digests in their indexes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint {
    /// Number of clips.
    pub clips: u64,
    /// SHA-256, in hexadecimal, of the SHA-256 digests of the record files one after another; and where clips were
    /// selected, of their ordinals in those files as 64 bits each, lowest byte first.
    pub digest: String,
}
