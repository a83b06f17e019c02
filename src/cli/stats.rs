//! `vidrec inspect --stats`: what is a data set made of?

use crate::{Bin, ClassStats, Dataset, Distribution, Stats, Summary, TrackStats};

use crate::cli::outcome::{Outcome, Run};
use crate::cli::output::{self, bytes, count, grouped, printable};

/// The frames of a clip whose pixels count.
const FRAMES: u32 = 4;

/// The most classes, sizes and other words that are shown, those with the most clips; `--json` has all.
const SHOWN: usize = 20;

/// Prints what a data set is made of, also its tracks and pictures if they are wanted.
pub fn print(dataset: &Dataset, with_tracks: bool, with_pictures: bool, json: bool) -> Run {
    let mut stats = crate::stats(dataset)?;
    if with_tracks {
        stats.tracks = Some(crate::track_stats(dataset, None)?);
    }
    if with_pictures {
        stats.pictures = Some(crate::picture_stats(dataset, FRAMES)?);
    }
    output::print(json, &stats, render)?;
    Ok(Outcome::Done)
}

fn render(s: &Stats) -> String {
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
    s.distributions.iter().for_each(|found| text += &distribution(found));
    // The classes with the most clips first; classes with equal numbers in order of label.
    let mut classes: Vec<&ClassStats> = s.classes.iter().collect();
    classes.sort_by_key(|class| std::cmp::Reverse(class.clips));
    text += &table("clips by class", &classes, |class| (class_name(class), class.clips), SHOWN);
    for (name, stats) in s.tracks.iter().flatten() {
        text += &track(&format!("track {}", printable(name)), stats);
    }
    s.pictures.iter().for_each(|stats| text += &track("red, green and blue", stats));
    text
}

/// The statistics of a track or of pictures, in a line for each number of a value.
fn track(name: &str, s: &TrackStats) -> String {
    let mut text = format!("\n{name} in {}", count(s.clips, "clip"));
    if s.clips_without > 0 {
        text += &format!(" ({} without)", grouped(s.clips_without));
    }
    text += "\n      numbers       mean        std        min        1 %       50 %       99 %        max\n";
    for i in 0..s.count.len().min(SHOWN) {
        let columns = [&s.mean, &s.std, &s.min, &s.q01, &s.q50, &s.q99, &s.max];
        let columns: String = columns.iter().map(|column| format!(" {:>10}", number(column[i], ""))).collect();
        text += &format!("{:>13}{columns}", grouped(s.count[i]));
        if s.not_finite[i] > 0 {
            text += &format!(" ({} more not finite)", grouped(s.not_finite[i]));
        }
        text.push('\n');
    }
    if let Some(more @ 1..) = s.count.len().checked_sub(SHOWN) {
        text += &format!("  and {} more numbers of a value (--json has all)\n", grouped(more as u64));
    }
    text
}

/// A distribution with its summary, and with its bins if there is more than one.
fn distribution(found: &Distribution) -> String {
    let mut title = found.title.clone();
    title += &found.summary.as_ref().map_or_else(String::new, |s| format!(": {}", summary(s, found.unit)));
    if found.without > 0 {
        title += &format!(" ({} without)", grouped(found.without));
    }
    if found.summary.is_some() && found.bins.len() == 1 {
        return format!("\n{title}\n");
    }
    let shown = if found.summary.is_some() { usize::MAX } else { SHOWN };
    table(&title, &found.bins, |bin| (bin_name(bin, found.unit), bin.clips), shown)
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

/// A line for each of the first `shown` items, with its number and its name.
fn table<T>(title: &str, items: &[T], row: impl Fn(&T) -> (String, u64), shown: usize) -> String {
    let rows: Vec<(String, u64)> = items.iter().map(row).collect();
    let Some(most) = rows.iter().map(|(_, n)| *n).max() else { return String::new() };
    let (visible, rest) = rows.split_at(shown.min(rows.len()));
    let digits = grouped(most).len();
    let mut text = format!("\n{title}\n");
    for (name, n) in visible {
        text += &format!("  {:>digits$}  {}\n", grouped(*n), printable(name));
    }
    if !rest.is_empty() {
        let sum = rest.iter().map(|(_, n)| n).sum();
        text += &format!("  and {} more with {} (--json has all)\n", grouped(rest.len() as u64), grouped(sum));
    }
    text
}
