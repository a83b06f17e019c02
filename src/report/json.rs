//! Escapes text from anywhere for use in HTML.

use serde::Serialize;

use vidrec_format::error::{Error, Result};

/// Returns a value as JSON that is safe inside a `script` element: nothing in it ends the element or starts a
/// comment.
pub(super) fn in_script(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(value).map_err(|e| Error::internal(format!("this is not JSON: {e}")))?;
    // All of these can only occur inside strings.
    let mut out = String::with_capacity(text.len() + text.len() / 64);
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out += &format!("\\u{:04x}", c as u32),
            _ => out.push(c),
        }
    }
    Ok(out)
}

/// Escapes text for use between tags or inside quotes.
pub(super) fn in_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_script_and_json_stays_what_it_was() {
        let hostile = "</script><img src=x onerror=alert(1)> <!-- & \u{2028} \" \\ é";
        let text = in_script(&hostile).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
        assert_eq!(in_html("<b a='\"'>&"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;");
    }
}
