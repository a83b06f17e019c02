//! Makes text from elsewhere, such as names and answers of servers, safe to print on a terminal.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Replaces characters in a text that a terminal would obey, or that would change how the rest reads. These are
/// control characters, line separators, and marks that reverse the direction of text. They become escapes (`\n`,
/// `\u{1b}`). Other text is unchanged.
///
/// Errors are printed this way. Use this function for other text from elsewhere, such as the source of a clip, before
/// it goes to a terminal.
///
/// ```
/// assert_eq!(vidrec::printable("walk/日本.mp4"), "walk/日本.mp4");
/// assert_eq!(vidrec::printable("\u{1b}[2Jwalk\n"), r"\u{1b}[2Jwalk\n");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    // Writing to a string cannot fail.
    let _ = Printable(&mut shown).write_str(text);
    Cow::Owned(shown)
}

/// Writes text as [`printable`] returns it.
pub(crate) struct Printable<'a>(pub &'a mut dyn Write);

impl Write for Printable<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(is_obeyed) {
            let (before, from) = rest.split_at(at);
            self.0.write_str(before)?;
            let mut chars = from.chars();
            match chars.next() {
                Some('\n') => self.0.write_str("\\n")?,
                Some('\r') => self.0.write_str("\\r")?,
                Some('\t') => self.0.write_str("\\t")?,
                Some(other) => write!(self.0, "{}", other.escape_unicode())?,
                None => {}
            }
            rest = chars.as_str();
        }
        self.0.write_str(rest)
    }
}

/// Control characters; the separators of lines and paragraphs; and the marks, embeddings, overrides and isolates of the
/// bidirectional algorithm (Unicode Standard Annex 9, section 2).
fn is_obeyed(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || is_direction || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_and_the_rest_unchanged() {
        for (text, shown) in [
            ("", ""),
            ("a b/é日🙂\\x.mp4", "a b/é日🙂\\x.mp4"),
            ("\x1b]0;title\x07", r"\u{1b}]0;title\u{7}"),
            ("one\ntwo\r\tthree\0", r"one\ntwo\r\tthree\u{0}"),
            ("\u{9b}31m\u{7f}", r"\u{9b}31m\u{7f}"),
            ("gpj\u{202e}.exe\u{2069}\u{200f}", r"gpj\u{202e}.exe\u{2069}\u{200f}"),
            ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
        ] {
            assert_eq!(printable(text), shown);
        }
        assert!(matches!(printable("walk"), Cow::Borrowed(_)));
    }
}
