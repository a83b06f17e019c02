//! `vidrec stats`: what is it made of?

use std::path::PathBuf;

use vidrec::{Bin, ClassStats, Dataset, Stats, Summary};

use crate::output::{bytes, count, grouped};
use crate::{Outcome, Run, output};

/// Count what a data set is made of: classes, sizes, lengths, bytes.
///
/// Only the index is read.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Show the classes with the most clips, so many of them.
    #[arg(long, default_value_t = 20, value_name = "K")]
    top: usize,
    /// Show all classes.
    #[arg(long, conflicts_with = "top")]
    all: bool,
    /// Width of the bar charts in columns. [default: that of the terminal, or 80]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    width: Option<u16>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Run {
    let stats = vidrec::stats(&Dataset::open(&args.dataset)?)?;
    let shown = if args.all { usize::MAX } else { args.top };
    output::print(args.json, &stats, |s| render(s, shown, width(args.width)))?;
    Ok(Outcome::Done)
}

fn width(wanted: Option<u16>) -> usize {
    let terminal = || console::Term::stdout().size_checked().map(|(_, columns)| columns);
    usize::from(wanted.or_else(terminal).unwrap_or(80)).max(20)
}

fn render(s: &Stats, shown: usize, width: usize) -> String {
    let mut text = format!("{}, {}, {}\n", count(s.clips, "clip"), count(s.frames, "frame"), count(s.shards, "shard"));
    text += &format!(
        "an epoch over all frames reads {}, which decode to {} of RGB\n",
        bytes(s.epoch_bytes),
        bytes(s.epoch_rgb_bytes)
    );
    text += &summary("frames a clip", &s.frames_per_clip, |v| format!("{v:.1}"));
    text += &summary("seconds a clip, first frame to last", &s.seconds_per_clip, |v| format!("{v:.2}"));
    text += &summary("bytes a frame", &s.bytes_per_frame, |v| bytes(v as u64));
    let mut fact = |n: u64, what: &str, rest: &str| {
        if n > 0 {
            text += &format!("{} {rest}\n", count(n, what));
        }
    };
    fact(s.clips_without_times, "clip", "without times that advance");
    fact(s.short_clips, "clip", "whose video had fewer frames than asked for");
    fact(s.repeated_frames, "frame", "repeated in such clips");
    fact(s.repaired_clips, "clip", "saved by repair without all that was known of them");
    for (name, (clips, sum)) in &s.video_notes {
        fact(*clips, "clip", &format!("with {}: {}", name.replace('_', " "), grouped(*sum)));
    }
    let sizes: Vec<_> = s.sizes.iter().map(|size| (size_name(size.width, size.height), size.clips)).collect();
    text += &chart("clips by size of their frames", &sizes, shown, width);
    if s.frames_per_clip_bins.len() > 1 {
        text += &chart("clips by number of frames", &bins(&s.frames_per_clip_bins, grouped), usize::MAX, width);
    }
    text += &chart("frames by bytes", &bins(&s.bytes_per_frame_bins, bytes), usize::MAX, width);
    text + &chart("clips by class", &classes(&s.classes), shown, width)
}

fn size_name(width: u32, height: u32) -> String {
    if (width, height) == (0, 0) { "varying".into() } else { format!("{width}x{height}") }
}

fn summary(what: &str, s: &Summary, show: impl Fn(f64) -> String) -> String {
    if s.count == 0 {
        return String::new();
    }
    format!("{what}: {} to {}, mean {}\n", show(s.min), show(s.max), show(s.mean))
}

fn bins(bins: &[Bin], show: impl Fn(u64) -> String) -> Vec<(String, u64)> {
    bins.iter().map(|b| (format!("from {}", show(b.from)), b.count)).collect()
}

/// The classes with the most clips first; those with as many in order of label.
fn classes(classes: &[ClassStats]) -> Vec<(String, u64)> {
    let name = |c: &ClassStats| match (c.label, c.class.is_empty()) {
        (None, _) => "(no label)".to_owned(),
        (Some(label), true) => label.to_string(),
        (Some(_), false) => c.class.clone(),
    };
    let mut rows: Vec<(String, u64)> = classes.iter().map(|c| (name(c), c.clips)).collect();
    rows.sort_by_key(|(_, clips)| std::cmp::Reverse(*clips));
    rows
}

/// Bars to the right of names and numbers, in at most `width` columns.
fn chart(title: &str, rows: &[(String, u64)], shown: usize, width: usize) -> String {
    let Some(most) = rows.iter().map(|(_, n)| *n).max() else { return String::new() };
    let visible = &rows[..shown.min(rows.len())];
    let widest = visible.iter().map(|(name, _)| console::measure_text_width(name)).max().unwrap_or(0);
    let names = widest.min(width / 2);
    let numbers = grouped(most).len();
    let room = width.saturating_sub(names + numbers + 4).max(1);
    let mut text = format!("\n{title}\n");
    for (name, n) in visible {
        let name = console::truncate_str(&printable(name), names, "…").into_owned();
        let name = console::pad_str(&name, names, console::Alignment::Left, None).into_owned();
        text += format!("  {name} {:>numbers$} {}", grouped(*n), bar(*n, most, room)).trim_end();
        text.push('\n');
    }
    if visible.len() < rows.len() {
        let (rest, sum) = (&rows[visible.len()..], rows[visible.len()..].iter().map(|(_, n)| n).sum());
        text += &format!("  and {} more with {} (--all shows them)\n", grouped(rest.len() as u64), grouped(sum));
    }
    text
}

/// Names come from files: no control characters go to the terminal.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A bar of up to `room` columns, in eighths; anything above zero shows.
fn bar(n: u64, most: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if n == 0 || most == 0 {
        return String::new();
    }
    let eighths = (u128::from(n) * room as u128 * 8 / u128::from(most)).max(1) as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_never_too_wide() {
        assert_eq!([bar(0, 8, 4), bar(8, 8, 4), bar(4, 8, 4), bar(1, 8, 4)], ["", "████", "██", "▌"]);
        assert_eq!(bar(1, u64::MAX, 4), "▏");
        let rows = vec![("a".repeat(200), 1000), ("run\u{7}\nwalk".to_owned(), 1), ("跑步".to_owned(), 500)];
        for width in [20, 40, 80, 200] {
            let text = chart("title", &rows, usize::MAX, width);
            for line in text.lines() {
                assert!(console::measure_text_width(line) <= width, "{width}: {line:?}");
            }
            assert_eq!(text.lines().count(), 5, "{text}");
        }
        assert!(chart("title", &rows, 1, 80).contains("and 2 more with 501 "));
        assert_eq!(chart("title", &[], 5, 80), "");
    }
}
