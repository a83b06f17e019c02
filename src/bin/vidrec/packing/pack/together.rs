//! Refuses options that exclude each other, by the library's rules and in its words.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, FromArgMatches};
use vidrec::pack::arguments::check_together;

use crate::output;

/// As clap words it for the whole of the command.
const USAGE: &str = "vidrec pack [OPTIONS] --output <OUTPUT> <INPUT>...";

/// What can be given when a part of a plan is packed.
const OF_A_PART: [&str; 13] = [
    "plan",
    "part",
    "threads",
    "io_threads",
    "memory",
    "commit_every",
    "no_isolate",
    "isolated_worker",
    "json",
    "storage",
    "storage_timeout",
    "scratch",
    "worker_options",
];

/// That the options on the command line can be given together. It has no options of its own. It comes before all that
/// have, because reading an option takes it out of the matches.
pub struct Together;

impl FromArgMatches for Together {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        let given: Vec<&str> = matches.ids().filter(is_given).map(clap::Id::as_str).collect();
        // Groups of options are named as types are.
        let is_option = |id: &&&str| id.starts_with(|c: char| c.is_lowercase());
        let mut fixed = given.iter().filter(is_option).filter(|option| !OF_A_PART.contains(option));
        if let (true, Some(fixed)) = (given.contains(&"plan"), fixed.next()) {
            return Err(refusal(&format!("--{} cannot be given with --plan, which fixes it", fixed.replace('_', "-"))));
        }
        check_together(&given).map(|()| Together).map_err(|e| usage(&e))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        Self::from_arg_matches(matches).map(drop)
    }
}

impl clap::Args for Together {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

/// An error of the library as wrong usage of the command line.
pub fn usage(e: &vidrec::Error) -> clap::Error {
    refusal(&e.worded(output::flags))
}

fn refusal(text: &str) -> clap::Error {
    let mut command = Command::new("vidrec pack").override_usage(USAGE);
    clap::Error::raw(ErrorKind::ArgumentConflict, text).format(&mut command)
}
