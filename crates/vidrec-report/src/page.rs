//! Writes the page: one HTML file with everything in it.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::json::in_html;
use super::wall::ShownClip;
use vidrec_format::error::Result;
use vidrec_store::disk::AtomicFile;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str =
    concat!(include_str!("page/base.css"), include_str!("page/parts.css"), include_str!("page/print.css"));
/// The scripts, each after those that it uses.
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("page/text.js"),
    include_str!("page/data.js"),
    include_str!("page/flags.js"),
    include_str!("page/strip.js"),
    include_str!("page/card.js"),
    include_str!("page/charts.js"),
    include_str!("page/overview.js"),
    include_str!("page/query.js"),
    include_str!("page/wall.js"),
    include_str!("page/findings.js"),
    include_str!("page/detail.js"),
    include_str!("page/main.js"),
);

/// Returns the bytes of a page without clips and with `head` as its data.
pub(super) fn empty_bytes(title: &str, head: &str) -> u64 {
    (TEMPLATE.len() + STYLE.len() + SCRIPT.len() + 2 * in_html(title).len() + head.len() + 1024) as u64
}

/// Writes the page, and returns its length in bytes. `head` is JSON of everything except the clips.
pub(super) fn write(out: &Path, title: &str, head: &str, clips: &[ShownClip]) -> Result<u64> {
    let mut page = Page { file: AtomicFile::create(out)?, bytes: 0 };
    let mut rest = TEMPLATE;
    while let Some((before, name, after)) = place(rest) {
        page.put(before)?;
        match name {
            "policy" => page.put(&policy())?,
            "title" => page.put(&in_html(title))?,
            "style" => page.put(STYLE)?,
            "script" => page.put(SCRIPT)?,
            "data" => page.put(head)?,
            "clips" => page.list(clips)?,
            _ => page.strips(clips)?,
        }
        rest = after;
    }
    page.put(rest)?;
    page.file.sync()?;
    page.file.publish()?;
    Ok(page.bytes)
}

/// Returns the template up to the next `{{name}}`, the name, and the rest.
fn place(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}

/// Returns a policy that lets the browser load and run nothing but this style and this script.
fn policy() -> String {
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; img-src data: blob:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(SCRIPT)
    )
}

struct Page {
    file: AtomicFile,
    bytes: u64,
}

impl Page {
    fn put(&mut self, text: &str) -> Result<()> {
        self.bytes += text.len() as u64;
        self.file.write_all(text.as_bytes())
    }

    fn list(&mut self, clips: &[ShownClip]) -> Result<()> {
        for (i, clip) in clips.iter().enumerate() {
            self.put(if i == 0 { "" } else { ",\n" })?;
            self.put(&clip.facts)?;
        }
        Ok(())
    }

    /// Writes each strip in an element of its own, which the browser does not read before the strip is shown. Those of
    /// opened clips come last.
    fn strips(&mut self, clips: &[ShownClip]) -> Result<()> {
        let strips = clips.iter().enumerate().map(|(i, clip)| ("strip", i, &clip.strip));
        let opened = clips.iter().enumerate().map(|(i, clip)| ("opened", i, &clip.opened));
        for (name, i, strip) in strips.chain(opened).filter(|(_, _, strip)| !strip.is_empty()) {
            self.put(&format!("<script type=\"text/plain\" id=\"{name}-{i}\">"))?;
            self.put(strip)?;
            self.put("</script>\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_the_page_cannot_end_it() {
        for end in ["</script", "<!--", "<script"] {
            assert!(!SCRIPT.to_ascii_lowercase().contains(end), "{end}");
        }
        assert!(!STYLE.contains('<') && !STYLE.contains("url(") && !STYLE.contains("@import"));
        let mut names = Vec::new();
        let mut rest = TEMPLATE;
        while let Some((_, name, after)) = place(rest) {
            names.push(name);
            rest = after;
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, ["clips", "data", "policy", "script", "strips", "style", "title"]);
    }
}
