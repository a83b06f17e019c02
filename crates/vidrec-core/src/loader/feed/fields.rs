//! Attributes that come with the batches, and their types.

use rayon::prelude::*;
use serde_json::Value;

use super::worker::WorkerPool;
use crate::dataset::{Clip, Dataset};
use crate::loader::batch::Field;
use vidrec_format::SectionId;
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;

/// The type of an attribute's value in one clip, or in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Missing,
    Integer,
    Float,
    Text,
    Json,
}

impl Type {
    fn of(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Type::Missing,
            Some(Value::Number(number)) if number.is_i64() => Type::Integer,
            Some(Value::Number(_)) => Type::Float,
            Some(Value::String(_)) => Type::Text,
            Some(_) => Type::Json,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Type::Missing => "nothing",
            Type::Integer | Type::Float => "a number",
            Type::Text => "text",
            Type::Json => "a list, an object, true or false",
        }
    }
}

/// The attributes that come with the batches, and their types.
#[derive(Debug)]
pub(crate) struct FieldTypes(Vec<(String, Type)>);

impl FieldTypes {
    /// Reads the attributes of every clip, if there are fields.
    ///
    /// # Errors
    ///
    /// No clip has a field, or the type of a field changes.
    pub fn find(dataset: &Dataset, names: &[String], workers: &WorkerPool) -> Result<Self> {
        if names.is_empty() {
            return Ok(FieldTypes(Vec::new()));
        }
        dataset.prefetch_all(&[SectionId::CLIPS, SectionId::STRINGS])?;
        let types = |ordinal: u64| -> Result<Vec<Type>> {
            let attributes = dataset.clip(ordinal)?.attributes()?;
            Ok(names.iter().map(|name| Type::of(attributes.find(name))).collect())
        };
        let clips = workers.install(|| (0..dataset.len()).into_par_iter().map(types).collect::<Vec<_>>());
        let clips: Vec<Vec<Type>> = clips.into_iter().collect::<Result<_>>()?;
        let field = |(i, name): (usize, &String)| match common(name, clips.iter().map(|types| types[i]))? {
            Type::Missing => Err(missing(dataset, name)?),
            kind => Ok((name.clone(), kind)),
        };
        names.iter().enumerate().map(field).collect::<Result<_>>().map(FieldTypes)
    }

    /// The fields of a batch of these clips.
    pub fn of<'a>(&self, clips: impl Iterator<Item = &'a Clip<'a>>) -> Result<Vec<(String, Field)>> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let attributes: Vec<JsonObject> = clips.map(Clip::attributes).collect::<Result<_>>()?;
        Ok(self.0.iter().map(|(name, kind)| (name.clone(), field(*kind, name, &attributes))).collect())
    }
}

/// The type of a field whose values have these types, clip after clip; [`Type::Missing`] if no clip has the field.
fn common(name: &str, types: impl Iterator<Item = Type>) -> Result<Type> {
    let (mut found, mut first, mut misses) = (Type::Missing, 0, false);
    for (clip, kind) in (0u64..).zip(types) {
        found = match (found, kind) {
            (_, Type::Missing) => {
                misses = true;
                found
            }
            (Type::Missing, kind) => {
                first = clip;
                kind
            }
            (Type::Integer | Type::Float, Type::Float) | (Type::Float, Type::Integer) => Type::Float,
            (before, kind) if before == kind => kind,
            (before, kind) => {
                return Err(Error::usage(format!("loader option fields: the type of \"{name}\" changes"))
                    .in_clip(clip)
                    .expected(format!("{}, as in clip {first}", before.name()))
                    .found(kind.name()));
            }
        };
    }
    Ok(if found == Type::Integer && misses { Type::Float } else { found })
}

/// The error about an attribute that no clip has. It names those of the first clip.
fn missing(dataset: &Dataset, name: &str) -> Result<Error> {
    let e = Error::usage(format!("loader option fields: no clip has the attribute \"{name}\""));
    let names = dataset.clip(0)?.attributes()?.0.keys().cloned().collect::<Vec<_>>();
    Ok(if names.is_empty() { e } else { e.expected(format!("one of {}", names.join(", "))) })
}

fn field(kind: Type, name: &str, clips: &[JsonObject]) -> Field {
    let values = || clips.iter().map(|attributes| attributes.find(name).filter(|value| !value.is_null()));
    match kind {
        Type::Integer => Field::Integers(values().map(|v| v.and_then(Value::as_i64).unwrap_or(0)).collect()),
        Type::Float => Field::Floats(values().map(|v| v.and_then(Value::as_f64).unwrap_or(f64::NAN)).collect()),
        Type::Text => Field::Texts(values().map(|v| v.and_then(Value::as_str).map(str::to_owned)).collect()),
        Type::Json | Type::Missing => Field::Json(values().map(|v| v.map(Value::to_string)).collect()),
    }
}
