//! A short identity of a data set.

/// Identifies a data set. Two data sets with the same fingerprint have the same clips in the same order, packed to the
/// same bytes.
///
/// It depends only on the record files, so names, folders and labels may change. It is computed from the digests in the
/// indexes, without reading the record files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint {
    /// Number of clips.
    pub clips: u64,
    /// SHA-256, in hexadecimal, of the concatenated SHA-256 digests of the record files. If clips were selected, their
    /// ordinals in those files follow, each as 64 bits with the lowest byte first.
    pub digest: String,
}
