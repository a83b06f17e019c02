//! Checks that a data set is intact: every structure, id and checksum and, on demand, every image.

mod scan;

use std::collections::HashSet;
use std::path::Path;

use rayon::ThreadPool;
use serde::Serialize;

pub(crate) use self::scan::stops;
use crate::dataset::listing::{self, Listing, read_failures};
use crate::dataset::{Dataset, FailedSource, Shard, Source};
use crate::progress::{Counter, ProgressFn};
use crate::store::disk::folder_of;
use crate::store::location::is_remote;
use crate::store::storage::Storage;
use crate::threads;
use vidrec_format::{DatasetJson, Error, ErrorKind, Hint, NEWER, Result};

/// Checks the data set at `path`: a folder, a `.rec`, a `.vidx` or a `dataset.json`.
///
/// vidrec reads all files once from start to end. If [`deep`](VerifyOptions::deep) is set, it also decodes their
/// images. An item of `progress` is a frame that was read or decoded.
///
/// # Errors
///
/// There is nothing to check, because the path does not exist or is not a data set; the machine has too little
/// memory, too few threads or too few file descriptors ([`Resources`](vidrec_format::error::ErrorKind::Resources));
/// or `progress` stops the call ([`Interrupted`](vidrec_format::error::ErrorKind::Interrupted)). Damage to the data
/// set is not an error: it is in the report.
///
/// ```no_run
/// let report = vidrec::verify("train", vidrec::VerifyOptions { deep: true, ..vidrec::VerifyOptions::default() }, &mut vidrec::no_progress)?;
/// assert!(report.ok, "{:#?}", report.problems);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn verify(path: impl AsRef<Path>, options: VerifyOptions, progress: &mut ProgressFn<'_>) -> Result<VerifyReport> {
    let mut report = VerifyReport::default();
    let source = Source::of(path.as_ref(), &options.storage.clone().into())?;
    match listing::find(path.as_ref(), &source) {
        Ok(files) => verify_files(&files, &source, options, progress, &mut report)?,
        Err(e) if e.kind() == ErrorKind::Format => report.problems.push(e.into()),
        Err(e) => return Err(e),
    }
    report.ok = report.problems.is_empty();
    // A newer version reads what a repair would lose, and a repair cannot read what this could not.
    let is_beyond = |problem: &Problem| problem.is_unread || NEWER.contains(&problem.kind.as_str());
    if !report.ok && !is_remote(path.as_ref()) && !report.problems.iter().any(is_beyond) {
        report.hints.insert(0, Hint::Repair);
    }
    Ok(report)
}

fn verify_files(
    files: &Listing,
    source: &Source,
    options: VerifyOptions,
    progress: &mut ProgressFn<'_>,
    report: &mut VerifyReport,
) -> Result<()> {
    let pool = options.deep.then(|| threads::pool(None)).transpose()?;
    let passes = 1 + u64::from(options.deep);
    let total = files.json.as_ref().map(|(_, json)| json.frames.saturating_mul(passes));
    let counter = &mut Counter::new(total, progress);
    let mut earlier: Option<Shard> = None;
    for paths in &files.shards {
        let shard = match Shard::open_unbound(paths, source) {
            Ok(shard) => shard,
            Err(e) if stops(&e) => return Err(e),
            Err(e) => {
                report.problems.push(e.into());
                continue;
            }
        };
        report.problems.extend(shard.prove_listed(paths.listed.as_ref()).err().map(Problem::from));
        report.problems.extend(problems(&shard, pool.as_ref(), counter)?.into_iter().map(Problem::from));
        report.clips += shard.clip_count();
        report.frames += shard.index.header.frame_count;
        report.problems.extend(earlier.and_then(|earlier| shard.prove_follows(&earlier).err()).map(Problem::from));
        earlier = Some(shard);
    }
    let mut seen = HashSet::new();
    for clips in files.shards.iter().flat_map(|shard| &shard.added).filter(|clips| seen.insert(&clips.listed.file)) {
        report.problems.extend(scan::check_tracks(&clips.file, None, counter)?.0.into_iter().map(Problem::from));
    }
    match (&files.json, Dataset::open_files(files, None, source)) {
        (Some((path, json)), Ok(dataset)) => {
            // Of a remote data set, not all shards are open.
            let classes = earlier.map_or_else(Vec::new, |last| last.index.meta.classes);
            report.problems.extend(compare_listing(path, json, DatasetJson { classes, ..dataset.to_json() }));
        }
        (_, Err(e)) if e.rule() == Some("dataset-tracks") => report.problems.push(e.into()),
        (_, Err(e)) if stops(&e) => return Err(e),
        _ => {}
    }
    if let Some((path, json)) = &files.json {
        match source.twice(|| read_failures::<FailedSource>(path, json, source)) {
            Err(e) if stops(&e) => return Err(e),
            found => report.problems.extend(found.err().map(Problem::from)),
        }
        let leftover = if is_remote(path) { None } else { listing::leftover(folder_of(path)) };
        if let Some(leftover) = leftover {
            report.hints = leftover.hints;
            report.notes.push(leftover.note);
        }
    }
    Ok(())
}

/// The problems of a shard. This reads all of its files.
fn problems(shard: &Shard, pool: Option<&ThreadPool>, counter: &mut Counter<'_, '_>) -> Result<Vec<Error>> {
    let found = scan::check(shard, pool, counter)?;
    let of_tracks = shard.tracks.as_ref().map(|file| scan::check_tracks(file, Some(shard), counter)).transpose()?;
    let lost = shard.prove_whole().err();
    Ok(lost.into_iter().chain(found.0).chain(of_tracks.unwrap_or_default().0).collect())
}

/// Proves everything that [`verify`] proves of a shard without decoding its images. The error is its first problem.
///
/// # Errors
///
/// The shard is damaged, or `progress` stops the call.
pub fn prove(shard: &Shard, progress: &mut ProgressFn<'_>) -> Result<()> {
    let problems = problems(shard, None, &mut Counter::new(None, progress))?;
    problems.into_iter().next().map_or(Ok(()), Err)
}

/// Checks that `dataset.json` matches the indexes.
fn compare_listing(path: &Path, listed: &DatasetJson, rebuilt: DatasetJson) -> Option<Problem> {
    // The shards were already compared one by one. What the clips were packed from, and what was added, is in no index.
    let DatasetJson { shards, failures, packed_from, added_files, format_version, .. } = listed.clone();
    let same = DatasetJson { shards, failures, packed_from, added_files, format_version, ..rebuilt };
    if *listed == same {
        return None;
    }
    let what = if listed.classes != same.classes { "the class names" } else { "counts, settings or provenance" };
    let message = format!("{what} in dataset.json do not match the indexes");
    Some(Error::format("dataset-json", message).file(path).help("the indexes are right").hint(Hint::Repair).into())
}

/// Options of [`verify`](crate::dataset::verify::verify()).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Also decode every frame and compare its size with the clip's. Off by default.
    pub deep: bool,
    /// Options for reading a remote data set.
    pub storage: Storage,
}

/// The report of [`verify`](crate::dataset::verify::verify()). `vidrec verify --json` prints the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
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
    /// Steps that a caller can take about the problems and notes. Not in the JSON.
    #[serde(skip)]
    #[doc(hidden)]
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
    /// The problem in words.
    pub message: String,
    /// Whether the file could not be read, so that its contents are unknown.
    #[serde(skip)]
    is_unread: bool,
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
