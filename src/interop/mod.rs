//! Data sets of other projects, both ways.
//!
//! | format | in | out | kept on the way out and in again |
//! | --- | --- | --- | --- |
//! | MXNet RecordIO: [`mxnet`] | `.rec` with `.idx` and `.lst` if there are any | links to the record files, `.idx`, `.lst` | JPEGs, labels, order, sources |
//! | GulpIO: [`gulp`] | `.gulp`, `.gmeta` | the same | everything |
//! | WebDataset: [`webdataset`] | tar files, a clip a sample | the same | everything |
//! | folders of pictures: [`frames`] | a folder a clip | the same | everything |
//! | MosaicML MDS: [`mds`] | | shards, a clip a sample | |
//! | tables: [`metadata`] | | CSV, JSON lines, Parquet | |
//! | MP4: `preview` | | H.264, for people to look at (feature `pack`) | |
//!
//! JPEGs go through unchanged, byte for byte, but where an option says otherwise. An import writes a data set as any
//! other; an export writes into a folder that appears under its name only when it is whole.

mod clip_json;
mod folder;
pub mod frames;
pub mod gulp;
pub mod mds;
pub mod metadata;
pub mod mxnet;
#[cfg(feature = "pack")]
pub mod preview;
mod report;
mod sink;
mod text;
pub mod webdataset;

pub use report::{ExportReport, ImportReport, LeftOut};
pub use sink::ImportOptions;
