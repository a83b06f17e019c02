//! The options of a pack, from the dict that `vidrec/_pack_options.py` makes of the arguments.

use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::JsonObject;
use vidrec::pack::{Recipe, Resources, RunOptions};

use crate::error::{raise, refuse, usage};
use crate::output::Remote;
use crate::storage::Storage;

/// Every key must be there. What is None has the library's default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    /// The options of a recipe, as JSON.
    recipe: String,
    if_exists: String,
    threads: Option<usize>,
    memory: Option<String>,
    storage: Storage,
    scratch: Option<PathBuf>,
    only_publisher: bool,
}

impl Options {
    /// Inputs and options, for this machine.
    pub fn recipe(&self, inputs: &[PathBuf]) -> PyResult<Recipe> {
        let given = serde_json::from_str(&self.recipe).map_err(|e| usage(format!("options: {e}")))?;
        let mut recipe = Recipe::given(inputs, JsonObject(given)).map_err(raise)?;
        recipe.options.input.storage = self.storage.clone().into_storage()?;
        (recipe.options.resources, recipe.options.run) = (self.resources()?, self.run()?);
        Ok(recipe)
    }

    /// How an output is written that is in object storage.
    pub fn remote(&self) -> Remote {
        Remote { storage: self.storage.clone(), scratch: self.scratch.clone(), only_publisher: self.only_publisher }
    }

    pub fn resources(&self) -> PyResult<Resources> {
        if self.threads == Some(0) {
            return Err(usage("threads: expected 1 or more, found 0".into()));
        }
        let memory = self.memory.as_deref().map(vidrec::parse_bytes).transpose().map_err(|e| refuse("memory", &e))?;
        Ok(Resources { threads: self.threads, memory, isolate: None })
    }

    fn run(&self) -> PyResult<RunOptions> {
        Ok(RunOptions {
            if_exists: self.if_exists.parse().map_err(|e| refuse("if_exists", &e))?,
            scratch: self.scratch.clone(),
            only_publisher: self.only_publisher,
        })
    }
}
