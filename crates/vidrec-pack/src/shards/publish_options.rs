//! How a plan is published.

/// How a plan is published.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PublishOptions {
    /// Publish without the parts that are not done. Their videos are then in the list of failures, at the stage
    /// `missing`. Off by default: a part that is not done is an error.
    pub allow_missing: bool,
    /// Replace a data set that is already there. Off by default.
    pub overwrite: bool,
    /// Read all files, and check everything that [`verify`](vidrec_core::dataset::verify::verify()) checks without
    /// decoding the images. Off by default: vidrec then checks the length of each file, and the checksums of both
    /// its ends and of the small sections of its index.
    pub read_all: bool,
    /// Assume that nobody else publishes at the same place at the same time, so object storage need not keep
    /// publishers apart. Off by default: a store that cannot keep them apart is refused. In a folder, a lock keeps
    /// them apart.
    pub only_publisher: bool,
}
