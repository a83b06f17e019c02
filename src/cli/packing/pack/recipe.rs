//! The options that determine the bytes, of `vidrec pack` and `vidrec plan`: from flags, or from a recipe and flags.

use std::path::PathBuf;

use crate::cli::output;
use crate::pack::{FrameOptions, InputOptions, LimitOptions, PackOptions, PictureOptions, Recipe};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, FromArgMatches};

#[derive(clap::Args)]
pub struct RecipeArgs {
    // First, because reading an option takes it out of the matches.
    #[command(flatten)]
    given: ExplicitOptions,
    #[command(flatten)]
    frames: FrameOptions,
    #[command(flatten)]
    pictures: PictureOptions,
    #[command(flatten)]
    input: InputOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

impl RecipeArgs {
    /// The recipe of these options, or the one that is the first input, with the options that were given in place of its
    /// own. Further inputs replace those of the recipe.
    ///
    /// Ends the process if they make no sense together.
    pub fn recipe(&self, inputs: &[PathBuf]) -> crate::Result<Recipe> {
        self.read(inputs).map_err(|e| match e.kind() {
            crate::ErrorKind::Usage => wrong_usage(&e).exit(),
            _ => e,
        })
    }

    fn read(&self, inputs: &[PathBuf]) -> crate::Result<Recipe> {
        let RecipeArgs { given, frames, pictures, input, limits } = self;
        let options = PackOptions {
            frames: frames.clone(),
            pictures: pictures.clone(),
            input: input.clone(),
            limits: limits.clone(),
            ..PackOptions::default()
        };
        let mut options = options.to_object()?;
        options.0.retain(|name, _| given.has(name));
        Recipe::given(inputs, options)
    }
}

/// An error of the library as wrong usage of the command line.
fn wrong_usage(e: &crate::Error) -> clap::Error {
    clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{}\n", e.worded(output::flags)))
}

/// The options that the command line has. It has no option of its own.
struct ExplicitOptions(Vec<String>);

impl ExplicitOptions {
    /// Whether there is one for this option of a recipe.
    fn has(&self, name: &str) -> bool {
        let choices: &[&str] = if name == "frames" { &["frames", "fps", "every", "all", "keyframes"] } else { &[name] };
        self.0.iter().any(|id| choices.contains(&id.as_str()))
    }
}

impl FromArgMatches for ExplicitOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Ok(ExplicitOptions(matches.ids().filter(is_given).map(ToString::to_string).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for ExplicitOptions {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
