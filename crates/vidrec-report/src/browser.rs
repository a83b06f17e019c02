//! Writes the page of `vidrec browse`, which reads data sets by itself.

use std::collections::BTreeMap;

use serde::Serialize;

use super::findings::{Group, MOST};
use super::json::{in_html, in_script};
use super::template;
use crate::check::{CheckReport, FindingKind};
use vidrec_format::error::Result;

/// A data set, and where the page finds it.
#[derive(Debug, Clone, Serialize)]
pub struct BrowsedSet {
    /// The name of the data set on the page, such as its path.
    pub name: String,
    /// The address of its folder relative to the page, with a `/` at the end.
    pub address: String,
}

const STYLE: &str = concat!(
    include_str!("page/base.css"),
    include_str!("page/parts.css"),
    include_str!("page/print.css"),
    include_str!("page/browse/browse.css"),
);
/// What reads data sets, and what finds clips: for the page and for its worker.
const READER: &str = concat!(
    "\"use strict\";\n",
    include_str!("page/text.js"),
    include_str!("page/data.js"),
    include_str!("page/query.js"),
    include_str!("page/browse/bytes.js"),
    include_str!("page/browse/ranges.js"),
    include_str!("page/browse/index.js"),
    include_str!("page/browse/data_set.js"),
);
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("page/text.js"),
    include_str!("page/data.js"),
    include_str!("page/query.js"),
    include_str!("page/flags.js"),
    include_str!("page/browse/bytes.js"),
    include_str!("page/browse/ranges.js"),
    include_str!("page/browse/index.js"),
    include_str!("page/browse/data_set.js"),
    include_str!("page/browse/flac.js"),
    include_str!("page/browse/opus.js"),
    include_str!("page/browse/pictures.js"),
    include_str!("page/browse/tracks.js"),
    include_str!("page/browse/records.js"),
    include_str!("page/browse/frames.js"),
    include_str!("page/card.js"),
    include_str!("page/browse/places.js"),
    include_str!("page/browse/clips.js"),
    include_str!("page/browse/finder.js"),
    include_str!("page/browse/catalog.js"),
    include_str!("page/tall.js"),
    include_str!("page/grid.js"),
    include_str!("page/wall_keys.js"),
    include_str!("page/wall.js"),
    include_str!("page/findings.js"),
    include_str!("page/detail.js"),
    include_str!("page/browse/cameras.js"),
    include_str!("page/browse/sound.js"),
    include_str!("page/browse/play.js"),
    include_str!("page/browse/curves.js"),
    include_str!("page/main.js"),
    include_str!("page/browse/browse.js"),
);
const WORKER: &str = concat!(
    include_str!("page/browse/strings.js"),
    include_str!("page/browse/chunk.js"),
    include_str!("page/browse/search.js"),
);
/// Data sets come from where the page comes from; frames and the worker are made by the page.
const LOADS: &str = "connect-src 'self'; img-src data: blob:; worker-src blob:";

#[derive(Serialize)]
struct Head<'a> {
    title: &'a str,
    sets: &'a [BrowsedSet],
    #[serde(flatten)]
    checked: Option<Checked<'a>>,
}

/// What a check has found: the first findings of each kind, and the clips of all of them.
#[derive(Serialize)]
struct Checked<'a> {
    findings: Vec<Group<'a>>,
    checked: Extent,
    marks: BTreeMap<FindingKind, Vec<(usize, u64)>>,
}

#[derive(Serialize)]
struct Extent {
    clips: u64,
    of_clips: u64,
}

impl<'a> Checked<'a> {
    fn of(report: &'a CheckReport) -> Self {
        let mut marks: BTreeMap<FindingKind, Vec<(usize, u64)>> = BTreeMap::new();
        for finding in &report.findings {
            marks.entry(finding.kind).or_default().extend(finding.clips.iter().map(|clip| (clip.set, clip.clip)));
        }
        let of_clips = report.sets.iter().map(|set| set.clips).sum();
        Checked { findings: Group::all(report, MOST), checked: Extent { clips: report.clips, of_clips }, marks }
    }
}

/// Returns a page that shows all clips of data sets. It reads them by requests for ranges of bytes, from the server that the
/// page comes from. `found` is the report of a check of the same data sets.
///
/// # Errors
///
/// [`Internal`](vidrec_format::error::ErrorKind::Internal) if the names cannot be written as JSON, which does not happen.
pub fn browser_page(title: Option<&str>, sets: &[BrowsedSet], found: Option<&CheckReport>) -> Result<String> {
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let title = title.map_or_else(|| names.join(", "), str::to_owned);
    let head = in_script(&Head { title: &title, sets, checked: found.map(Checked::of) })?;
    let mut page = String::new();
    let mut rest = template::TEXT;
    while let Some((before, name, after)) = template::place(rest) {
        page += before;
        match name {
            "policy" => page += &template::policy(LOADS, STYLE, SCRIPT),
            "title" => page += &in_html(&title),
            "style" => page += STYLE,
            "script" => page += SCRIPT,
            "data" => page += &head,
            "more" => page += &format!("<script type=\"text/plain\" id=\"worker\">{READER}{WORKER}</script>\n"),
            _ => {}
        }
        rest = after;
    }
    Ok(page + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_the_page_cannot_end_it() {
        template::prove_harmless(SCRIPT, STYLE);
        template::prove_harmless(READER, "");
        template::prove_harmless(WORKER, "");
    }

    #[test]
    fn names_stay_text() {
        let set = BrowsedSet { name: "</script><b>".into(), address: "0/".into() };
        let page = browser_page(None, &[set], None).unwrap();
        assert!(!page.contains("</script><b>") && page.contains("<title>&lt;/script&gt;&lt;b&gt;</title>"));
    }
}
