//! `meta/tasks.parquet`, or in version 2 `meta/tasks.jsonl`: the texts of tasks by their numbers.

use std::path::Path;

use serde::Deserialize;

use super::lines;
use crate::track::ParquetRows;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};

const TASKS: &str = "meta/tasks.parquet";
const TASKS_2: &str = "meta/tasks.jsonl";

/// A task in version 2.
#[derive(Deserialize)]
struct TaskLine {
    task_index: i64,
    task: String,
}

/// Reads the texts of tasks and their numbers. `version_2` says in which file they are.
pub(super) fn read(folder: &Path, version_2: bool) -> Result<Vec<(String, i64)>> {
    if version_2 {
        let tasks = lines::read(&folder.join(TASKS_2))?;
        return Ok(tasks.into_iter().map(|TaskLine { task_index, task }| (task, task_index)).collect());
    }
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
