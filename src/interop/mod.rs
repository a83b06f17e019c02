//! Import and export of other projects' data sets.
//!
//! | format | import | export | kept by an export and an import |
//! | --- | --- | --- | --- |
//! | MXNet RecordIO: [`mxnet`] | `.rec`, with `.idx` and `.lst` if present | links to the record files, `.idx`, `.lst` | JPEGs, labels, order, sources |
//! | folders of images: [`frames`] | one folder per clip | the same | everything |
//!
//! The Python package has WebDataset, MDS and LeRobot: `vidrec.convert`.
//!
//! "Everything" is without tracks: [`ExportReport::tracks_left_out`] names them.
//!
//! JPEGs stay unchanged, byte for byte, unless an option says otherwise. An import writes an ordinary data set. An
//! export writes a folder that appears under its name only when it is complete.
//!
//! ```
//! use vidrec::interop::{ImportOptions, frames, mxnet};
//! use vidrec::{ClipInfo, Dataset, FrameData, Writer, WriterOptions, no_progress};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let at = |name: &str| folder.path().join(name);
//! # let mut jpeg = Vec::new();
//! # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(64, 48)?, &mut jpeg)?;
//! # let mut writer = Writer::create(at("train"), WriterOptions::default())?;
//! # writer.append(&ClipInfo { label: Some(3), ..ClipInfo::default() }, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }; 2])?;
//! # writer.finish()?;
//! let train = Dataset::open(at("train"))?;
//! frames::export(&train, 0..train.len(), &at("jpegs"), &mut no_progress)?;
//! let options = &ImportOptions { retile: true, ..ImportOptions::default() };
//! let report = frames::import(&at("jpegs"), &at("again"), options, &mut no_progress)?;
//! assert_eq!((report.clips, report.frames), (1, 2));
//!
//! // Another program's record file, with two frames per clip.
//! mxnet::export(&train, &at("mxnet"), &mut no_progress)?;
//! let two = mxnet::MxnetOptions { frames_per_clip: Some(2), ..mxnet::MxnetOptions::default() };
//! mxnet::import(&[at("mxnet/shard-00000.rec")], &at("from-mxnet"), options, &two, &mut no_progress)?;
//! assert_eq!(Dataset::open(at("from-mxnet"))?.clip(0)?.label(), Some(3));
//! # Ok::<(), vidrec::Error>(())
//! ```

pub mod frames;
pub mod mxnet;
mod sink;

pub use sink::{ExportReport, ImportOptions, ImportReport, SkippedClip};
