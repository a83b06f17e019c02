//! The list of commands in `vidrec --help`, by what people do.

use clap::Command;
use clap::builder::styling::{Effects, Style};

/// What people do, and the commands for it. A test finds each command in one of them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Pack", &["pack", "import"]),
    ("Look", &["inspect", "view", "report", "browse", "check", "verify", "extract"]),
    ("Train", &["bench", "monitor", "cache"]),
    ("Edit", &["merge", "append", "split", "subset", "relabel", "reshard", "retile", "repair"]),
    ("Move", &["fetch", "push", "export"]),
    ("Cluster", &["plan", "status", "publish"]),
];

const HEADING: Style = Style::new().effects(Effects::BOLD.insert(Effects::UNDERLINE));
const NAME: Style = Style::new().effects(Effects::BOLD);

/// The program with its commands in groups.
pub fn added_to(command: Command) -> Command {
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let command = crate::Cli::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let mut shown: Vec<&str> =
            command.get_subcommands().filter(|found| !found.is_hide_set()).map(Command::get_name).collect();
        shown.sort_unstable();
        shown.retain(|name| *name != "help");
        let here: Vec<&str> = grouped.into_iter().filter(|name| shown.contains(name)).collect();
        assert_eq!(here, shown);
        let text = added_to(command).render_help().to_string();
        assert!(text.contains("Look:\n  inspect") && !text.contains("completions"), "{text}");
    }
}
