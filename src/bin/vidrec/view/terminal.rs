//! What a terminal can show.

use std::env;

/// How pictures come to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Pictures {
    /// The graphics protocol of kitty.
    Kitty,
    /// Sixels, as the VT340 had them.
    Sixel,
    /// Letters that are half a block, in two colors.
    Blocks,
    /// Letters of five shades of gray, without colors.
    Shades,
}

/// What the terminal says of itself in the environment. `is_terminal`: whether the output is one.
pub fn found(is_terminal: bool) -> Pictures {
    let value = |name| env::var(name).unwrap_or_default();
    // A file or a program has no use for colors (https://no-color.org).
    if !is_terminal || !value("NO_COLOR").is_empty() || value("TERM") == "dumb" {
        return Pictures::Shades;
    }
    // Multiplexers pass pictures on only if they are told to.
    if !value("TMUX").is_empty() || value("TERM").starts_with("screen") {
        return Pictures::Blocks;
    }
    let is_set = |name| env::var_os(name).is_some();
    named(&value("TERM"), &value("TERM_PROGRAM"), is_set("KITTY_WINDOW_ID") || is_set("KONSOLE_VERSION"))
}

fn named(term: &str, program: &str, is_kitty: bool) -> Pictures {
    let has = |names: &[&str]| names.iter().any(|name| term.contains(name) || program.to_lowercase().contains(name));
    if is_kitty || has(&["kitty", "ghostty", "wezterm"]) {
        return Pictures::Kitty;
    }
    if has(&["foot", "mlterm", "contour", "sixel", "vt340"]) { Pictures::Sixel } else { Pictures::Blocks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_known_by_their_names() {
        assert_eq!(named("xterm-kitty", "", false), Pictures::Kitty);
        assert_eq!(named("xterm-256color", "WezTerm", false), Pictures::Kitty);
        assert_eq!(named("xterm-256color", "", true), Pictures::Kitty);
        assert_eq!(named("foot", "", false), Pictures::Sixel);
        assert_eq!(named("xterm-256color", "Apple_Terminal", false), Pictures::Blocks);
        assert_eq!(found(false), Pictures::Shades);
    }
}
