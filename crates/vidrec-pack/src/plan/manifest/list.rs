//! Text without a header: a path, then its label or labels.
//!
//! UCF101's `trainlist`, mmaction2, PyTorchVideo and SlowFast use such files.
//!
//! If a line has tabs, they separate its columns. Otherwise, the separators are commas in a `.csv` if the line has
//! any, and else spaces. With spaces, the path may contain some too. The labels are then the whole numbers at the
//! end of the line, or the last word if it is neither a number nor a file name, or there are none. After a folder
//! of frames, the first of two or more numbers is the number of its frames, as in mmaction2's lists. It is kept as
//! the attribute `total_frames`.

use std::path::Path;

use super::columns::{ColumnRole, ColumnTally};
use super::context::Context;
use super::row::ManifestRow;
use crate::plan::extensions::has_video_ending;
use crate::plan::labels::{Classes, Label, Tag};
use crate::plan::text::lines;
use vidrec_format::error::Result;

/// The attribute for the number of frames in a manifest.
const TOTAL_FRAMES: &str = "total_frames";

pub(super) fn read(context: &Context<'_>, text: &[u8], columns: &mut ColumnTally) -> Result<Vec<ManifestRow>> {
    let mut most = 0;
    let mut rows: Vec<ManifestRow> = Vec::new();
    for (line, text) in lines(text) {
        let text = match text {
            Ok(text) => text,
            Err(what) => {
                rows.push(ManifestRow::bad(line, what));
                continue;
            }
        };
        let (path, fields) = split(context, text);
        most = most.max(fields.len());
        rows.push(row(context, line, path, &fields));
    }
    name_columns(&rows, most, columns);
    even_out(&mut rows);
    if let (Some(file), true) = (&context.options.classes, rows.iter().all(|row| row.label == Label::None)) {
        take_folders(&mut rows, &Classes::read(file)?);
        columns.add(ColumnRole::Label, "the first folder of the path");
    }
    Ok(rows)
}

/// Reports the use of the columns. `most` is the largest number of columns after the path.
fn name_columns(rows: &[ManifestRow], most: usize, columns: &mut ColumnTally) {
    columns.add_number(ColumnRole::Path, 1);
    let counted = rows.iter().any(|row| !row.attributes.is_empty());
    if counted {
        columns.add(ColumnRole::Attribute, TOTAL_FRAMES);
    }
    (usize::from(counted)..most).for_each(|field| columns.add_number(ColumnRole::Label, field + 2));
}

/// Whether the first line of a text names a video or a folder, and so is not a header.
pub(super) fn is_row(context: &Context<'_>, text: &[u8]) -> bool {
    lines(text).next().and_then(|(_, line)| line.ok()).is_some_and(|line| {
        let (path, _) = split(context, line);
        is_file_name(path) || (!path.is_empty() && context.path(path).exists())
    })
}

/// Splits a line into its path and its labels.
fn split<'a>(context: &Context<'_>, line: &'a str) -> (&'a str, Vec<&'a str>) {
    let csv = context.file.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
    let delimiter = if line.contains('\t') { Some('\t') } else { (csv && line.contains(',')).then_some(',') };
    if let Some(delimiter) = delimiter {
        let mut fields = line.split(delimiter).map(str::trim);
        let path = fields.next().unwrap_or_default();
        return (path, fields.filter(|f| !f.is_empty()).collect());
    }
    let line = line.trim();
    let mut path = line;
    let mut labels = Vec::new();
    while let Some((rest, number)) = path.rsplit_once(char::is_whitespace).filter(|(_, last)| is_number(last)) {
        labels.insert(0, number);
        path = rest.trim_end();
    }
    match path.rsplit_once(char::is_whitespace) {
        Some((rest, name)) if labels.is_empty() && !is_file_name(name) => (rest.trim_end(), vec![name]),
        _ => (path, labels),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a text ends like the name of a video.
pub(super) fn is_file_name(text: &str) -> bool {
    text.contains('.') && has_video_ending(Path::new(text))
}

fn row(context: &Context<'_>, line: u64, path: &str, fields: &[&str]) -> ManifestRow {
    let mut row = ManifestRow { path: path.to_owned(), ..ManifestRow::new(line) };
    let mut fields = fields;
    if let [frames, labels @ ..] = fields
        && !labels.is_empty()
        && is_number(frames)
        && context.path(path).is_dir()
    {
        row.attributes.insert(TOTAL_FRAMES.into(), frames.parse::<u64>().unwrap_or(u64::MAX).into());
        fields = labels;
    }
    let tag = |text: &&str| Tag::Name((*text).into());
    row.label = match fields {
        [] => Label::None,
        [one] => Label::One(tag(one)),
        many => Label::Many(many.iter().map(tag).collect()),
    };
    row
}

/// Gives all clips a list of labels if some clips have several.
fn even_out(rows: &mut [ManifestRow]) {
    if rows.iter().any(|row| matches!(row.label, Label::Many(_))) {
        for row in rows {
            row.label = Label::Many(row.label.tags().to_vec());
        }
    }
}

/// Takes the first folder as the class if the given classes include it. UCF101's `testlist` has no labels.
fn take_folders(rows: &mut [ManifestRow], classes: &Classes) {
    for row in rows {
        if let Some((folder, _)) = row.path.split_once('/').filter(|(folder, _)| classes.contains(folder)) {
            row.label = Label::name(folder);
        }
    }
}
