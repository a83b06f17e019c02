//! The list of commands in `vidrec --help`, by task, and suggestions for words that are no command.

use std::ffi::OsString;

use clap::builder::styling::{Effects, Style};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// Tasks, and the commands for them. A test finds each command in one of them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Pack", &["pack", "import"]),
    ("Look", &["inspect", "view", "browse", "check", "verify", "extract"]),
    ("Train", &["bench", "cache"]),
    ("Edit", &["merge", "split", "subset", "repair"]),
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

/// Adds to an error about `--frames` beside `--fps` or another rule for frames what gives the first frames at that pace.
pub fn with_most_frames(mut e: Error, args: &[OsString]) -> Error {
    let args: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let next = || args.windows(2).find(|pair| ["--frames", "-n"].contains(&pair[0])).map(|pair| pair[1]);
    let joined = || args.iter().find_map(|arg| arg.strip_prefix("--frames=").or(arg.strip_prefix("-n")));
    let is_of_frames = e.kind() == ErrorKind::ArgumentConflict
        && [ContextKind::InvalidArg, ContextKind::PriorArg]
            .iter()
            .any(|kind| matches!(e.get(*kind), Some(ContextValue::String(arg)) if arg.starts_with("--frames ")));
    if let Some(most) = next().or_else(joined).filter(|_| is_of_frames) {
        let tip = format!(
            "for at most {most} frames of a video, give --max-frames {most} --cut (the first ones) or \
             --max-frames {most} (spread evenly) in place of --frames {most}"
        );
        e.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    e
}

/// Adds the commands to an error that the program has no command of this name, unless one of them is similar. A name of a group,
/// such as `train`, stands for the commands of that group.
pub fn suggested(mut e: Error, command: &Command, first: Option<&OsString>) -> Error {
    let Some(ContextValue::String(word)) = e.get(ContextKind::InvalidSubcommand) else { return e };
    // Behind a command, as in `vidrec export other`, the word is no command of that one.
    if first.is_none_or(|first| first != word.as_str()) {
        return e;
    }
    let named = GROUPS.iter().find(|(group, _)| group.eq_ignore_ascii_case(word));
    if named.is_none() && e.get(ContextKind::SuggestedSubcommand).is_some() {
        return e;
    }
    let line = |(group, names): &(&str, &[&str])| {
        let names: Vec<_> = names.iter().copied().filter(|name| command.find_subcommand(name).is_some()).collect();
        (!names.is_empty()).then(|| format!("\n       {:8} {}", format!("{group}:"), names.join(", ")))
    };
    let lines: String = named.map_or(&GROUPS[..], std::slice::from_ref).iter().filter_map(line).collect();
    e.remove(ContextKind::SuggestedSubcommand);
    e.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![format!("these subcommands exist:{lines}").into()]));
    e
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
        let text = added_to(command).render_help().to_string();
        assert!(text.contains("Look:\n  inspect") && !text.contains("completions"), "{text}");
    }

    #[test]
    fn a_word_that_is_no_command_leads_to_commands() {
        let said = |words: &str| {
            let mut command = added_to(crate::cli::Cli::command());
            let args: Vec<_> = words.split(' ').map(OsString::from).collect();
            let e = command.try_get_matches_from_mut(&args).unwrap_err();
            suggested(e, &command, args.get(1)).to_string()
        };
        assert!(said("vidrec veiw").contains("tip: some similar subcommands exist: 'verify', 'view'"));
        let all = said("vidrec trian a --b");
        assert!(all.contains("Train:   bench, cache\n") && all.contains("Look:    inspect, view,"), "{all}");
        let train = said("vidrec train");
        assert!(train.contains("Train:   bench, cache\n") && !train.contains("repair"), "{train}");
        assert!(!said("vidrec completions train").contains("bench"));
    }

    #[test]
    #[cfg(feature = "pack")]
    fn a_number_of_frames_at_a_rate_leads_to_the_most_frames() {
        let said = |words: &str| {
            let args: Vec<_> = words.split(' ').map(OsString::from).collect();
            let e = crate::cli::Cli::command().try_get_matches_from(&args).unwrap_err();
            with_most_frames(e, &args).to_string()
        };
        for words in ["--fps 8 --frames 16", "--frames=16 --every 2", "-n 16 --all", "--keyframes -n16"] {
            let text = said(&format!("vidrec pack a -o b {words}"));
            assert!(text.contains("--max-frames 16 --cut"), "{words}: {text}");
        }
        assert!(!said("vidrec pack a -o b --fps 8 --all").contains("--max-frames"));
    }
}
