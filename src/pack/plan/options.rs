//! How inputs are read.

use std::path::PathBuf;

use crate::Storage;
use crate::pack::track::TrackSpec;

/// How inputs are read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InputOptions {
    /// Folder that the paths of manifests, and those of the videos of a LeRobot data set, are relative to, or a remote
    /// location such as `s3://bucket/videos`. Default: the manifest's own folder, or that of the data set.
    pub root: Option<PathBuf>,
    /// Take only the clips of this split, as a manifest's column `split` names it. Default: all.
    pub split: Option<String>,
    /// A file with all class names in their order: one a line, `NUMBER NAME` a line, or JSON. Default: the names that
    /// occur, sorted.
    pub classes: Option<PathBuf>,
    /// Take whole files, whatever start and end a manifest gives. Off by default.
    pub whole_files: bool,
    /// Shuffle the clips with this seed. Default: the order of the inputs.
    pub shuffle_seed: Option<u64>,
    /// Which columns of manifests become tracks. Default: none.
    pub tracks: Vec<TrackSpec>,
    /// Take also what lies outside the folders that are named as inputs: what links in them lead to, and absolute paths, paths
    /// with `..` and remote locations of lists that were found in them. Off by default, because a folder from somewhere else
    /// may hold links and lists that lead to any file of this machine, and to any server with your credentials. What you
    /// name yourself, a list or a [`root`](Self::root), may always lead anywhere.
    pub outside: bool,
    /// How remote videos are read: its options and its timeout. Default: [`Storage::default`]. A cache is not used.
    pub storage: Storage,
}
