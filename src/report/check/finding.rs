//! The options of a check of data sets, its findings, and its report.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Error;
use vidrec_format::words::unknown_variant;

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum FindingKind {
    /// All frames of a clip are black, or nearly.
    Black,
    /// All frames of a clip are of nearly one color.
    Uniform,
    /// All frames of a clip are very dark.
    Dark,
    /// Much of a clip is white, without any detail.
    BlownOut,
    /// All frames of a clip show the same.
    Frozen,
    /// Some frames of a clip repeat the one before.
    RepeatedFrames,
    /// The scene changes inside a clip.
    SceneCut,
    /// Clips of one data set show nearly the same.
    NearDuplicate,
    /// Clips of different data sets show nearly the same. A model would be tested with clips that it has seen in
    /// training.
    Leak,
    /// Clips that show nearly the same have different labels.
    LabelConflict,
    /// A frame is damaged: its bytes have another checksum, or they do not decode.
    Corrupt,
    /// Packing had to take another frame than the wanted one, or the video has known faults.
    Substituted,
    /// A version before 1.0.0 packed clips at a rate, and their containers round times: frames are missing, and others are
    /// repeated.
    RoundedTimes,
    /// A video was not packed.
    Failed,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [FindingKind; 14] = [
        FindingKind::Black,
        FindingKind::Uniform,
        FindingKind::Dark,
        FindingKind::BlownOut,
        FindingKind::Frozen,
        FindingKind::RepeatedFrames,
        FindingKind::SceneCut,
        FindingKind::NearDuplicate,
        FindingKind::Leak,
        FindingKind::LabelConflict,
        FindingKind::Corrupt,
        FindingKind::Substituted,
        FindingKind::RoundedTimes,
        FindingKind::Failed,
    ];

    /// Whether finding this kind requires decoding the frames.
    pub(super) fn needs_frames(self) -> bool {
        !matches!(self, FindingKind::Substituted | FindingKind::RoundedTimes | FindingKind::Failed)
    }

    /// Whether finding this kind requires comparing clips with each other.
    pub(super) fn is_of_pairs(self) -> bool {
        matches!(self, FindingKind::NearDuplicate | FindingKind::Leak | FindingKind::LabelConflict)
    }
}

/// A clip of one of the checked data sets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FoundClip {
    /// Which data set, counted from 0 in the order in which they were given.
    pub set: usize,
    /// The number of the clip in its data set.
    pub clip: u64,
    /// Its source.
    pub source: String,
    /// Its class, or its label as text; `None` without a label.
    pub class: Option<String>,
}

/// A video that was not packed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailedVideo {
    /// Which data set, counted from 0 in the order in which they were given.
    pub set: usize,
    /// Its source.
    pub source: String,
}

/// Something in a data set that a person should look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The clips of the finding. Usually this is one clip. For duplicates, leaks and conflicts, it is the whole
    /// group; for duplicates and leaks, the first one is the best: it has the largest pictures, and of those the most
    /// frames. For rounded times, it is all of a data set. For failures, there are none.
    pub clips: Vec<FoundClip>,
    /// For failures: the videos that failed with the same message. Otherwise empty.
    pub videos: Vec<FailedVideo>,
    /// The frames of the clip that the finding concerns, counted from 0; empty if it concerns the whole clip.
    pub frames: Vec<u32>,
    /// The measured value, in the unit that the text names.
    pub value: Option<f64>,
    /// The finding in a sentence, without the name of the clip.
    pub text: String,
}

impl Finding {
    /// Creates a finding about a clip that the caller fills in.
    pub(super) fn new(kind: FindingKind, value: Option<f64>, text: String) -> Self {
        Finding { kind, clips: Vec::new(), videos: Vec::new(), frames: Vec::new(), value, text }
    }
}

/// The report of [`check`](super::check). `vidrec check --json` prints the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// The checked data sets, in the order in which they were given.
    pub sets: Vec<CheckedSet>,
    /// The number of clips that were looked at, in all data sets.
    pub clips: u64,
    /// The number of frames that were decoded; 0 if no kind of finding needs them.
    pub frames: u64,
    /// The number of findings of each kind that was looked for.
    pub counts: BTreeMap<FindingKind, u64>,
    /// The findings, by kind, and within a kind in order of the clips.
    pub findings: Vec<Finding>,
}

/// A data set that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckedSet {
    /// The folder or location of its first record file.
    pub location: String,
    /// The number of its clips.
    pub clips: u64,
    /// The number of its frames.
    pub frames: u64,
    /// The number of its clips that are in findings.
    pub found_clips: u64,
    /// The number of its videos that were not packed, as far as its `dataset.json` lists them.
    pub failed_videos: u64,
}

impl CheckReport {
    /// Whether there are no findings.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Options of [`check`](super::check).
///
/// ```
/// use vidrec::check::{CheckOptions, FindingKind};
///
/// let options = CheckOptions { kinds: vec![FindingKind::Leak], ..CheckOptions::default() };
/// assert_eq!(options.distance, CheckOptions::DEFAULT_DISTANCE);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOptions {
    /// The kinds of findings to look for. Default: all. Frames are read only if a kind needs them.
    pub kinds: Vec<FindingKind>,
    /// The number of threads that decode frames; `None`, the default, for one per core. The report is the same for
    /// any number.
    pub threads: Option<usize>,
    /// The difference up to which two clips count as nearly the same.
    ///
    /// This is the number of different bits of a perceptual hash of 256 bits, averaged over its frames. Default
    /// [`DEFAULT_DISTANCE`](Self::DEFAULT_DISTANCE); 0 finds only copies; at most
    /// [`MAX_DISTANCE`](Self::MAX_DISTANCE).
    pub distance: u32,
}

impl CheckOptions {
    /// The default of [`distance`](Self::distance).
    ///
    /// It comes from a collection of 366 real clips. Videos that were encoded again, at other sizes and by other
    /// codecs, differed in up to 11 bits. Other moments in front of the same camera differed in 23 or more.
    pub const DEFAULT_DISTANCE: u32 = 16;

    /// The largest [`distance`](Self::distance). Pictures that have nothing in common differ in 128 bits on
    /// average.
    pub const MAX_DISTANCE: u32 = 64;

    /// Whether the options ask for this kind of finding.
    pub(super) fn wants(&self, kind: FindingKind) -> bool {
        self.kinds.contains(&kind)
    }
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { kinds: FindingKind::ALL.to_vec(), threads: None, distance: CheckOptions::DEFAULT_DISTANCE }
    }
}
