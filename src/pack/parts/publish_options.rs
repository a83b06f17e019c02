//! How a plan is published.

use std::path::PathBuf;

/// How a plan is published.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PublishOptions {
    /// The folder of the data set. Default `None`: the plan's folder, where the files are already. In another folder
    /// they get further names (hard links), or are copied where that is not possible. For a plan in object storage: a
    /// location in the same bucket, and the server copies the files.
    pub out: Option<PathBuf>,
    /// Publish without the parts that are not done. Their videos are then in the list of failures, at the stage
    /// `missing`. Off by default: a part that is not done is an error.
    pub allow_missing: bool,
    /// Replace a data set that is already there. Off by default.
    pub overwrite: bool,
    /// Read all files, and check everything that [`verify`](crate::verify()) checks without decoding the images. Off by
    /// default: vidrec checks the length of each file, and the checksums of both its ends and of its index's small sections.
    pub read_all: bool,
    /// Nobody else publishes at the same place at the same time, so object storage need not keep publishers apart. Off by
    /// default: a store that cannot do that is refused. In a folder, a lock keeps them apart.
    pub only_publisher: bool,
}
