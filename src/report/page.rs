//! The page of `vidrec browse`: one that asks a server for clips, and one that has them inside.

use crate::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");

/// The script of a page: each part after those that it uses. The clips of the two pages come from different places, and only a
/// server has the tracks of an opened clip.
macro_rules! script {
    ($($source:literal),*; $($opened:literal),*) => {
        concat!(
            "\"use strict\";\n",
            include_str!("page/text.js"),
            include_str!("page/data.js"),
            include_str!("page/flags.js"),
            include_str!("page/card.js"),
            include_str!("page/query.js"),
            $(include_str!($source),)*
            include_str!("page/charts.js"),
            include_str!("page/overview.js"),
            include_str!("page/wall.js"),
            include_str!("page/findings.js"),
            include_str!("page/detail.js"),
            $(include_str!($opened),)*
            include_str!("page/main.js"),
            include_str!("page/start.js"),
        )
    };
}

const EXPORTED: &str = script!("page/embedded.js";);
const SERVED: &str = script!("page/served.js"; "page/opened.js");
/// The script that searches the clips of a server, beside the page.
const SEARCH: &str = concat!(
    "\"use strict\";\n",
    include_str!("page/text.js"),
    include_str!("page/data.js"),
    include_str!("page/query.js"),
    include_str!("page/search.js"),
);

/// The parts that differ from page to page.
pub(super) struct Page<'a> {
    pub title: &'a str,
    /// JSON of what the page knows from the beginning, from [`in_script`].
    pub data: &'a str,
    /// Elements before the script, and behind it.
    pub more: &'a str,
    pub strips: &'a str,
}

impl Page<'_> {
    /// Returns a page that has its clips inside, and loads nothing.
    pub fn exported(&self) -> String {
        self.with("img-src data: blob:", EXPORTED)
    }

    /// Returns a page that asks the server that it comes from.
    pub fn served(&self) -> String {
        let search = format!("<script type=\"text/plain\" id=\"worker\">{SEARCH}</script>\n");
        Page { more: &search, ..*self }.with("connect-src 'self'; img-src data: blob:; worker-src blob:", SERVED)
    }

    /// Fills in the template. The policy lets the browser run nothing but this script and load nothing but `loads`.
    fn with(&self, loads: &str, script: &str) -> String {
        let digest = |text: &str| STANDARD.encode(Sha256::digest(text));
        let policy = format!(
            "default-src 'none'; {loads}; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            digest(STYLE),
            digest(script)
        );
        let (mut page, mut rest) = (String::new(), TEMPLATE);
        while let Some((before, name, after)) = place(rest) {
            page += before;
            page += match name {
                "policy" => &policy,
                "style" => STYLE,
                "script" => script,
                "data" => self.data,
                "more" => self.more,
                "strips" => self.strips,
                _ => "",
            };
            if name == "title" {
                page += &in_html(self.title);
            }
            rest = after;
        }
        page + rest
    }
}

/// Returns a template up to the next `{{name}}`, the name, and the rest.
fn place(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}

/// Returns the bytes of an exported page without clips.
pub(super) fn empty_bytes(title: &str, data: &str) -> u64 {
    (TEMPLATE.len() + STYLE.len() + EXPORTED.len() + 2 * in_html(title).len() + data.len() + 2048) as u64
}

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
fn in_html(text: &str) -> String {
    let entities = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
    entities.iter().fold(text.to_owned(), |text, (c, entity)| text.replace(*c, entity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_the_page_cannot_end_it() {
        for script in [EXPORTED, SERVED, SEARCH].map(str::to_ascii_lowercase) {
            assert!(["</script", "<!--", "<script"].iter().all(|end| !script.contains(end)));
        }
        assert!(!STYLE.contains('<') && !STYLE.contains("url(") && !STYLE.contains("@import"));
        let page = Page { title: "{{data}}", data: "[]", more: "", strips: "" }.exported();
        assert!(page.contains("<title>{{data}}</title>") && page.matches("{{").count() == 2, "all places are filled");
    }
}
