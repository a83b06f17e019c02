//! `meta/tasks.parquet`: the texts of tasks by their numbers.

use std::path::Path;

use crate::track::ParquetRows;
use vidrec_dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};

const TASKS: &str = "meta/tasks.parquet";

/// Reads the texts of tasks and their numbers.
pub(super) fn read(folder: &Path) -> Result<Vec<(String, i64)>> {
    let path = folder.join(TASKS);
    pairs(&path).map_err(|e| e.file(&path))
}

fn pairs(path: &Path) -> Result<Vec<(String, i64)>> {
    let rows = ParquetRows::open(path)?;
    // The name that pandas gives to an index without a name.
    let text = if rows.has("task") { "task" } else { "__index_level_0__" };
    let all = 0..rows.rows();
    match (rows.column(text, all.clone())?.values, rows.column("task_index", all)?.values) {
        (TrackValues::Texts(texts), TrackValues::I64(numbers)) if texts.len() == numbers.len() => {
            Ok(texts.into_iter().zip(numbers).collect())
        }
        _ => Err(Error::usage("each task needs one text and one number")),
    }
}
