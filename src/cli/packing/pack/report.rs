//! What `vidrec pack` prints: the report, and on standard error what is not in the data set.

use std::path::Path;

use crate::pack::{Estimate, IfExists, PackReport, PassedOver};

use crate::cli::output::{self, bytes, count, printable};

/// Names on standard error what is not in the data set, or not as it should be.
pub fn tell(report: &PackReport) {
    for w in &report.warnings {
        output::tell(format_args!("{}: packed, but {}", w.source, w.message));
    }
    report.whole_decodes().for_each(output::tell);
    for f in &report.failures {
        output::tell(format_args!("{}: skipped (stage {}): {}", f.source, f.stage, f.error));
    }
    for left in &report.left_behind {
        output::tell(left);
    }
    if report.guessed_times > 0 {
        let frames = count(report.guessed_times, "frame");
        output::tell(format_args!(
            "{frames} without times in their files: vidrec guessed the times from the order of decoding"
        ));
    }
    tell_ignored(&report.passed_over);
}

pub fn tell_ignored(passed_over: &[PassedOver]) {
    for p in passed_over {
        let kind =
            if p.kind == "other" || p.kind.starts_with('.') { format!("{} file", p.kind) } else { p.kind.clone() };
        output::tell(format_args!("ignored {}, such as {}", count(p.files, &kind), p.example));
    }
}

fn files(passed_over: &[PassedOver]) -> u64 {
    passed_over.iter().map(|p| p.files).sum()
}

/// Missing files that are named; the rest are counted.
const MISSING_SHOWN: usize = 20;

pub fn render_estimate(e: &Estimate) -> String {
    let mut text =
        format!("{} to pack, {} with a label; {} named classes\n", count(e.videos, "video"), e.labeled, e.classes,);
    if !e.passed_over.is_empty() {
        text += &format!("  {} ignored\n", count(files(&e.passed_over), "file"));
    }
    if !e.missing.is_empty() {
        text += &format!("  {} missing:\n", count(e.missing.len() as u64, "file"));
        e.missing.iter().take(MISSING_SHOWN).for_each(|source| text += &format!("    {}\n", printable(source)));
        let more = e.missing.len().saturating_sub(MISSING_SHOWN);
        if more > 0 {
            text += &format!("    and {more} more (--json lists all)\n");
        }
    }
    text += &format!("  {} examined, {} of them cannot be packed\n", e.probed, e.probe_failures.len());
    for f in &e.probe_failures {
        text += &format!("    {} (stage {}): {}\n", printable(&f.source), f.stage, printable(&f.error));
    }
    text += &format!(
        "about {}, {}, {} in {}; about {} skipped; {} are free\n",
        count(e.clips, "clip"),
        count(e.frames, "frame"),
        bytes(e.bytes),
        duration(e.seconds),
        count(e.failed, "video"),
        bytes(e.free_bytes),
    );
    if e.jpeg_bytes > 0 {
        text += &format!("  {} per JPEG", bytes(e.jpeg_bytes));
        text += &scores(e.psnr, e.rgb_psnr, e.ssim, &count(e.probed, "video"));
        text.push('\n');
    }
    text
}

/// How near JPEGs are to what was encoded. These are the means of so many videos or frames.
fn scores(psnr: Option<f64>, rgb: Option<f64>, ssim: Option<f64>, of: &str) -> String {
    let (Some(psnr), Some(rgb), Some(ssim)) = (psnr, rgb, ssim) else { return String::new() };
    format!("; of luma: PSNR {psnr:.1} dB, SSIM {ssim:.4}; of RGB: PSNR {rgb:.1} dB (means of {of})")
}

pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// What a run says that found everything packed already.
fn nothing_to_do(r: &PackReport, output: &Path, retried: bool) -> String {
    let (out, clips) = (output.display(), count(r.clips, "clip"));
    if retried {
        return format!("nothing to retry: no video of {out} failed; it has {clips}\n");
    }
    let mut text = format!("nothing to do: the pack of {out} is finished, with {clips}\n");
    if r.failed > 0 {
        text += &format!("  {} skipped; --if-exists retry-failed tries them again\n", count(r.failed, "video"));
    }
    text
}

pub fn render(r: &PackReport, output: &Path, if_exists: IfExists) -> String {
    let out = output.display();
    if r.is_unchanged() {
        return nothing_to_do(r, output, if_exists == IfExists::RetryFailed);
    }
    if r.clips == 0 {
        let skipped = count(r.failed, "video");
        return format!(
            "nothing could be packed: {skipped} skipped, see {out}/{}\n",
            r.failures_file.as_deref().unwrap_or_default()
        );
    }
    summary("packed", r, output)
}

/// What the parts of a plan became.
pub fn render_published(r: &PackReport, output: &Path) -> String {
    summary("published", r, output)
}

fn summary(verb: &str, r: &PackReport, output: &Path) -> String {
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
    if let (Some(least), Some(most)) = (r.least_quality, r.most_quality) {
        text += &format!("  JPEG quality {least} to {most}\n");
    }
    if let Some(length) = r.bytes.saturating_sub(r.track_bytes).checked_div(r.frames) {
        text += &format!("  {} per frame", bytes(length));
        text += &scores(r.psnr, r.rgb_psnr, r.ssim, &count(r.measured_frames, "frame"));
        text.push('\n');
    }
    let mut line = |n: u64, what: &str, rest: &str| {
        if n > 0 {
            text += &format!("  {} {rest}\n", count(n, what));
        }
    };
    line(r.resumed_at.unwrap_or(0), "video", "of them done before the interruption");
    line(r.short, "video", "with fewer frames than requested");
    line(r.decoded_whole, "segment", "took a decode of the whole video");
    line(r.thinned, "video", "with more frames than --max-frames or --images takes, of which only some were taken");
    line(r.warnings.len() as u64, "video", "packed despite faults");
    let list = format!("skipped, see {out}/{}", r.failures_file.as_deref().unwrap_or_default());
    line(r.failed, "video", &list);
    line(files(&r.passed_over), "file", "ignored");
    r.shortage.iter().for_each(|shortage| text += &format!("  {shortage}\n"));
    text
}

pub fn render_part(r: &PackReport, part: u32, parts: u32) -> String {
    if r.is_unchanged() {
        return format!("nothing to do: part {part} of {parts} is done; it has {}\n", count(r.clips, "clip"));
    }
    let (clips, frames) = (count(r.clips, "clip"), count(r.frames, "frame"));
    let mut text =
        format!("packed part {part} of {parts}: {clips}, {frames}, {} in {:.1} s\n", bytes(r.bytes), r.seconds);
    if let Some(videos) = r.resumed_at {
        text += &format!("  {} of them done before an earlier attempt ended\n", count(videos, "video"));
    }
    if r.failed > 0 {
        text += &format!("  {} skipped\n", count(r.failed, "video"));
    }
    text
}
