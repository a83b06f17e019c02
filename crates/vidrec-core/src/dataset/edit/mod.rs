//! New data sets out of old ones: merge, append, split, subset, remove, with other labels, attributes or shards. Tracks and
//! attributes that a data set gets after it was packed: [`TrackAdder`].
//!
//! Each edit is a plan: the clips of which data sets, in which order, and with which descriptions. One module carries
//! out all plans. It copies JPEGs byte for byte. It compares the CRC-32 of each JPEG on
//! the way, so a damaged clip stops the work instead of spreading. Outputs appear whole or not at all, as with
//! [`Writer`](crate::dataset::writer::Writer), and no output may be an input.
//!
//! [`split_clips`] and [`subset_clips`] only return the chosen clips, for callers that want a view without a copy.
//!
//! ```
//! use vidrec::{Dataset, Sharding};
//! use vidrec::edit::{self, Changes, EditOptions, Selection};
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
//! let report = edit::subset(&set, &zeros, &Changes::default(), &some, &options, &mut vidrec::no_progress)?;
//! assert_eq!((report.clips, Dataset::open(&some)?.len()), (2, 2));
//! # Ok::<(), vidrec::Error>(())
//! ```

mod in_place;
mod merge;
mod meta;
mod plan;
mod remove;
mod selection;
mod split;
mod subset;
#[cfg(test)]
mod tests;
mod tracks;

pub use merge::{append, merge};
pub(crate) use meta::merged_meta;
pub use meta::{joined_classes, joined_meta};
pub use plan::{EditOptions, EditReport};
pub(crate) use plan::{copy_clip, draws_per_video};
pub use remove::remove;
pub use selection::{ClipList, Selection, subset_clips};
pub use split::{KeepTogether, RatioSplit, split, split_clips};
pub use subset::{Change, Changes, Key, keys_by_clip, subset};
pub use tracks::{TrackAdder, TracksReport, remove_tracks};
