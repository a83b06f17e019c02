//! New data sets out of old ones: merge, split, subset, reshard, append, relabel.
//!
//! Each of them is a plan: which clips of which data sets, in which order, and what is said of them from now on. One
//! place carries plans out. JPEGs are copied byte for byte, never decoded or encoded, and the CRC-32 of each is compared
//! on the way, so a damaged clip stops the work instead of spreading. Outputs appear whole or not at all, as
//! [`Writer`](crate::Writer) has it, and no output may be an input.
//!
//! ```
//! use vidrec::Dataset;
//! use vidrec::edit::{self, EditOptions, Selection, Sharding};
//! # let dir = tempfile::tempdir().unwrap();
//! # let (all, some) = (dir.path().join("all"), dir.path().join("some"));
//! # let mut jpeg = Vec::new();
//! # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
//! # let mut writer = vidrec::Writer::create(&all, vidrec::WriterOptions::default())?;
//! # for label in [0, 1, 0] {
//! #     let clip = vidrec::ClipInfo { label: Some(label), ..vidrec::ClipInfo::default() };
//! #     writer.append(&clip, &[vidrec::FrameData { jpeg: &jpeg, pts: 0, source_index: None }])?;
//! # }
//! # writer.finish()?;
//!
//! let set = Dataset::open(&all)?;
//! let zeros = Selection { classes: vec!["0".into()], ..Selection::default() };
//! let options = EditOptions { shards: Some(Sharding::Count(1)), ..EditOptions::default() };
//! let report = edit::subset(&set, &zeros, &some, &options, &mut |_clips| ())?;
//! assert_eq!((report.clips, Dataset::open(&some)?.len()), (2, 2));
//! # Ok::<(), vidrec::Error>(())
//! ```

mod append;
mod classes;
mod copy;
mod groups;
mod merge;
mod meta;
mod plan;
mod relabel;
mod relink;
mod split;
mod subset;

use std::path::Path;

use serde::Serialize;

use self::plan::Plan;
pub use crate::writer::Sharding;
use crate::{Dataset, Result};
pub use append::append;
pub(crate) use groups::draws;
pub use merge::merge;
pub(crate) use meta::merged_meta;
#[cfg(feature = "pack")]
pub(crate) use plan::as_it_is;
pub use relabel::{Change, Key, Relabeling, relabel};
pub use split::{SplitBy, split};
pub use subset::{Selection, subset};

/// How an output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditOptions {
    /// How clips are spread over shards. Default `None`: a shard ends where the shard that its clips come from ends.
    pub shards: Option<Sharding>,
    /// Replace a data set that is already there. Off by default: then it is an error.
    pub overwrite: bool,
}

/// What was written. This is also what the program prints with `--json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EditReport {
    /// The folder of the output.
    pub output: String,
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Bytes of record and index files together.
    pub bytes: u64,
    /// Number of shards.
    pub shards: u64,
    /// Clips of the inputs that are not in this output.
    pub left_out: u64,
    /// What was named in a list or a table but is not in the data set, in the order of the list.
    pub not_found: Vec<String>,
    /// What else is worth knowing: settings that differ, things that were not copied.
    pub notes: Vec<String>,
}

/// Copies a data set into other shards.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): `out` is an input or holds a data set already.
/// [`Format`](crate::ErrorKind::Format): the input is damaged. [`Io`](crate::ErrorKind::Io) from the file system.
pub fn reshard(
    set: &Dataset,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<EditReport> {
    copy::run_one(&Plan::whole(set)?, out.as_ref(), options, progress)
}
