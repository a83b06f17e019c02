//! `meta/tasks.parquet`: texts of tasks by their numbers.

use std::path::Path;

use crate::pack::track::ParquetRows;
use crate::writer::TrackValues;
use crate::{Error, Result};

const TASKS: &str = "meta/tasks.parquet";

/// The texts of tasks and their numbers.
pub(super) fn read(folder: &Path) -> Result<Vec<(String, i64)>> {
    let path = folder.join(TASKS);
    pairs(&path).map_err(|e| e.file(&path))
}

fn pairs(path: &Path) -> Result<Vec<(String, i64)>> {
    let rows = ParquetRows::open(path)?;
    // pandas calls an index without a name so.
    let text = if rows.has("task") { "task" } else { "__index_level_0__" };
    let all = 0..rows.rows();
    match (rows.column(text, all.clone())?.values, rows.column("task_index", all)?.values) {
        (TrackValues::Texts(texts), TrackValues::I64(numbers)) if texts.len() == numbers.len() => {
            Ok(texts.into_iter().zip(numbers).collect())
        }
        _ => Err(Error::usage("there is not one text and one number for each task")),
    }
}
