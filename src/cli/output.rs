//! Printing results and errors.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, Write};

use crate::Hint;
use serde::Serialize;

/// Prints a report as one JSON object, or as the text that `text` makes of it.
pub fn print<T: Serialize>(json: bool, report: &T, text: impl FnOnce(&T) -> String) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    if json {
        out.write_all(printable_json(&serde_json::to_string_pretty(report)?).as_bytes())?;
        out.write_all(b"\n")?;
    } else {
        out.write_all(printable_lines(&text(report)).as_bytes())?;
    }
    out.flush()
}

/// Prints an error with its causes and with the flags that help.
pub fn print_error(e: &(dyn Error + 'static)) {
    let text = match e.downcast_ref::<crate::Error>() {
        Some(e) => e.worded(flags),
        None => printable_lines(&e.to_string()),
    };
    // If standard error is closed, there is nothing to do.
    let _ = writeln!(io::stderr(), "vidrec: {text}");
}

/// Says something beside the result: one line on standard error.
pub fn tell(what: impl Display) {
    // If standard error is closed, there is nothing to do.
    let _ = writeln!(io::stderr(), "vidrec: {}", printable(&what.to_string()));
}

/// A hint of the library in terms of flags and commands.
pub fn flags(hint: Hint) -> String {
    match hint {
        Hint::Resume => "run the pack again with --if-exists resume".into(),
        Hint::Restart => "start over with --if-exists replace".into(),
        Hint::Overwrite => "replace it with --overwrite".into(),
        Hint::Set("scratch") => "set TMPDIR".into(),
        Hint::Unset("scratch") => "unset TMPDIR".into(),
        Hint::Set("timeout") => "set --storage timeout=SECONDS".into(),
        Hint::Set(option) => format!("set --{}", flag(option)),
        Hint::Choose(option, word) => setting(option, word),
        Hint::Unset(option) => format!("omit --{}", flag(option)),
        Hint::OnlyOne(one, other) => format!("give only one of --{} and --{}", flag(one), flag(other)),
        Hint::Pack => "make one with `vidrec pack`".into(),
        Hint::Verify => "`vidrec verify` lists the damage".into(),
        Hint::Repair => "`vidrec repair` saves the intact clips as a new data set".into(),
        Hint::Merge => "write a new data set with `vidrec merge`".into(),
        Hint::Plan => "make one with `vidrec plan`".into(),
        Hint::Status => "`vidrec status --missing` lists them".into(),
        Hint::Part => "run the same command again".into(),
        Hint::Publish => "publish it with `vidrec publish`".into(),
        Hint::Clock => "let their clocks begin together with `vidrec subset --align-clocks`".into(),
        other => other.to_string(),
    }
}

/// A value of an option of the library in terms of flags.
pub fn setting(option: &str, value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:".contains(c);
    match value {
        "true" => format!("set --{}", flag(option)),
        value if value.chars().all(is_plain) => format!("set --{} {value}", flag(option)),
        value => format!("set --{} {value:?}", flag(option)),
    }
}

/// Prints the next steps on standard error.
pub fn tell_next(hints: &[Hint]) {
    if hints.is_empty() {
        return;
    }
    let next: Vec<String> = hints.iter().map(|&hint| flags(hint)).collect();
    // If standard error is closed, there is nothing to do.
    let _ = writeln!(io::stderr(), "vidrec: next: {}", next.join(", or "));
}

/// The flag for an option of the library.
fn flag(option: &str) -> String {
    option.replace('_', "-")
}

/// Whether the user stopped the program.
pub fn is_interruption(e: &(dyn Error + 'static)) -> bool {
    e.downcast_ref::<crate::Error>().is_some_and(|e| e.kind() == crate::ErrorKind::Interrupted)
}

/// Whether the reader of the output has closed it.
pub fn is_broken_pipe(e: &(dyn Error + 'static)) -> bool {
    e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
}

/// A number with separated thousands: 1,234,567.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number with its noun: 1 clip, 2 clips.
pub fn count(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A line that says how many there are, unless there are none: `  2 clips skipped`.
pub fn line(n: u64, what: &str, rest: &str) -> String {
    if n == 0 { String::new() } else { format!("  {} {rest}\n", count(n, what)) }
}

/// A number with that of which it is a part, unless it is all: 12 of 185 clips, 185 clips.
pub fn share(n: u64, of: u64, what: &str) -> String {
    if n == of { count(n, what) } else { format!("{} of {}", grouped(n), count(of, what)) }
}

/// A number of bytes in units of 1000: 1.5 MB.
pub fn bytes(n: u64) -> String {
    crate::shown_bytes(n)
}

/// Text of another author as one line, without the characters that a terminal obeys.
pub fn printable(text: &str) -> String {
    crate::printable(text).into_owned()
}

/// The same for text of several lines.
fn printable_lines(text: &str) -> String {
    text.split('\n').map(crate::printable).collect::<Vec<_>>().join("\n")
}

/// JSON with escapes for what a terminal would obey, and JSON leaves as it is.
fn printable_json(text: &str) -> String {
    let shown = |c: char| match crate::printable(c.encode_utf8(&mut [0; 4])) {
        Cow::Owned(_) if c != '\n' => format!("\\u{:04x}", u32::from(c)),
        _ => c.to_string(),
    };
    if crate::printable(text) == text { text.to_owned() } else { text.chars().map(shown).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([grouped(0), grouped(999), grouped(1000), grouped(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([count(0, "clip"), count(1, "clip"), count(1000, "clip")], ["0 clips", "1 clip", "1,000 clips"]);
    }
}
