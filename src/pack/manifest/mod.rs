//! Lists of videos, one module for each format. They are told apart by the file's ending and its first line.
//!
//! ```text
//! .csv .tsv           a header that names a column of paths         table.rs
//!                     a header with youtube_id and time_start       kinetics.rs
//!                     no header: path and label                     list.rs
//! .jsonl .ndjson      an object a line                              json_lines.rs
//! .txt                path and label, in that order                 list.rs
//! .lst                MXNet: index, label or labels, path           lst.rs
//! .json               Something-Something: an array of objects      something.rs
//! ```
//!
//! Paths are written as sources are ([`source_name`]): `\xFF` is a byte that is no UTF-8, which a list could not hold.

mod columns;
mod json_lines;
mod kinetics;
mod list;
mod lookup;
mod lst;
mod something;
mod table;

use std::fmt;
use std::path::{Path, PathBuf};

use super::attributes::Attributes;
use super::inputs::{Found, InputOptions};
use super::labels::{Classes, Label, number_all};
use super::segment::Segment;
use crate::{Error, Result, source_name};

/// What the manifest at hand is read with.
pub(super) struct Context<'a> {
    /// The manifest.
    file: &'a Path,
    /// Where its paths begin.
    root: PathBuf,
    options: &'a InputOptions,
}

/// A line of a manifest.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Number of the line, or of the entry of an array, from 1.
    line: u64,
    path: String,
    label: Label,
    segment: Option<Segment>,
    split: Option<String>,
    attributes: Attributes,
}

/// What a manifest holds.
pub(super) struct Listing {
    pub found: Vec<Found>,
    /// Classes that come with the format.
    pub classes: Option<Classes>,
}

/// Which of the formats a file has, by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Table(u8),
    JsonLines,
    List,
    Lst,
    Json,
}

fn kind(path: &Path) -> Option<Kind> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "csv" => Some(Kind::Table(b',')),
        "tsv" => Some(Kind::Table(b'\t')),
        "jsonl" | "ndjson" => Some(Kind::JsonLines),
        "txt" => Some(Kind::List),
        "lst" => Some(Kind::Lst),
        "json" => Some(Kind::Json),
        _ => None,
    }
}

/// Reads a manifest; `None` for a file that is none, by its ending.
pub(super) fn read(file: &Path, options: &InputOptions) -> Result<Option<Listing>> {
    let Some(kind) = kind(file) else { return Ok(None) };
    let root = match &options.root {
        Some(root) => root.clone(),
        None => file.parent().unwrap_or(Path::new("")).to_owned(),
    };
    let context = Context { file, root, options };
    let mut classes = None;
    let mut rows = match kind {
        Kind::Table(delimiter) => table::read(&context, delimiter)?,
        Kind::JsonLines => json_lines::read(&context)?,
        Kind::List => list::read(&context)?,
        Kind::Lst => lst::read(&context)?,
        Kind::Json => {
            let (rows, own) = something::read(&context)?;
            classes = own;
            rows
        }
    };
    number_all(rows.iter_mut().map(|row| &mut row.label)).map_err(|(i, what)| {
        let Row { line, path, .. } = &rows[i];
        context.bad(*line, "label", format!("{path}: {what}"))
    })?;
    Ok(Some(Listing { found: rows.into_iter().map(|row| context.found(row)).collect(), classes }))
}

impl Context<'_> {
    /// A line that makes no sense.
    fn bad(&self, line: u64, column: &str, what: impl fmt::Display) -> Error {
        Error::usage(format!("line {line}, column \"{column}\": {what}")).file(self.file)
    }

    fn text(&self) -> Result<String> {
        let text = std::fs::read_to_string(self.file).map_err(|e| Error::io("read the manifest", self.file, e))?;
        Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }

    /// Where a path of the manifest leads.
    fn path(&self, name: &str) -> PathBuf {
        self.root.join(source_name::to_path(name))
    }

    fn found(&self, row: Row) -> Found {
        let Row { path, label, segment, split, attributes, .. } = row;
        let segment = segment.filter(|_| !self.options.whole_files);
        let path = source_name::to_path(&path);
        Found {
            source: source_name::of_path(&path),
            path: self.root.join(path),
            label,
            segment,
            split,
            attributes,
            fault: None,
        }
    }
}

/// The lines of a text that are not blank, without the spaces at their ends, and their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines().map(str::trim_end)).filter(|(_, line)| !line.trim().is_empty())
}

#[cfg(test)]
mod tests;
