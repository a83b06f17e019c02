//! All options of a pack, and which of them determine the bytes.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::plan::InputOptions;
use super::track::PlannedTrack;
use super::work::{ClipRecipe, FrameOptions, LimitOptions, PictureOptions, Resources, VideoStore};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::words::unknown_variant;

/// The options of a pack. The same inputs and options give the same bytes, whatever [`Resources`] the pack uses.
///
/// ```
/// use vidrec::pack::{FrameChoice, FrameOptions, PackOptions, PictureOptions};
///
/// let options = PackOptions {
///     frames: FrameOptions { frames: FrameChoice::Count(16), ..FrameOptions::default() },
///     pictures: PictureOptions { quality: 85, ..PictureOptions::default() },
///     ..PackOptions::default()
/// };
/// assert_eq!(options.limits.shards, None);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PackOptions {
    /// The options for reading inputs.
    pub input: InputOptions,
    /// Which frames of a video become a clip.
    pub frames: FrameOptions,
    /// The options for storing frames.
    pub pictures: PictureOptions,
    /// The limits of a video, the number that may fail, and where shards end.
    pub limits: LimitOptions,
    /// The share of the machine that the work may use.
    pub resources: Resources,
    /// The options for an output that exists, and the place of the work.
    pub run: RunOptions,
}

/// Options that decide whether videos fail, but not the bytes of those that do not.
const OF_FAILURES: [&str; 2] = ["timeout", "max_failures"];

/// Options of the choice of frames, which pictures do not have.
const OF_FRAMES: [&str; 6] = ["frames", "sample", "short", "draws", "seed", "segments"];

/// Options that say where inputs are, beside the inputs themselves.
const PLACES: [&str; 3] = ["root", "classes", "outside"];

/// The filter and the chroma sampling of all pictures.
pub(crate) const FIXED: [(&str, &str); 2] = [("scaling", "bicubic"), ("chroma", "4:2:0")];

impl PackOptions {
    pub(super) fn check(&self) -> Result<()> {
        self.input.check()?;
        self.frames.check()?;
        self.limits.check()?;
        self.pictures.check()?;
        if self.input.images && self.frames != FrameOptions::default() {
            let e = Error::usage("pictures that are clips have one frame each, so there are no frames to choose");
            return Err(e.found("options of frames").hint(Hint::Unset("images")));
        }
        Ok(())
    }

    /// Reads options from JSON, or from what else serde made of TOML: an object with an entry for each option that is
    /// not the default.
    ///
    /// ```
    /// use vidrec::pack::{FrameChoice, PackOptions};
    ///
    /// let options = PackOptions::from_json(r#"{"frames": "every:5", "size": "320x240", "quality": 85}"#)?;
    /// assert_eq!(options.frames.frames.to_string(), "every:5");
    /// let e = PackOptions::from_json(r#"{"qualty": 90}"#).unwrap_err();
    /// assert_eq!(e.to_string(), "unknown option: found qualty; did you mean quality?");
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): an option is unknown, has a wrong value, or makes no sense
    /// together with another.
    pub fn from_json(text: &str) -> Result<Self> {
        let options = serde_json::from_str(text).map_err(|e| Error::usage("the options are not an object").found(e))?;
        Self::from_map(options)
    }

    pub(crate) fn from_map(mut options: Map<String, Value>) -> Result<Self> {
        let read = PackOptions {
            input: take_group(&mut options)?,
            frames: take_group(&mut options)?,
            pictures: take_group(&mut options)?,
            limits: take_group(&mut options)?,
            ..PackOptions::default()
        };
        check_known(&options, &Self::names()?)?;
        read.check().map(|()| read)
    }

    /// Returns the options as an object that [`from_json`](Self::from_json) reads. Resources and what concerns the run are not
    /// in it, nor is what no caller set.
    ///
    /// # Errors
    ///
    /// [`Internal`](vidrec_format::error::ErrorKind::Internal): a path is not UTF-8.
    pub fn to_object(&self) -> Result<JsonObject> {
        Ok(JsonObject(self.groups()?.into_iter().flatten().filter(|(_, value)| is_set(value)).collect()))
    }

    /// The same as text.
    ///
    /// # Errors
    ///
    /// As [`to_object`](Self::to_object).
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(&self.to_object()?).map_err(|e| Error::internal(format!("options: {e}")))
    }

    /// The options of each group.
    pub(crate) fn groups(&self) -> Result<[Map<String, Value>; 4]> {
        Ok([group_map(&self.input)?, group_map(&self.frames)?, group_map(&self.pictures)?, group_map(&self.limits)?])
    }

    /// The names of all options.
    pub(crate) fn names() -> Result<Vec<String>> {
        Ok(Self::default().groups()?.into_iter().flatten().map(|(name, _)| name).collect())
    }

    /// Returns the options that decide what a video becomes.
    pub(super) fn recipe<'a>(&'a self, store: &'a VideoStore, tracks: &'a [PlannedTrack]) -> ClipRecipe<'a> {
        let PackOptions { input, frames, pictures, limits, .. } = self;
        ClipRecipe { input, frames, pictures, limits, store, tracks, measure: false, shared: None }
    }

    /// Returns what a data set of these inputs is packed from, as `dataset.json` stores it.
    pub(super) fn packed_from(&self, inputs: &[String]) -> Result<JsonObject> {
        let mut from = self.to_object()?;
        from.0.retain(|name, _| PLACES.contains(&name.as_str()));
        from.insert("inputs", inputs)?;
        Ok(from)
    }

    /// Returns everything that determines the bytes, as `dataset.json` stores it. The number of shards comes from the plan.
    pub(super) fn settings(&self) -> Result<JsonObject> {
        let mut settings = self.to_object()?.0;
        OF_FAILURES.iter().chain(&PLACES).chain(&["shards"]).for_each(|name| drop(settings.remove(*name)));
        if self.input.images {
            OF_FRAMES.iter().for_each(|name| drop(settings.remove(*name)));
        }
        settings.extend(FIXED.map(|(name, value)| (name.to_owned(), value.into())));
        Ok(JsonObject(settings))
    }
}

/// This version of vidrec, as data sets name it.
pub(super) const TOOL: &str = concat!("vidrec ", env!("CARGO_PKG_VERSION"));

/// The options for an output that exists, and the place of the work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunOptions {
    /// The action if the output exists. Default [`IfExists::Fail`].
    pub if_exists: IfExists,
    /// For an output in object storage: a folder on this machine to pack in, with room for two shards. Default `None`:
    /// `TMPDIR`, or else the user's cache folder (`$XDG_CACHE_HOME/vidrec`, `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
}

/// The action if there is a data set in the output, or an interrupted pack.
///
/// The text form (`FromStr`, `Display`, serde) is `fail`, `resume`, `retry-failed` or `replace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum IfExists {
    /// Do nothing and return an error, because either may be hours of work.
    #[default]
    Fail,
    /// Resume an interrupted pack of the same inputs and options. If they are packed already, return the report. Begin
    /// if there is nothing.
    Resume,
    /// Pack the shards again that have videos which failed when the data set was packed from the same inputs, with the same
    /// options.
    ///
    /// The other shards stay as they are. A video that was packed before must not fail now. The result is that of a pack
    /// in which these videos had not failed. It replaces the data set when it is complete.
    RetryFailed,
    /// Replace a data set when the new one is complete. An interrupted pack goes on if it is the same, and is discarded
    /// if it is not.
    Replace,
}

impl IfExists {
    /// Whether the data set that is there may be replaced.
    pub(crate) fn replaces(self) -> bool {
        matches!(self, IfExists::RetryFailed | IfExists::Replace)
    }
}

/// The likeness from which on a name is suggested, from 0 to 1.
const NEAR: f64 = 0.8;

/// Returns a group of options as an object.
pub(crate) fn group_map<T: Serialize>(group: &T) -> Result<Map<String, Value>> {
    match serde_json::to_value(group) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => Err(Error::internal(format!("options: {other}"))),
        Err(e) => Err(Error::internal(format!("options: {e}"))),
    }
}

/// Takes the options of a group out of an object. The others have their defaults.
pub(crate) fn take_group<T: Serialize + DeserializeOwned + Default>(options: &mut Map<String, Value>) -> Result<T> {
    let names = group_map(&T::default())?;
    let own: Map<String, Value> = names.keys().filter_map(|name| options.remove_entry(name)).collect();
    serde_json::from_value(Value::Object(own.clone())).map_err(|e| refuse::<T>(own, &e))
}

/// Returns the error for the option that is wrong, which serde does not name.
fn refuse<T: DeserializeOwned>(options: Map<String, Value>, all: &serde_json::Error) -> Error {
    let alone = |(name, value): (String, Value)| {
        let e = serde_json::from_value::<T>(Value::Object([(name.clone(), value)].into_iter().collect())).err()?;
        Some(Error::usage(format!("option {name}: {e}")))
    };
    options.into_iter().find_map(alone).unwrap_or_else(|| Error::usage(format!("options: {all}")))
}

/// Refuses options that are left over, and names the nearest of the `known` ones.
pub(crate) fn check_known(left: &Map<String, Value>, known: &[String]) -> Result<()> {
    let Some(name) = left.keys().next() else { return Ok(()) };
    let e = Error::usage("unknown option").found(name);
    let alike = known.iter().map(|known| (strsim::jaro_winkler(name, known), known)).filter(|(alike, _)| *alike > NEAR);
    match alike.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((_, near)) => Err(e.help(format!("did you mean {near}?"))),
        None => Err(e.help(format!("the options are {}", known.join(", ")))),
    }
}

/// Whether an option does something.
pub(crate) fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_stored_settings_stay_the_same() {
        let expected = json!({
            "segments": "player", "frames": 8, "sample": "uniform", "short": "repeat-last", "draws": 1, "seed": 0,
            "size": 256, "quality": 90, "effort": 1, "max_pixels": 268_435_456,
            "scaling": "bicubic", "chroma": "4:2:0",
        });
        assert_eq!(PackOptions::default().settings().unwrap(), JsonObject::of(expected).unwrap());

        let places = json!({"root": "s3://bucket/videos", "classes": "classes.txt", "outside": true});
        let limits = json!({"max_failures": "1.5%", "timeout": 1.234_567_891, "shards": "each:1000"});
        let stored = json!({
            "split": "train", "path_column": "clip", "label_column": "class", "caption_column": "text",
            "start_column": "from", "end_column": "to", "segments": "first-frame", "picture_fps": "30000/1001",
            "track": ["a=b,rate=50,nan"], "audio": "16000:stereo", "shuffle_seed": u64::MAX,
            "frames": "fps:2997/100", "sample": "uniform", "short": "skip", "draws": 1, "seed": u64::MAX,
            "max_frames": 5, "cut": true, "decode_all": true, "size": "64:enlarge", "quality": 77,
            "effort": 0, "reduce_depth": true, "max_pixels": 9,
        });
        let merged = |parts: &[&Value]| -> Map<String, Value> {
            parts.iter().flat_map(|part| part.as_object().unwrap().clone()).collect()
        };
        let options = PackOptions::from_map(merged(&[&places, &limits, &stored])).unwrap();
        let fixed = json!({"scaling": "bicubic", "chroma": "4:2:0"});
        assert_eq!(options.settings().unwrap().0, merged(&[&stored, &fixed]));
        assert_eq!(options.packed_from(&["a".into()]).unwrap().0, merged(&[&places, &json!({"inputs": ["a"]})]));
        assert_eq!(
            options.to_object().unwrap().0,
            merged(&[&places, &limits, &stored]),
            "they read back as themselves"
        );
    }

    #[test]
    fn wrong_options_are_named() {
        for (text, error) in [
            ("[]", "the options are not an object"),
            (r#"{"qualty": 90}"#, "did you mean quality?"),
            (r#"{"xyzzy": 90}"#, "found xyzzy"),
            (r#"{"quality": 0}"#, "the JPEG quality 0"),
            (r#"{"seed": -1}"#, "option seed: "),
            (r#"{"timeout": 0}"#, "option timeout: "),
            (r#"{"frames": true}"#, "option frames: "),
            (r#"{"storage": {}}"#, "unknown option"),
            (r#"{"frames": "all", "sample": "random"}"#, "fixed number of frames"),
            (r#"{"max_frames": 9}"#, "max_frames"),
        ] {
            let e = PackOptions::from_json(text).unwrap_err().to_string();
            assert!(e.contains(error), "{text}: {e}");
        }
    }
}
