//! How inputs are read.

use std::path::PathBuf;

use crate::track::TrackSpec;
use vidrec_store::storage::Storage;

/// How inputs are read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InputOptions {
    /// The folder that the paths in manifests, and those of the videos of a LeRobot data set, are relative to. It
    /// may be a remote location such as `s3://bucket/videos`. Default: the folder of the manifest or of the data
    /// set.
    pub root: Option<PathBuf>,
    /// Take only the clips of this split, as the manifest column `split` names it. Default: all.
    pub split: Option<String>,
    /// A file with all class names in their order: one name on each line, `NUMBER NAME` on each line, or JSON.
    /// Default: the names that occur, sorted.
    pub classes: Option<PathBuf>,
    /// Take whole files, and ignore the start and end in a manifest. Off by default.
    pub whole_files: bool,
    /// Shuffle the clips with this seed. Default: the order of the inputs.
    pub shuffle_seed: Option<u64>,
    /// The columns of manifests that become tracks. Default: none.
    pub tracks: Vec<TrackSpec>,
    /// Also take files outside the folders that are named as inputs. Off by default.
    ///
    /// Such files are the targets of links in these folders, and the absolute paths, paths with `..` and remote
    /// locations in manifests that were found there. A folder from somewhere else may hold links and manifests
    /// that lead to any file of this machine, and to any server with your credentials. A manifest or a
    /// [`root`](Self::root) that you name yourself may always lead anywhere.
    pub outside: bool,
    /// The options and the timeout for reading remote videos. Default: [`Storage::default`]. A cache is not used.
    pub storage: Storage,
}
