//! Examples at the end of each `--help`.

use clap::Command;

/// Commands as one would type them, in a paragraph for each subcommand. A test parses each.
const EXAMPLES: &str = include_str!("examples.txt");

/// The examples of a subcommand, one a line. `path` is its name behind those of the commands that it belongs to.
pub fn of(path: &str) -> Option<&'static str> {
    EXAMPLES.trim_end().split("\n\n").find(|paragraph| paragraph.starts_with(&format!("{path} ")))
}

/// Adds the examples to the help of the subcommands of `command`, whose own path is `path`.
pub fn added_to(command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    if names.is_empty() {
        let text = of(path).map(|examples| format!("Examples:\n  {}", examples.replace('\n', "\n  ")));
        return command.after_help(text.unwrap_or_default());
    }
    names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(name, |inner| added_to(inner, &path))
    })
}
