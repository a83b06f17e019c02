//! Reports of `vidrec pack`: the result, and on standard error what is not in the data set.

use std::path::Path;

use crate::cli::output;
use crate::cli::output::{bytes, count, line, printable};
use crate::pack::{Estimate, IgnoredFiles, ManifestColumns, PackReport};

/// Names on standard error what is not in the data set, or not as it should be.
pub fn tell(report: &PackReport) {
    for w in &report.warnings {
        output::tell(format_args!("{}: packed, but {}", w.source, w.message));
    }
    report.whole_decodes().for_each(output::tell);
    for f in &report.failures {
        output::tell(format_args!("{}: skipped (stage {}): {}", f.source, f.stage, f.error));
    }
    report.left_behind.iter().for_each(output::tell);
    if report.guessed_times > 0 {
        let frames = count(report.guessed_times, "frame");
        output::tell(format_args!(
            "{frames} without times in their files: vidrec guessed the times from the order of decoding"
        ));
    }
    tell_ignored(&report.passed_over);
}

pub fn tell_ignored(passed_over: &[IgnoredFiles]) {
    for p in passed_over {
        let is_ending = p.kind == "other" || p.kind.starts_with('.');
        let kind = format!("{}{}", p.kind, if is_ending { " file" } else { "" });
        output::tell(format_args!("ignored {}, such as {}", count(p.files, &kind), p.example));
    }
}

/// Names of columns that are shown for each use; the rest are counted.
const COLUMNS_SHOWN: usize = 20;

/// Says on standard error what the columns of manifests became, and what looks wrong in them.
pub fn tell_inputs(manifests: &[ManifestColumns], notes: &[String]) {
    manifests.iter().for_each(|manifest| output::tell(describe(manifest)));
    notes.iter().for_each(|note| output::tell(format_args!("warning: {note}")));
}

/// `list.csv: path from "video", no label, attributes "caption"`.
fn describe(m: &ManifestColumns) -> String {
    let uses = [("path from", &m.path), ("label from", &m.label), ("start from", &m.start), ("end from", &m.end)];
    let rest = [("split from", &m.split), ("tracks from", &m.tracks), ("attributes", &m.attributes)];
    let said = uses.into_iter().chain(rest).filter_map(|(what, columns)| match columns.is_empty() {
        false => Some(format!("{what} {}", names(columns))),
        true => (what == "label from").then(|| "no label".into()),
    });
    format!("{}: {}", m.manifest, said.collect::<Vec<_>>().join(", "))
}

fn names(columns: &[String]) -> String {
    // As Rust writes text: a name may hold what a terminal would obey.
    let mut text = columns.iter().take(COLUMNS_SHOWN).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" ");
    if columns.len() > COLUMNS_SHOWN {
        text += &format!(" and {} more", columns.len() - COLUMNS_SHOWN);
    }
    text
}

/// Missing files that are named; the rest are counted.
const MISSING_SHOWN: usize = 20;

pub fn render_estimate(e: &Estimate) -> String {
    let mut text =
        format!("{} to pack, {} with a label; {} named classes\n", count(e.videos, "video"), e.labeled, e.classes);
    text += &line(ignored(&e.passed_over), "file", "ignored");
    text += &line(e.missing.len() as u64, "file", "missing:");
    e.missing.iter().take(MISSING_SHOWN).for_each(|source| text += &format!("    {}\n", printable(source)));
    if e.missing.len() > MISSING_SHOWN {
        text += &format!("    and {} more (--json lists all)\n", e.missing.len() - MISSING_SHOWN);
    }
    text += &format!("  {} examined, {} of them cannot be packed\n", e.probed, e.probe_failures.len());
    for f in &e.probe_failures {
        text += &format!("    {} (stage {}): {}\n", printable(&f.source), f.stage, printable(&f.error));
    }
    let time = match e.seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    };
    let (clips, frames, size) = (count(e.clips, "clip"), count(e.frames, "frame"), bytes(e.bytes));
    let (failed, free) = (count(e.failed, "video"), bytes(e.free_bytes));
    text += &format!("about {clips}, {frames}, {size} in {time}; about {failed} skipped; {free} are free\n");
    if e.jpeg_bytes > 0 {
        let scores = scores(e.psnr, &count(e.probed, "video"));
        text += &format!("  {} per JPEG{scores}\n", bytes(e.jpeg_bytes));
    }
    text
}

fn ignored(passed_over: &[IgnoredFiles]) -> u64 {
    passed_over.iter().map(|p| p.files).sum()
}

/// The PSNR of JPEGs against the pictures that were encoded: the mean of so many videos or frames.
fn scores(psnr: Option<f64>, of: &str) -> String {
    psnr.map_or_else(String::new, |psnr| format!("; PSNR of luma {psnr:.1} dB (mean of {of})"))
}

pub fn render(r: &PackReport, output: &Path) -> String {
    let (out, clips) = (output.display(), count(r.clips, "clip"));
    if r.is_unchanged() {
        let text = format!("nothing to do: the pack of {out} is finished, with {clips}\n");
        return text + &line(r.failed, "video", "skipped; --if-exists retry-failed tries them again");
    }
    if r.clips == 0 {
        let (skipped, list) = (count(r.failed, "video"), r.failures_file.as_deref().unwrap_or_default());
        return format!("nothing could be packed: {skipped} skipped, see {out}/{list}\n");
    }
    summary("packed", r, output)
}

/// The outcome of a pack, or of publishing its parts.
pub fn summary(verb: &str, r: &PackReport, output: &Path) -> String {
    let out = output.display();
    let (clips, frames) = (count(r.clips, "clip"), count(r.frames, "frame"));
    let mut text = format!("{verb} {clips}, {frames}, {} into {out}", bytes(r.bytes));
    if let Some(rate) = r.videos_per_second() {
        text += &format!(" in {:.1} s ({rate:.1} videos/s)", r.seconds);
    }
    text.push('\n');
    if r.labeled == 0 {
        text += "  no clip has a label\n";
    }
    if let Some(length) = r.bytes.saturating_sub(r.track_bytes).checked_div(r.frames) {
        let scores = scores(r.psnr, &count(r.measured_frames, "frame"));
        text += &format!("  {} per frame{scores}\n", bytes(length));
    }
    text += &line(r.resumed_at.unwrap_or(0), "video", "of them packed by an earlier run");
    text += &line(r.short, "video", "with fewer frames than requested");
    text += &line(r.decoded_whole, "segment", "took a decode of the whole video");
    let thinned = "with more frames than --max-frames or --images takes, of which only some were taken";
    text += &line(r.thinned, "video", thinned);
    text += &line(r.warnings.len() as u64, "video", "packed despite faults");
    let list = r.failures_file.as_deref().unwrap_or_default();
    text += &line(r.failed, "video", &format!("skipped, see {out}/{list}"));
    text += &line(ignored(&r.passed_over), "file", "ignored");
    r.shortage.iter().for_each(|shortage| text += &format!("  {shortage}\n"));
    text
}

pub fn render_part(r: &PackReport, part: u32, parts: u32) -> String {
    let clips = count(r.clips, "clip");
    if r.is_unchanged() {
        return format!("nothing to do: part {part} of {parts} is done; it has {clips}\n");
    }
    let (frames, size) = (count(r.frames, "frame"), bytes(r.bytes));
    let mut text = format!("packed part {part} of {parts}: {clips}, {frames}, {size} in {:.1} s\n", r.seconds);
    if let Some(videos) = r.resumed_at {
        text += &format!("  {} of them done before an earlier attempt ended\n", count(videos, "video"));
    }
    text + &line(r.failed, "video", "skipped")
}
