//! `vidrec inspect --stats`: what is a data set made of?

use vidrec::{Bin, ClassStats, Dataset, Distribution, Stats, Summary, TrackStats};

use crate::outcome::{Outcome, Run};
use crate::output::{self, bytes, count, grouped, printable};

/// The frames of a clip whose pixels count.
const FRAMES: u32 = 4;

/// Prints what a data set is made of, also its tracks and pictures if they are wanted, with at most `shown` classes, sizes and other words, and bar charts of `columns`.
pub fn print(
    dataset: &Dataset,
    (with_tracks, with_pictures): (bool, bool),
    shown: usize,
    columns: Option<u16>,
    json: bool,
) -> Run {
    let mut stats = vidrec::stats(dataset)?;
    if with_tracks {
        stats.tracks = Some(vidrec::track_stats(dataset, None)?);
    }
    if with_pictures {
        stats.pictures = Some(vidrec::picture_stats(dataset, FRAMES)?);
    }
    output::print(json, &stats, |s| render(s, shown, width(columns)))?;
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
    if let Some((least, most)) = s.smallest_frame_bytes.zip(s.largest_frame_bytes) {
        text += &format!("JPEGs of {} to {}\n", bytes(least.into()), bytes(most.into()));
    }
    let mut fact = |n: u64, what: &str, rest: &str| {
        if n > 0 {
            text += &format!("{} {rest}\n", count(n, what));
        }
    };
    fact(s.short_clips, "clip", "whose video had fewer frames than requested");
    fact(s.repeated_frames, "frame", "repeated in such clips");
    fact(s.repaired_clips, "clip", "saved by a repair without some of their metadata");
    for (name, (clips, sum)) in &s.video_notes {
        fact(*clips, "clip", &format!("with {}: {}", name.replace('_', " "), grouped(*sum)));
    }
    s.distributions.iter().for_each(|found| text += &distribution(found, shown, width));
    // The classes with the most clips first; classes with equal numbers in order of label.
    let mut classes: Vec<&ClassStats> = s.classes.iter().collect();
    classes.sort_by_key(|class| std::cmp::Reverse(class.clips));
    text += &chart("clips by class", &classes, |class| class_name(class), |class| class.clips, shown, width);
    s.tracks
        .iter()
        .flatten()
        .for_each(|(name, stats)| text += &track(&format!("track {}", printable(name)), stats, shown));
    s.pictures.iter().for_each(|stats| text += &track("red, green and blue", stats, shown));
    text
}

/// The statistics of a track or of pictures, in a line for each number of a value.
fn track(name: &str, s: &TrackStats, shown: usize) -> String {
    let mut text = format!("\n{name} in {}", count(s.clips, "clip"));
    if s.clips_without > 0 {
        text += &format!(" ({} without)", grouped(s.clips_without));
    }
    text += "\n      numbers       mean        std        min        1 %       50 %       99 %        max\n";
    for i in 0..s.count.len().min(shown) {
        let columns = [&s.mean, &s.std, &s.min, &s.q01, &s.q50, &s.q99, &s.max];
        let columns: String = columns.iter().map(|column| format!(" {:>10}", number(column[i], ""))).collect();
        text += &format!("{:>13}{columns}", grouped(s.count[i]));
        if s.not_finite[i] > 0 {
            text += &format!(" ({} more not finite)", grouped(s.not_finite[i]));
        }
        text.push('\n');
    }
    if s.count.len() > shown {
        text +=
            &format!("  and {} more numbers of a value (--all shows them)\n", grouped((s.count.len() - shown) as u64));
    }
    text
}

/// A distribution with its summary; as a chart, if there is more than one bin.
fn distribution(found: &Distribution, shown: usize, width: usize) -> String {
    let mut title = found.title.clone();
    title += &found.summary.as_ref().map_or_else(String::new, |s| format!(": {}", summary(s, found.unit)));
    if found.without > 0 {
        title += &format!(" ({} without)", grouped(found.without));
    }
    if found.summary.is_some() && found.bins.len() == 1 {
        return format!("\n{title}\n");
    }
    let shown = if found.summary.is_some() { usize::MAX } else { shown };
    chart(&title, &found.bins, |bin| bin_name(bin, found.unit), |bin| bin.clips, shown, width)
}

fn summary(s: &Summary, unit: &str) -> String {
    let show = |value| number(value, unit);
    if s.min == s.max {
        return format!("all {}", show(s.min));
    }
    format!("{} to {}, median {}, mean {}", show(s.min), show(s.max), show(s.median), show(s.mean))
}

fn bin_name(bin: &Bin, unit: &str) -> String {
    match (&bin.word, bin.from) {
        (Some(word), _) => word.clone(),
        (None, Some(from)) if bin.below == Some(from) => number(from, unit),
        (None, from) => format!("from {}", number(from.unwrap_or_default(), unit)),
    }
}

/// A number with few digits, and its unit.
fn number(value: f64, unit: &str) -> String {
    let text = match value.abs() {
        _ if unit == "B" => return format!("{} B", grouped(value.round() as u64)),
        size if value != 0.0 && !(1e-3..1e12).contains(&size) => format!("{value:.2e}"),
        _ => format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    match unit {
        "s" => text + " s",
        "/s" => text + "/s",
        _ => text,
    }
}

fn class_name(class: &ClassStats) -> String {
    match (class.label, class.class.is_empty()) {
        (None, _) => "(no label)".to_owned(),
        (Some(label), true) => label.to_string(),
        (Some(_), false) => class.class.clone(),
    }
}

/// Bars to the right of names and numbers, in at most `width` columns. Only items that are shown get a name.
fn chart<T>(
    title: &str,
    items: &[T],
    name: impl Fn(&T) -> String,
    number: impl Fn(&T) -> u64,
    shown: usize,
    width: usize,
) -> String {
    let Some(most) = items.iter().map(&number).max() else { return String::new() };
    let (visible, rest) = items.split_at(shown.min(items.len()));
    let visible: Vec<(String, u64)> = visible.iter().map(|item| (name(item), number(item))).collect();
    let widest = visible.iter().map(|(name, _)| console::measure_text_width(name)).max().unwrap_or(0);
    let names = widest.min(width / 2);
    let numbers = grouped(most).len();
    let room = width.saturating_sub(names + numbers + 4).max(1);
    let mut text = format!("\n{title}\n");
    for (name, n) in &visible {
        let name = console::truncate_str(&printable(name), names, "…").into_owned();
        let name = console::pad_str(&name, names, console::Alignment::Left, None).into_owned();
        text += format!("  {name} {:>numbers$} {}", grouped(*n), bar(*n, most, room)).trim_end();
        text.push('\n');
    }
    if !rest.is_empty() {
        let sum = rest.iter().map(number).sum();
        text += &format!("  and {} more with {} (--all shows them)\n", grouped(rest.len() as u64), grouped(sum));
    }
    text
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
        let chart = |rows: &[(String, u64)], shown, width| {
            chart("title", rows, |(name, _)| name.clone(), |(_, n)| *n, shown, width)
        };
        for width in [20, 40, 80, 200] {
            let text = chart(&rows, usize::MAX, width);
            for line in text.lines() {
                assert!(console::measure_text_width(line) <= width, "{width}: {line:?}");
            }
            assert_eq!(text.lines().count(), 5, "{text}");
        }
        assert!(chart(&rows, 1, 80).contains("and 2 more with 501 "));
        assert_eq!(chart(&[], 5, 80), "");
    }
}
