//! What each frame is to show, as text: LeRobot's tasks.

use std::collections::HashMap;

use serde_json::Value;

use super::columns;
use crate::{Clip, Result, TrackSchema, TrackType};

/// The track with the number of the task of each frame, as a pack of several tasks in an episode writes it.
pub(super) const NUMBERS: &str = "task_index";

/// Tracks of texts that are tasks, the better one first.
const TEXTS: [&str; 2] = ["task", "caption"];

/// All tasks, numbered in the order of their first frames.
#[derive(Default)]
pub(super) struct Tasks {
    pub texts: Vec<String>,
    numbers: HashMap<String, i64>,
}

/// Where the tasks of frames come from.
pub(super) struct TaskSource<'a>(Option<&'a str>);

impl<'a> TaskSource<'a> {
    /// The track that has the tasks, if there is one.
    pub fn among(tracks: &'a [TrackSchema]) -> Self {
        let has = |name: &str, kind: TrackType| tracks.iter().any(|t| t.name == name && t.kind == kind);
        let texts = || TEXTS.into_iter().find(|name| has(name, TrackType::Utf8));
        TaskSource(Some(NUMBERS).filter(|name| has(name, TrackType::I64)).or_else(texts))
    }

    /// The track that it is; it is no column.
    pub fn track(&self) -> Option<&'a str> {
        self.0
    }

    /// The task of each frame: of the track, else the clip's attribute `task`, class or label.
    pub fn of(&self, clip: &Clip<'_>, tracks: &[TrackSchema]) -> Result<Vec<String>> {
        let attributes = clip.attributes()?.0;
        let whole = match attributes.get("task") {
            Some(Value::String(task)) => task.clone(),
            _ => match (&*clip.class()?, clip.label()) {
                ("", Some(label)) => label.to_string(),
                (class, _) => class.to_owned(),
            },
        };
        let texts = match self.0 {
            None => return Ok(vec![whole; clip.frame_count() as usize]),
            Some(NUMBERS) => numbered(clip, tracks, attributes.get("tasks"))?,
            Some(name) => columns::text_of(name, clip)?,
        };
        Ok(texts.into_iter().map(|text| if text.is_empty() { whole.clone() } else { text }).collect())
    }
}

/// Texts by the numbers in the clip's track, from its attribute `tasks`.
fn numbered(clip: &Clip<'_>, tracks: &[TrackSchema], texts: Option<&Value>) -> Result<Vec<String>> {
    let track = tracks.iter().find(|track| track.name == NUMBERS);
    let Some(track) = track.filter(|_| texts.is_some()) else {
        return Ok(vec![String::new(); clip.frame_count() as usize]);
    };
    let text =
        |number: &i64| texts.and_then(|all| all.get(number.to_string())?.as_str()).unwrap_or_default().to_owned();
    match columns::of(track, clip)?.values {
        crate::TrackValues::I64(numbers) => Ok(numbers.iter().map(text).collect()),
        _ => Ok(Vec::new()),
    }
}

impl Tasks {
    /// The number of a task, which is a new one if it is not known yet.
    pub fn number(&mut self, text: &str) -> i64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as i64;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}
