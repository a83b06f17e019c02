//! Finds the task of each frame, as text: LeRobot's tasks.

use std::collections::HashMap;

use serde_json::Value;

use super::columns;
use vidrec_core::dataset::Clip;
use vidrec_format::error::Result;
use vidrec_format::track::schema::{TrackSchema, TrackType};

/// The track with the number of each frame's task. A pack writes it if an episode has several tasks.
pub(super) const NUMBERS: &str = "task_index";

/// The tracks of texts that are tasks, the preferred one first.
const TEXTS: [&str; 2] = ["task", "caption"];

/// All tasks, numbered in the order of their first frames.
#[derive(Default)]
pub(super) struct Tasks {
    pub texts: Vec<String>,
    numbers: HashMap<String, i64>,
}

/// The source of the frames' tasks.
pub(super) struct TaskSource<'a>(Option<&'a str>);

impl<'a> TaskSource<'a> {
    /// Returns the track that holds the tasks, if there is one.
    pub fn among(tracks: &'a [TrackSchema]) -> Self {
        let has = |name: &str, kind: TrackType| tracks.iter().any(|t| t.name == name && t.kind == kind);
        let texts = || TEXTS.into_iter().find(|name| has(name, TrackType::Utf8));
        TaskSource(Some(NUMBERS).filter(|name| has(name, TrackType::I64)).or_else(texts))
    }

    /// Returns the name of this track, which does not become a column.
    pub fn track(&self) -> Option<&'a str> {
        self.0
    }

    /// Returns the task of each frame, from the track, or else the clip's attribute `task`, class or label.
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

/// Returns the texts for the numbers in the clip's track, from its attribute `tasks`.
fn numbered(clip: &Clip<'_>, tracks: &[TrackSchema], texts: Option<&Value>) -> Result<Vec<String>> {
    let track = tracks.iter().find(|track| track.name == NUMBERS);
    let Some(track) = track.filter(|_| texts.is_some()) else {
        return Ok(vec![String::new(); clip.frame_count() as usize]);
    };
    let text =
        |number: &i64| texts.and_then(|all| all.get(number.to_string())?.as_str()).unwrap_or_default().to_owned();
    match columns::of(track, clip)?.values {
        vidrec_core::dataset::writer::TrackValues::I64(numbers) => Ok(numbers.iter().map(text).collect()),
        _ => Ok(Vec::new()),
    }
}

impl Tasks {
    /// Returns the number of a task. A task that is not yet known gets a new number.
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
