//! Writes the page of a report, which has everything in it, and that of a server, which asks for clips.

use std::path::Path;

use super::json::in_html;
use super::template;
use super::wall::ShownClip;
use vidrec_core::store::disk::AtomicFile;
use vidrec_format::error::Result;

const STYLE: &str =
    concat!(include_str!("page/base.css"), include_str!("page/parts.css"), include_str!("page/print.css"));
/// The scripts of the wall of clips, which both pages have.
macro_rules! wall {
    () => {
        concat!(
            include_str!("page/charts.js"),
            include_str!("page/overview.js"),
            include_str!("page/tall.js"),
            include_str!("page/grid.js"),
            include_str!("page/wall_keys.js"),
            include_str!("page/wall.js"),
            include_str!("page/findings.js"),
            include_str!("page/detail.js"),
        )
    };
}

/// The scripts of a report, each after those that it uses.
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("page/text.js"),
    include_str!("page/data.js"),
    include_str!("page/flags.js"),
    include_str!("page/strip.js"),
    include_str!("page/card.js"),
    include_str!("page/query.js"),
    include_str!("page/embedded.js"),
    wall!(),
    include_str!("page/main.js"),
    include_str!("page/report.js"),
);
/// What the browser may load besides this style and this script.
const LOADS: &str = "img-src data: blob:";
/// The same for the page of a server, and for the worker that searches its clips.
const SERVED: &str = concat!(
    "\"use strict\";\n",
    include_str!("page/text.js"),
    include_str!("page/data.js"),
    include_str!("page/flags.js"),
    include_str!("page/served/ask.js"),
    include_str!("page/served/begin.js"),
    include_str!("page/served/frames.js"),
    include_str!("page/card.js"),
    include_str!("page/query.js"),
    include_str!("page/served/clips.js"),
    include_str!("page/served/finder.js"),
    include_str!("page/served/catalog.js"),
    wall!(),
    include_str!("page/served/cameras.js"),
    include_str!("page/served/play.js"),
    include_str!("page/served/tracks.js"),
    include_str!("page/main.js"),
    include_str!("page/served/start.js"),
);
const SERVED_STYLE: &str = include_str!("page/served/served.css");
const WORKER: &str = concat!(
    "\"use strict\";\n",
    include_str!("page/text.js"),
    include_str!("page/data.js"),
    include_str!("page/query.js"),
    include_str!("page/served/search.js"),
);
/// Clips come from where the page comes from; pictures and the worker are made by the page.
const SERVED_LOADS: &str = "connect-src 'self'; img-src data: blob:; worker-src blob:";

/// Returns the page of a server. `head` is JSON of what it knows from the beginning.
pub(super) fn served(title: &str, head: &str) -> String {
    let style = format!("{STYLE}{SERVED_STYLE}");
    let mut page = String::new();
    let mut rest = template::TEXT;
    while let Some((before, name, after)) = template::place(rest) {
        page += before;
        match name {
            "policy" => page += &template::policy(SERVED_LOADS, &style, SERVED),
            "title" => page += &in_html(title),
            "style" => page += &style,
            "script" => page += SERVED,
            "data" => page += head,
            "more" => page += &format!("<script type=\"text/plain\" id=\"worker\">{WORKER}</script>\n"),
            _ => {}
        }
        rest = after;
    }
    page + rest
}

/// Returns the bytes of a page without clips and with `head` as its data.
pub(super) fn empty_bytes(title: &str, head: &str) -> u64 {
    (template::TEXT.len() + STYLE.len() + SCRIPT.len() + 2 * in_html(title).len() + head.len() + 1024) as u64
}

/// Writes the page, and returns its length in bytes. `head` is JSON of everything except the clips.
pub(super) fn write(out: &Path, title: &str, head: &str, clips: &[ShownClip]) -> Result<u64> {
    let mut page = Page { file: AtomicFile::create(out)?, bytes: 0 };
    let mut rest = template::TEXT;
    while let Some((before, name, after)) = template::place(rest) {
        page.put(before)?;
        match name {
            "policy" => page.put(&template::policy(LOADS, STYLE, SCRIPT))?,
            "title" => page.put(&in_html(title))?,
            "style" => page.put(STYLE)?,
            "script" => page.put(SCRIPT)?,
            "data" => page.put(head)?,
            "more" => page.list(clips)?,
            _ => page.strips(clips)?,
        }
        rest = after;
    }
    page.put(rest)?;
    page.file.sync()?;
    page.file.publish()?;
    Ok(page.bytes)
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
        self.put("<script type=\"application/json\" id=\"clip-list\">[")?;
        for (i, clip) in clips.iter().enumerate() {
            self.put(if i == 0 { "" } else { ",\n" })?;
            self.put(&clip.facts)?;
        }
        self.put("]</script>\n")
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
        template::prove_harmless(SCRIPT, STYLE);
        template::prove_harmless(SERVED, SERVED_STYLE);
        template::prove_harmless(WORKER, "");
    }
}
