//! The `vidrec` program.

#![cfg_attr(not(feature = "pack"), allow(dead_code, reason = "only packing uses it"))]

mod arguments;
mod bench;
mod browse;
mod check;
mod clip_list;
mod edit;
mod export;
mod fetch;
mod help;
mod import;
mod inspect;
mod merge;
mod outcome;
mod output;
#[cfg_attr(not(feature = "pack"), path = "no_packing.rs")]
mod packing;
mod progress;
mod push;
mod remove;
mod repair;
mod split;
mod stats;
mod storage;
mod subset;
mod table;
mod verify;
mod view;

use std::ffi::OsString;
use std::sync::LazyLock;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use self::outcome::{Failure, Outcome, Run, exit_status};
use self::progress::ProgressArgs;
use self::storage::{RemoteStorageArgs, StorageArgs, local};

/// Pack video data sets once, then feed training as fast as the hardware allows.
///
/// Exit status: 0 done; 1 failed; 2 wrong usage; 3 done, but there were problems or skipped inputs; 130 interrupted.
/// Results go to standard output, everything else to standard error.
#[derive(Parser)]
#[command(name = "vidrec", version, long_version = long_version(), max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Packing(packing::Command),
    Import(import::Args),
    Inspect(inspect::Args),
    Verify(verify::Args),
    Check(check::Args),
    View(view::Args),
    Browse(browse::Args),
    Export(export::Args),
    Fetch(fetch::Args),
    Push(push::Args),
    Bench(bench::Args),
    Merge(merge::Args),
    Split(split::Args),
    Subset(subset::Args),
    Remove(remove::Args),
    Repair(repair::Args),
    #[command(hide = true)]
    Completions(help::CompletionsArgs),
}

/// The version, and the FFmpeg libraries that read videos. `-V` prints only the first line.
fn long_version() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| format!("{}\nFFmpeg: {}", env!("CARGO_PKG_VERSION"), packing::libraries()));
    &TEXT
}

/// Runs the program with its name and arguments, and returns its exit status. Wrong usage ends the process at once.
///
/// `start` is the command that starts a further process of this program, as a worker.
pub fn run(start: Vec<OsString>, args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let run = crate::stoppable(&outcome::STOP, || match parsed(&args).command {
        Command::Packing(command) => command.run(start),
        Command::Import(args) => import::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Check(args) => check::run(&args),
        Command::View(args) => view::run(&args),
        Command::Browse(args) => browse::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Fetch(args) => fetch::run(&args),
        Command::Push(args) => push::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Split(args) => split::run(&args),
        Command::Subset(args) => subset::run(&args),
        Command::Remove(args) => remove::run(&args),
        Command::Repair(args) => repair::run(&args),
        Command::Completions(args) => help::print_completions(&args, command()),
    });
    exit_status(run)
}

/// The program as the command line describes it.
fn command() -> clap::Command {
    help::with_groups(help::with_examples(Cli::command(), "vidrec"))
}

fn parsed(args: &[OsString]) -> Cli {
    let mut command = command();
    let found = command.try_get_matches_from_mut(args);
    let cli = found.and_then(|mut found| Cli::from_arg_matches_mut(&mut found).map_err(|e| e.format(&mut command)));
    cli.unwrap_or_else(|e| e.exit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of the subcommands of a command that do something themselves.
    fn paths(command: &clap::Command, path: &str) -> Vec<String> {
        let name = |inner: &clap::Command| format!("{path} {}", inner.get_name());
        let shown = command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set());
        let below =
            |inner| if clap::Command::has_subcommands(inner) { paths(inner, &name(inner)) } else { vec![name(inner)] };
        shown.flat_map(below).collect()
    }

    /// Parses an example as a shell would, and the options of the loader in it.
    fn parse(example: &str) -> Result<(), String> {
        let command = example.split(" > ").next().unwrap_or_default();
        let script = format!(r#"set -f; for word in {command}; do printf '%s\n' "$word"; done"#);
        let words = std::process::Command::new("sh").args(["-c", &script]).output().map_err(|e| e.to_string())?.stdout;
        let cli = Cli::try_parse_from(String::from_utf8_lossy(&words).lines()).map_err(|e| e.to_string())?;
        if let Command::Bench(args) = cli.command {
            args.loader_options().map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    #[test]
    fn each_subcommand_has_some_examples_that_it_takes() {
        let mut wrong = Vec::new();
        for path in paths(&Cli::command(), "vidrec") {
            let examples: Vec<&str> = help::examples_of(&path).unwrap_or_default().lines().collect();
            assert!((2..=5).contains(&examples.len()), "{path}");
            // Examples of other programs are not parsed.
            for example in examples.into_iter().filter(|example| example.starts_with("vidrec ")) {
                assert!(example.starts_with(&format!("{path} ")), "{example}");
                wrong.extend(parse(example).err().map(|e| format!("{example}: {e}")));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn the_command_line_is_consistent_and_every_argument_has_help() {
        Cli::command().help_expected(true).debug_assert();
    }
}
