//! Manifests, one module for each format. Formats are told apart by the file's extension and its first line.
//!
//! ```text
//! .csv .tsv           a header that names a column of paths         table.rs
//!                     a header with youtube_id and time_start       ids.rs
//!                     no header: path and label                     list.rs
//! .jsonl .ndjson      an object on each line                        table.rs
//! .txt                path and label, in that order                 list.rs
//! .json               Something-Something: an array of objects      ids.rs
//! ```
//!
//! Paths are written like sources ([`source_name`]): `\xFF` is a byte that is not UTF-8 and that a manifest cannot
//! hold.

mod columns;
mod context;
mod ids;
mod list;
mod row;
mod table;

use std::path::{Path, PathBuf};

use super::job::FoundVideo;
use super::labels::{Classes, number_all};
use super::options::InputOptions;
use super::text;
use columns::ColumnTally;
pub use columns::ManifestColumns;
pub(crate) use context::row_tracks;
use context::{Context, ManifestLimits, ManifestVideos};
use row::in_column;
use vidrec_core::source_name;
use vidrec_core::store::location::is_remote;
use vidrec_format::error::{Error, Hint, Result};

/// The contents of a manifest.
pub(super) struct Manifest {
    pub videos: Vec<FoundVideo>,
    pub columns: ManifestColumns,
    /// The root of its paths.
    pub root: PathBuf,
    /// Classes that are part of the format.
    pub classes: Option<Classes>,
    /// Notes on its possible faults, for the caller to read before the work begins.
    pub notes: Vec<String>,
}

/// The format of a file by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ManifestFormat {
    Table(u8),
    JsonLines,
    List,
    Json,
}

fn format(path: &Path) -> Option<ManifestFormat> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "csv" => Some(ManifestFormat::Table(b',')),
        "tsv" => Some(ManifestFormat::Table(b'\t')),
        "jsonl" | "ndjson" => Some(ManifestFormat::JsonLines),
        "txt" => Some(ManifestFormat::List),
        "json" => Some(ManifestFormat::Json),
        _ => None,
    }
}

/// Whether a file is a manifest, by its extension.
pub(super) fn is_manifest(file: &Path) -> bool {
    format(file).is_some()
}

/// Whether a column of this name has a known meaning, such as the path.
pub(super) fn is_known_column(name: &str) -> bool {
    columns::ColumnRole::of(name) != columns::ColumnRole::Attribute
}

/// Reads a manifest. Returns `None` for a file that is not a manifest by its extension.
///
/// A manifest that was found in an input `folder` can only lead to files in it, unless the options allow more.
pub(super) fn read(file: &Path, folder: Option<&Path>, options: &InputOptions) -> Result<Option<Manifest>> {
    let Some(format) = format(file) else { return Ok(None) };
    let root = match &options.root {
        Some(root) => root.clone(),
        None => file.parent().unwrap_or(Path::new("")).to_owned(),
    };
    let limits = folder.filter(|_| !options.outside).map(|folder| ManifestLimits::new(file, folder, &root, options));
    let unit = if format == ManifestFormat::Json { "entry" } else { "line" };
    let context = Context { file, root, options, unit, limits: limits.transpose()? };
    let mut classes = None;
    let mut columns = ColumnTally::new(source_name::of_path(file));
    let mut found = ManifestVideos::default();
    let rows = match format {
        ManifestFormat::Table(delimiter) => {
            table::read(&context, delimiter, &mut columns, &mut found)?;
            Vec::new()
        }
        ManifestFormat::JsonLines => {
            table::read_json_lines(&context, &mut columns, &mut found)?;
            Vec::new()
        }
        ManifestFormat::List => {
            let bytes = context.bytes()?;
            list::read(&context, text::body(&bytes, file)?, &mut columns)?
        }
        ManifestFormat::Json => {
            let (rows, own) = ids::read_something(&context, &mut columns)?;
            classes = own;
            rows
        }
    };
    if matches!(format, ManifestFormat::Table(_) | ManifestFormat::JsonLines) {
        check_chosen(file, options, &columns)?;
    }
    rows.into_iter().try_for_each(|row| found.push(&context, row))?;
    let ManifestVideos { mut videos, lines, .. } = found;
    for (i, what) in number_all(videos.iter_mut().map(|video| &mut video.label)) {
        videos[i].fault.get_or_insert_with(|| context.fault(lines[i], in_column("label", what)));
    }
    let columns = columns.finish();
    let mut notes = columns::questions(&columns, options)?;
    notes.extend(bad_rows(&videos, &columns.manifest));
    notes.extend(nowhere(&videos, &columns.manifest));
    Ok(Some(Manifest { videos, columns, root: context.root, classes, notes }))
}

/// Refuses a column that an option names and that the manifest does not have.
fn check_chosen(file: &Path, options: &InputOptions, columns: &ColumnTally) -> Result<()> {
    let chosen = [
        ("path_column", &options.path_column),
        ("label_column", &options.label_column),
        ("caption_column", &options.caption_column),
        ("start_column", &options.start_column),
        ("end_column", &options.end_column),
    ];
    for (option, column) in chosen {
        if let Some(column) = column.as_deref().filter(|column| !columns.has(column)) {
            let e = Error::usage(format!("the manifest has no column {column:?}")).file(file);
            return Err(e.expected(format!("one of {}", columns::shown(&columns.names()))).hint(Hint::Unset(option)));
        }
    }
    Ok(())
}

/// Returns a note on the rows that make no sense.
fn bad_rows(videos: &[FoundVideo], manifest: &str) -> Option<String> {
    let mut bad = videos.iter().filter_map(|video| video.fault.as_deref());
    let first = bad.next()?;
    let (count, of) = (1 + bad.count(), videos.len());
    Some(format!("{count} of {of} rows of {manifest} will be skipped, such as {first}"))
}

/// The number of videos of a manifest that are looked for before the work begins.
const LOOKED_FOR: usize = 20;

/// Says where the videos were looked for, if none of the first is there.
fn nowhere(videos: &[FoundVideo], manifest: &str) -> Option<String> {
    let here = videos.iter().filter(|video| video.fault.is_none() && !is_remote(&video.path));
    let paths: Vec<&Path> = here.map(|video| &*video.path).take(LOOKED_FOR).collect();
    let first = std::path::absolute(paths.first()?).ok()?;
    if paths.iter().any(|path| path.exists()) {
        return None;
    }
    Some(format!(
        "{manifest}: none of its {}videos is there, such as {}; to look elsewhere, set root",
        if paths.len() < LOOKED_FOR { String::new() } else { format!("first {LOOKED_FOR} ") },
        first.display()
    ))
}

#[cfg(test)]
mod tests;
