//! `vidrec --help` by task, examples at the end of each `--help`, and `vidrec completions`.

use std::io::{self, Write};

use clap::Command;
use clap::builder::styling::{Effects, Style};
use clap_complete::Shell;

use crate::cli::{Outcome, Run};

/// Tasks, and the commands for them. A test finds each command in one of them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Pack", &["pack", "import"]),
    ("Look", &["inspect", "view", "browse", "check", "verify"]),
    ("Train", &["bench"]),
    ("Edit", &["merge", "split", "subset", "remove", "tracks", "repair"]),
    ("Move", &["fetch", "push", "export"]),
    ("Cluster", &["plan", "status", "publish"]),
];

const HEADING: Style = Style::new().effects(Effects::BOLD.insert(Effects::UNDERLINE));
const NAME: Style = Style::new().effects(Effects::BOLD);

/// The program with its commands in groups.
pub fn with_groups(command: Command) -> Command {
    let groups: Vec<String> = GROUPS.iter().filter_map(|(group, names)| describe(&command, group, names)).collect();
    let list = groups.join("\n");
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\n{HEADING}Options:{HEADING:#}\n{{options}}"
    ))
}

/// A group with its commands, as far as this build has them.
fn describe(command: &Command, group: &str, names: &[&str]) -> Option<String> {
    let found = names.iter().filter_map(|name| command.find_subcommand(name)).filter(|found| !found.is_hide_set());
    let line = |found: &Command| {
        let about = found.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {NAME}{:9}{NAME:#} {about}\n", found.get_name())
    };
    let lines: String = found.map(line).collect();
    (!lines.is_empty()).then(|| format!("{HEADING}{group}:{HEADING:#}\n{lines}"))
}

/// Commands as one would type them, in a paragraph for each subcommand. A test parses each.
const EXAMPLES: &str = include_str!("examples.txt");

/// The examples of a subcommand, one a line. `path` is its name behind those of the commands that it belongs to.
pub fn examples_of(path: &str) -> Option<&'static str> {
    EXAMPLES.trim_end().split("\n\n").find(|paragraph| paragraph.starts_with(&format!("{path} ")))
}

/// Adds the examples to the help of the subcommands of `command`, whose own path is `path`.
pub fn with_examples(command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    if names.is_empty() {
        let text = examples_of(path).map(|examples| format!("Examples:\n  {}", examples.replace('\n', "\n  ")));
        return command.after_help(text.unwrap_or_default());
    }
    names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(name, |inner| with_examples(inner, &path))
    })
}

/// Print what a shell needs to complete the commands of vidrec.
///
/// A new shell completes them once the text is where it looks: for zsh in a file `_vidrec` in a folder of `fpath`, for
/// PowerShell in the profile.
#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

pub fn print_completions(args: &CompletionsArgs, mut program: Command) -> Run {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "vidrec", &mut text);
    io::stdout().write_all(&text)?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let command = crate::cli::Cli::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let mut shown: Vec<&str> =
            command.get_subcommands().filter(|found| !found.is_hide_set()).map(Command::get_name).collect();
        shown.sort_unstable();
        shown.retain(|name| *name != "help");
        let here: Vec<&str> = grouped.into_iter().filter(|name| shown.contains(name)).collect();
        assert_eq!(here, shown);
        let text = with_groups(command).render_help().to_string();
        assert!(text.contains("Look:\n  inspect") && !text.contains("completions"), "{text}");
    }
}
