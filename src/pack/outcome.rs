//! What became of a video: the same for the report, for the journal and for a resumed run.

use serde::{Deserialize, Serialize};

use super::clip::PackedClip;
use super::fingerprint::Stamp;
use super::report::{Failure, Troubles};
use crate::ClipInfo;

/// A video that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Done {
    /// Its place in the plan, from 0.
    pub item: u64,
    /// Size and time of the file, taken before it was read.
    pub stamp: Option<Stamp>,
    pub outcome: Outcome,
}

/// Packed or left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Packed { clips: Vec<Stored>, troubles: Box<Troubles> },
    Failed(Failure),
}

/// A clip whose frames are in the record file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Stored {
    pub info: ClipInfo,
    pub frames: u32,
}

impl Stored {
    pub fn new(packed: &PackedClip) -> Self {
        Stored { info: packed.info.clone(), frames: u32::try_from(packed.frames.len()).unwrap_or(u32::MAX) }
    }
}
