//! `vidrec inspect --stats`: what is a data set made of?

use std::cmp::Reverse;

use crate::cli::output::{bytes, count, grouped, line, printable};
use crate::cli::{Outcome, Run, output};
use crate::{ClassStats, Dataset, Distribution, Stats, TrackStats};

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
    let (epoch, decoded) = (bytes(s.epoch_bytes), bytes(s.epoch_rgb_bytes));
    let mut text = format!("{}, {}, {}\n", count(s.clips, "clip"), count(s.frames, "frame"), count(s.shards, "shard"));
    text += &format!("  an epoch over all frames reads {epoch}, which decode to {decoded} of RGB\n");
    if let Some((least, most)) = s.smallest_frame_bytes.zip(s.largest_frame_bytes) {
        text += &format!("  JPEGs of {} to {}\n", bytes(least.into()), bytes(most.into()));
    }
    text += &line(s.short_clips, "clip", "whose video had fewer frames than requested");
    text += &line(s.repeated_frames, "frame", "repeated in such clips");
    s.distributions.iter().for_each(|found| text += &distribution(found));
    // The classes with the most clips first; classes with equal numbers in order of label.
    let mut classes: Vec<&ClassStats> = s.classes.iter().collect();
    classes.sort_by_key(|class| Reverse(class.clips));
    let name = |class: &ClassStats| match class.label {
        None => "(no label)".to_owned(),
        Some(label) if class.class.is_empty() => label.to_string(),
        Some(_) => class.class.clone(),
    };
    text += &table("clips by class", classes.into_iter().map(|class| (name(class), class.clips)).collect());
    for (name, stats) in s.tracks.iter().flatten() {
        text += &track(&format!("track {}", printable(name)), stats);
    }
    s.pictures.iter().for_each(|stats| text += &track("red, green and blue", stats));
    text
}

/// A distribution: of numbers its summary, of words the clips of each.
fn distribution(found: &Distribution) -> String {
    let show = |value| number(value, found.unit);
    let mut title = found.title.clone();
    if let Some(s) = &found.summary {
        title += &match s.min == s.max {
            true => format!(": all {}", show(s.min)),
            false => format!(": {} to {}, median {}, mean {}", show(s.min), show(s.max), show(s.median), show(s.mean)),
        };
    }
    if found.without > 0 {
        title += &format!(" ({} without)", grouped(found.without));
    }
    match found.summary {
        Some(_) => format!("{title}\n"),
        None => table(&title, found.bins.iter().map(|bin| (bin.word.clone().unwrap_or_default(), bin.clips)).collect()),
    }
}

/// A line for each of the first words, with its number of clips.
fn table(title: &str, rows: Vec<(String, u64)>) -> String {
    let Some(most) = rows.iter().map(|(_, n)| *n).max() else { return String::new() };
    let digits = grouped(most).len();
    let mut text = format!("\n{title}\n");
    for (name, n) in rows.iter().take(SHOWN) {
        text += &format!("  {:>digits$}  {}\n", grouped(*n), printable(name));
    }
    if let Some(rest @ [_, ..]) = rows.get(SHOWN..) {
        let sum = rest.iter().map(|(_, n)| n).sum();
        text += &format!("  and {} more with {} (--json has all)\n", grouped(rest.len() as u64), grouped(sum));
    }
    text
}

/// The statistics of a track or of pictures, in a line for each number of a value.
fn track(name: &str, s: &TrackStats) -> String {
    let without = if s.clips_without > 0 { format!(" ({} without)", grouped(s.clips_without)) } else { String::new() };
    let mut text = format!("\n{name} in {}{without}\n", count(s.clips, "clip"));
    text += "      numbers       mean        std        min        1 %       50 %       99 %        max\n";
    for i in 0..s.count.len().min(SHOWN) {
        let columns = [&s.mean, &s.std, &s.min, &s.q01, &s.q50, &s.q99, &s.max];
        let columns: String = columns.iter().map(|column| format!(" {:>10}", number(column[i], ""))).collect();
        let others = match s.not_finite[i] {
            0 => String::new(),
            n => format!(" ({} more not finite)", grouped(n)),
        };
        text += &format!("{:>13}{columns}{others}\n", grouped(s.count[i]));
    }
    if let Some(more @ 1..) = s.count.len().checked_sub(SHOWN) {
        text += &format!("  and {} more numbers of a value (--json has all)\n", grouped(more as u64));
    }
    text
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
