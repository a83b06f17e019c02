//! Checks that a data set is intact: every structure, id and checksum and, on demand, every image.

mod pictures;
mod report;
mod scan;
mod tracks;

use std::path::Path;

use sha2::{Digest, Sha256};

use self::pictures::Pictures;
pub use self::report::{Problem, VerifyOptions, VerifyReport};
use crate::dataset::Dataset;
use crate::dataset::listing::Listing;
use crate::dataset::{Shard, Source, listing};
use crate::progress::{Counter, ProgressFn};
use crate::store::disk::folder_of;
use crate::store::location::is_remote;
use crate::threads;
use vidrec_format::NEWER;
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::DatasetJson;
use vidrec_format::error::{Error, ErrorKind, Hint, Result};

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
    let mut report =
        VerifyReport { ok: false, clips: 0, frames: 0, problems: Vec::new(), notes: Vec::new(), hints: Vec::new() };
    let source = Source::of(path.as_ref(), &options.storage.clone().into())?;
    match listing::find(path.as_ref(), &source) {
        Ok(files) => verify_files(&files, &source, options, progress, &mut report)?,
        Err(e) if e.kind() == ErrorKind::Format => report.problems.push(e.into()),
        Err(e) => return Err(e),
    }
    report.ok = report.problems.is_empty();
    // Repair refuses files of a newer version, and cannot read what this could not.
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
    for paths in &files.shards {
        let shard = match Shard::open_unbound(paths, source) {
            Ok(shard) => shard,
            Err(e) if scan::stops(&e) => return Err(e),
            Err(e) => {
                report.problems.push(e.into());
                continue;
            }
        };
        report.problems.extend(shard.prove_listed(paths.listed.as_ref()).err().map(Problem::from));
        let mut pictures = pool.as_ref().map(|pool| Pictures::of(&shard, pool));
        report.problems.extend(problems(&shard, pictures.as_mut(), counter)?.into_iter().map(Problem::from));
        report.clips += shard.clip_count();
        report.frames += shard.index.header.frame_count;
    }
    match (&files.json, Dataset::open_files(&files.shards, source)) {
        (Some((path, json)), Ok(dataset)) => report.problems.extend(compare_listing(path, json, &dataset)),
        (_, Err(e)) if matches!(e.rule(), Some("dataset-classes" | "dataset-tracks")) => report.problems.push(e.into()),
        (_, Err(e)) if scan::stops(&e) => return Err(e),
        _ => {}
    }
    if let Some((path, json)) = &files.json {
        match source.twice(|| verify_failures(path, json, source)) {
            Err(e) if scan::stops(&e) => return Err(e),
            found => report.problems.extend(found.err().map(Problem::from)),
        }
        let leftovers = if is_remote(path) { Vec::new() } else { listing::leftovers(folder_of(path)) };
        report.hints = leftovers.iter().flat_map(|leftover| leftover.hints.iter().copied()).collect();
        report.notes = leftovers.into_iter().map(|leftover| leftover.note).collect();
    }
    Ok(())
}

/// The problems of a shard. This reads all of its files.
fn problems<'a>(
    shard: &'a Shard,
    pictures: Option<&mut Pictures<'a>>,
    counter: &mut Counter<'_, '_>,
) -> Result<Vec<Error>> {
    let mut problems = scan::shard(shard, pictures, counter)?;
    problems.append(&mut tracks::check(shard, counter)?);
    if let Err(e) = shard.prove_whole() {
        problems.insert(0, e);
    }
    Ok(problems)
}

/// Proves everything that [`verify`] proves of a shard without decoding its images. The error is its first problem.
#[doc(hidden)]
pub fn prove(shard: &Shard, progress: &mut ProgressFn<'_>) -> Result<()> {
    let problems = problems(shard, None, &mut Counter::new(None, progress))?;
    problems.into_iter().next().map_or(Ok(()), Err)
}

/// Checks that `dataset.json` matches the indexes.
fn compare_listing(path: &Path, listed: &DatasetJson, dataset: &Dataset) -> Option<Problem> {
    let rebuilt = dataset.to_json();
    // The shards were already compared one by one. What the clips were packed from is in no index.
    let DatasetJson { shards, failures, packed_from, .. } = listed.clone();
    let same = DatasetJson { shards, failures, packed_from, ..rebuilt };
    let what = match () {
        () if listed.classes != same.classes => "the class names",
        () if *listed != same => "counts, settings or provenance",
        () => return None,
    };
    let message = format!("{what} in dataset.json do not match the indexes");
    Some(Error::format("dataset-json", message).file(path).help("the indexes are right").hint(Hint::Repair).into())
}

/// Checks that the list of failures is the one that `dataset.json` lists.
fn verify_failures(listing: &Path, json: &DatasetJson, source: &Source) -> Result<()> {
    let Some(listed) = &json.failures else { return Ok(()) };
    let path = listing.with_file_name(&listed.file);
    let bytes = source.read(&path)?;
    let found = hex(&Sha256::digest(&bytes));
    if found == listed.sha256 {
        return Ok(());
    }
    Err(Error::format("failures-digest", "the list of failures is not the one that dataset.json lists")
        .file(path)
        .expected(format!("SHA-256 {}", listed.sha256))
        .found(found))
}
