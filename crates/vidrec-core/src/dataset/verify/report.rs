//! The options and the report of [`verify`](crate::dataset::verify::verify()).

use serde::Serialize;

use crate::store::storage::Storage;
use vidrec_format::{Error, ErrorKind, Hint};

/// Options of [`verify`](crate::dataset::verify::verify()).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Also decode every frame and compare its size with the clip's. Off by default.
    pub deep: bool,
    /// How a remote data set is read.
    pub storage: Storage,
}

/// The report of [`verify`](crate::dataset::verify::verify()). `vidrec verify --json` prints the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Whether there are no problems.
    pub ok: bool,
    /// Number of clips in the shards that could be opened.
    pub clips: u64,
    /// Number of frames in the shards that could be opened.
    pub frames: u64,
    /// All problems, in order of location.
    pub problems: Vec<Problem>,
    /// Notes that are not problems: what an interrupted pack or another writer left in the folder.
    pub notes: Vec<String>,
    /// What a caller can do about the problems and notes. Not in the JSON.
    #[serde(skip)]
    pub hints: Vec<Hint>,
}

/// One problem of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// Identifier of the broken rule, from `format-spec/vidrec-v1.md`.
    pub kind: String,
    /// The file at fault.
    pub file: String,
    /// Ordinal of the clip in its shard.
    pub clip: Option<u64>,
    /// Ordinal of the frame in its clip.
    pub frame: Option<u32>,
    /// Byte offset in the file.
    pub offset: Option<u64>,
    /// What is wrong, in words.
    pub message: String,
    /// Whether the file could not be read, so that nobody knows what is in it.
    #[serde(skip)]
    pub(super) is_unread: bool,
}

impl From<Error> for Problem {
    fn from(e: Error) -> Self {
        let kind = e.rule().unwrap_or(match e.kind() {
            ErrorKind::Io => "io",
            ErrorKind::Limit => "limit",
            ErrorKind::Resources => "resources",
            ErrorKind::Decode => "jpeg-decode",
            _ => "structure",
        });
        Problem {
            kind: kind.to_owned(),
            file: e.path().map(|p| p.display().to_string()).unwrap_or_default(),
            clip: e.clip(),
            frame: e.frame(),
            offset: e.offset(),
            message: format!("{e:#}"),
            is_unread: matches!(e.kind(), ErrorKind::Io | ErrorKind::Resources) && !e.is_missing(),
        }
    }
}
