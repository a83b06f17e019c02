//! A file with everything that determines a data set: inputs and options.

use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, schema_for};
use serde_json::{Map, Value};

use super::options::{FIXED, PackOptions, check_known, group_map, is_set, take_group};
use super::plan::InputOptions;
use super::work::{FrameOptions, LimitOptions, PictureOptions};
use vidrec_core::dataset::{OpenOptions, Source, listing};
use vidrec_core::store::disk::regular_file::{Links, read_regular};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME};
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;

/// The longest recipe, which is far above those that people write.
const MAX_BYTES: u64 = 16 << 20;

/// Everything that determines a data set: inputs and options, as a TOML file or as the command line gives them.
///
/// ```
/// use vidrec::pack::Recipe;
///
/// let recipe = Recipe::from_toml("inputs = ['videos']\nframes = 16\nquality = 85\n")?;
/// assert_eq!(recipe.options.frames.frames.to_string(), "16");
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recipe {
    /// Folders, video files and manifests. Relative paths are relative to the current folder.
    pub inputs: Vec<PathBuf>,
    /// All options.
    pub options: PackOptions,
}

/// The part of a recipe that is no option.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(default)]
struct Head {
    /// Folders, video files and manifests. Relative paths are relative to the current folder.
    inputs: Vec<PathBuf>,
}

impl Recipe {
    /// Whether a file is a recipe, by its ending.
    pub fn is_recipe(file: &Path) -> bool {
        file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
    }

    /// Returns the recipe of `inputs` and `given` options, which are an object as [`PackOptions::from_json`] reads it.
    ///
    /// If the first input is a recipe, that is read. Given options then replace its own, and further inputs its inputs.
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io): a recipe cannot be read.
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): it is not TOML, an option is unknown, has a wrong value, or makes
    /// no sense together with another.
    pub fn given(inputs: &[PathBuf], given: JsonObject) -> Result<Self> {
        match inputs.split_first() {
            Some((file, others)) if Self::is_recipe(file) => {
                let recipe = Self::over(&read(file)?, given.0).map_err(|e| e.file(file))?;
                Ok(if others.is_empty() { recipe } else { Recipe { inputs: others.to_vec(), ..recipe } })
            }
            _ => Ok(Recipe { inputs: inputs.to_vec(), ..Self::from_map(given.0)? }),
        }
    }

    /// Reads the text of a recipe.
    ///
    /// # Errors
    ///
    /// As [`given`](Self::given).
    pub fn from_toml(text: &str) -> Result<Self> {
        Self::over(text, Map::new())
    }

    /// Reads a recipe in which `given` replaces what has the same name. `text` is TOML.
    fn over(text: &str, given: Map<String, Value>) -> Result<Self> {
        let mut map: Map<String, Value> =
            toml::from_str(text).map_err(|e| Error::usage("the recipe is not valid TOML").found(e))?;
        map.extend(given);
        Self::from_map(map)
    }

    fn from_map(mut map: Map<String, Value>) -> Result<Self> {
        let Head { inputs } = take_group(&mut map)?;
        let known = PackOptions::names()?;
        let (options, rest) = map.into_iter().partition(|(name, _)| known.contains(name));
        check_known(&rest, &names()?)?;
        let options = PackOptions::from_map(options)?;
        Ok(Recipe { inputs, options })
    }

    /// Returns the recipe as TOML that [`from_toml`](Self::from_toml) reads, with a paragraph for each group of options.
    ///
    /// # Errors
    ///
    /// [`Internal`](vidrec_format::error::ErrorKind::Internal): a path is not UTF-8.
    pub fn to_toml(&self) -> Result<String> {
        let head = group_map(&Head { inputs: self.inputs.clone() })?;
        let groups = [head].into_iter().chain(self.options.groups()?);
        let texts: Vec<String> = groups.map(paragraph).collect::<Result<_>>()?;
        Ok(texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"))
    }

    /// Returns the recipe that made the data set at a location, which packs the same bytes again.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): the data set was not made by packing alone.
    /// [`Io`](vidrec_format::error::ErrorKind::Io): its `dataset.json` cannot be read.
    pub fn of(location: &Path, options: &OpenOptions) -> Result<Self> {
        let folder = match location.file_name() {
            Some(name) if name == FILE_NAME => location.parent().unwrap_or(Path::new("")),
            _ => location,
        };
        let json = listing::read(&folder.join(FILE_NAME), &Source::of(folder, options)?)?;
        Self::of_json(&json).map_err(|e| e.file(folder))
    }

    fn of_json(json: &DatasetJson) -> Result<Self> {
        let mut map = json.settings.0.clone();
        map.extend(json.packed_from.clone().unwrap_or_default().0);
        FIXED.iter().for_each(|(name, _)| drop(map.remove(*name)));
        if !map.contains_key("inputs") {
            return Err(Error::usage("the data set has no recipe").help("only `vidrec pack` makes data sets with one"));
        }
        let known = names()?;
        if let Some(name) = map.keys().find(|name| !known.contains(name)) {
            return Err(Error::usage("the data set was changed after it was packed, so it has no recipe").found(name));
        }
        Self::from_map(map)
    }

    /// Returns the JSON Schema of recipes, for editors.
    pub fn json_schema() -> Value {
        let mut schema = schema_for!(Head);
        for group in [
            schema_for!(InputOptions),
            schema_for!(FrameOptions),
            schema_for!(PictureOptions),
            schema_for!(LimitOptions),
        ] {
            join(&mut schema, &group);
        }
        let mut schema = schema.to_value();
        schema["title"] = "vidrec recipe".into();
        schema["description"] = "Inputs and options of `vidrec pack`.".into();
        schema["additionalProperties"] = false.into();
        schema
    }
}

/// The names of all that a recipe may have.
fn names() -> Result<Vec<String>> {
    Ok(group_map(&Head::default())?.into_iter().map(|(name, _)| name).chain(PackOptions::names()?).collect())
}

/// Adds the properties of a group.
fn join(schema: &mut Schema, group: &Schema) {
    let properties = group.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(all) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        all.extend(properties);
    }
}

/// Returns the options of a group that are set, as TOML.
fn paragraph(mut group: Map<String, Value>) -> Result<String> {
    group.retain(|_, value| is_set(value));
    group.values_mut().for_each(fit_toml);
    toml::to_string(&group).map_err(|e| Error::internal(format!("recipe: {e}")))
}

/// TOML has no numbers above 2^63 - 1: they are read as text, too.
fn fit_toml(value: &mut Value) {
    if value.as_u64().is_some_and(|number| i64::try_from(number).is_err()) {
        *value = value.to_string().into();
    }
}

fn read(file: &Path) -> Result<String> {
    let bytes = read_regular(file, MAX_BYTES, Links::Follow)?;
    String::from_utf8(bytes).map_err(|e| Error::usage("the recipe is not UTF-8").file(file).found(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Editors complete recipes by it, and the Python package has its arguments from it.
    #[test]
    fn the_schema_of_the_documentation_is_this_one() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recipe.schema.json");
        let schema = serde_json::to_string_pretty(&Recipe::json_schema()).unwrap() + "\n";
        if std::env::var_os("VIDREC_UPDATE").is_some() {
            std::fs::write(&file, &schema).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == schema, "VIDREC_UPDATE=1 cargo test -p vidrec-pack schema_of writes {}", file.display());
    }
}
