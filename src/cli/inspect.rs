//! `vidrec inspect`: what is in a data set?

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::output::{bytes, count, grouped, printable};
use crate::cli::{Outcome, Run, StorageArgs, output, packing, stats};
use crate::edit::joined_meta;
use crate::{Clip, Dataset, JsonObject, Result, TrackCoding, TrackView};

/// The most class names that are shown.
const CLASSES_SHOWN: usize = 20;

/// The most clips whose entries are read only to say how many frames each has.
const MOST_READ: u64 = 1_000_000;

/// Say what is in a data set, or all about one clip, or what the data set is made of.
///
/// The seconds of frames are the video's own timestamps, on the clock of its container. That is what a player shows, except
/// for MPEG transport and program streams and Ogg, which may begin at any time and which players show from 0.
#[derive(clap::Args)]
pub struct Args {
    /// The data set: its folder, a .rec, a .vidx or a dataset.json, or its location, such as s3://bucket/train.
    dataset: PathBuf,
    /// Describe this clip, counted from 0.
    #[arg(long, value_name = "I", value_parser = clip_number)]
    clip: Option<u64>,
    /// Count what it is made of: classes, lengths, bytes, sizes, formats, attributes. Without --tracks or --pictures, this
    /// reads only the index.
    #[arg(long, conflicts_with_all = ["clip", "recipe"])]
    stats: bool,
    /// With --stats: also statistics of the numbers of tracks, for normalization. This reads all tracks.
    #[arg(long, requires = "stats")]
    tracks: bool,
    /// With --stats: also statistics of red, green and blue, for normalization, from up to 4 frames of each clip.
    #[arg(long, requires = "stats")]
    pictures: bool,
    /// Print the recipe that made the data set: `vidrec pack` packs the same bytes with it.
    #[arg(long, conflicts_with_all = ["clip", "json"])]
    recipe: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

fn clip_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected the number of a clip, counted from 0, such as 12".into())
}

/// A description as JSON, and as text.
type Description = (Value, String);

pub fn run(args: &Args) -> Run {
    if args.recipe {
        let text = packing::recipe_of(&args.dataset, args.storage.storage()?)?;
        output::print(false, &(), |()| text)?;
        return Ok(Outcome::Done);
    }
    let dataset = args.storage.open(&args.dataset)?;
    if args.stats {
        return stats::print(&dataset, args.tracks, args.pictures, args.json);
    }
    let (json, text) = match args.clip {
        Some(ordinal) => of_clip(&dataset.clip(ordinal)?)?,
        None => of_dataset(&dataset)?,
    };
    output::print(args.json, &json, |_| text)?;
    for leftover in dataset.leftovers() {
        output::tell(&leftover.note);
        output::tell_next(&leftover.hints);
    }
    Ok(Outcome::Done)
}

fn of_dataset(dataset: &Dataset) -> Result<Description> {
    let listing = dataset.to_json();
    // Shards that were appended may have other settings than the first one. Of a remote data set, not all are opened.
    let meta = match dataset.is_remote() {
        true => dataset.meta().clone(),
        false => joined_meta(std::slice::from_ref(dataset))?.0,
    };
    let (frames_per_clip, classes, tracks) = (frames_per_clip(dataset)?, dataset.classes(), dataset.tracks()?);
    let mut text = format!(
        "vidrec format {}, written by {}\n{} of {}, {} in all, {}\n",
        listing.format_version,
        if meta.tool.is_empty() { "an unnamed program".into() } else { printable(&meta.tool) },
        count(listing.clips, "clip"),
        frames_per_clip.map_or("various numbers of frames".into(), |n| count(n.into(), "frame")),
        count(listing.frames, "frame"),
        bytes(listing.bytes),
    );
    if !classes.is_empty() {
        let first = &classes[..classes.len().min(CLASSES_SHOWN)];
        let more = match classes.len() - first.len() {
            0 => String::new(),
            more => format!(" and {} more (--stats counts the clips of each)", grouped(more as u64)),
        };
        let number =
            if classes.len() == 1 { "1 class".into() } else { format!("{} classes", grouped(classes.len() as u64)) };
        text += &format!("{number}: {}{more}\n", printable(&first.join(", ")));
    }
    for s in &listing.shards {
        let (clips, frames) = (count(s.clips, "clip"), count(s.frames, "frame"));
        text += &format!("shard {}: {clips}, {frames}, {}\n", printable(&s.record_file), bytes(s.bytes));
    }
    for track in &tracks {
        text += &format!("track {}: {}\n", printable(&track.name), track.words());
    }
    let merged: Option<Vec<JsonObject>> = meta.settings.get("merged").ok().flatten();
    text += &settings("settings", &meta.settings, merged.is_some());
    merged.iter().flatten().for_each(|own| text += &settings("settings of some clips", own, false));
    meta.ffmpeg.iter().for_each(|ffmpeg| text += &format!("decoded with {}\n", printable(ffmpeg)));
    let mut json = json!({
        "format_version": listing.format_version,
        "clips": listing.clips,
        "frames": listing.frames,
        "frames_per_clip": frames_per_clip,
        "bytes": listing.bytes,
        "classes": classes,
        "shards": listing.shards,
        "tool": meta.tool,
        "ffmpeg": meta.ffmpeg,
        "settings": meta.settings,
    });
    if !tracks.is_empty() {
        json["tracks"] = json!(tracks);
    }
    Ok((json, text))
}

/// The frames of every clip; `None` when it varies.
fn frames_per_clip(dataset: &Dataset) -> Result<Option<u32>> {
    if dataset.is_remote() || dataset.len() > MOST_READ {
        // The counts of all shards and a few entries, because reading all entries of a remote data set opens every shard.
        return dataset.likely_frames_per_clip();
    }
    let mut common = None;
    for clip in dataset.clips() {
        let count = clip?.frame_count();
        if *common.get_or_insert(count) != count {
            return Ok(None);
        }
    }
    Ok(common)
}

fn of_clip(clip: &Clip<'_>) -> Result<Description> {
    let (source, class, attributes) = (clip.source()?, clip.class()?, clip.attributes()?);
    let size = match clip.frame_count() {
        0 => "no frames".into(),
        _ => format!("{}x{} pixels", clip.width(), clip.height()),
    };
    let mut text = format!(
        "clip {}: {}\n{}{}, {size}{}\n",
        clip.ordinal(),
        printable(&source),
        clip.label().map_or("no label".into(), |l| format!("label {l}")),
        if class.is_empty() { String::new() } else { format!(" ({})", printable(&class)) },
        if clip.is_short() { ", the source has fewer frames than requested" } else { "" },
    );
    for (name, value) in plain_values(&attributes) {
        text += &format!("{}: {}\n", printable(name), printable(&value));
    }
    if clip.frame_count() > 0 {
        text += "frame     seconds  source frame        offset     bytes       crc32\n";
    }
    let mut frames = Vec::new();
    for (t, frame) in clip.frames().enumerate() {
        let frame = frame?;
        let (seconds, index, offset) = (frame.pts_seconds(), frame.source_index(), frame.offset());
        let (length, crc32) = (frame.jpeg().len(), frame.crc32());
        let number = index.map_or("-".into(), |i| i.to_string());
        text += &format!("{t:>5} {seconds:>11.3} {number:>13} {offset:>13} {length:>9}  {crc32:#010x}\n");
        frames.push(json!({
            "frame": t, "pts": frame.pts(), "pts_seconds": seconds, "source_index": index, "offset": offset, "bytes": length,
            "crc32": crc32,
        }));
    }
    let mut json = json!({
        "clip": clip.ordinal(),
        "source": source,
        "label": clip.label(),
        "class": class,
        "width": clip.width(),
        "height": clip.height(),
        "short": clip.is_short(),
        "time_base": clip.time_base(),
        "attributes": attributes,
        "frames": frames,
    });
    let tracks = clip.tracks()?.all()?.iter().map(of_track).collect::<Result<Vec<_>>>()?;
    tracks.iter().for_each(|(_, line)| text += line);
    if !tracks.is_empty() {
        json["tracks"] = tracks.into_iter().map(|(json, _)| json).collect();
    }
    Ok((json, text))
}

fn of_track(track: &TrackView<'_>) -> Result<Description> {
    let last = track.len().checked_sub(1);
    let (first_ns, last_ns) =
        (last.map(|_| track.time_ns(0)).transpose()?, last.map(|last| track.time_ns(last)).transpose()?);
    let coding = Some(track.coding()).filter(|coding| *coding != TrackCoding::Raw);
    let mut json = json!(track.schema());
    (json["values"], json["first_ns"], json["last_ns"]) = (track.len().into(), first_ns.into(), last_ns.into());
    coding.iter().for_each(|coding| json["coding"] = json!(coding));
    let seconds = |ns: i64| ns as f64 / 1e9;
    let times = first_ns.zip(last_ns);
    let text = format!(
        "track {}: {}{}, {}{}\n",
        printable(track.name()),
        track.schema().words(),
        coding.map_or(String::new(), |coding| format!(", {coding}")),
        count(track.len() as u64, "value"),
        times.map_or(String::new(), |(a, b)| format!(", {:.3} to {:.3} s", seconds(a), seconds(b))),
    );
    Ok((json, text))
}

/// A line of settings, without those that differ if these follow.
fn settings(what: &str, settings: &JsonObject, has_more: bool) -> String {
    let shown = plain_values(settings).filter(|(name, _)| !has_more || *name != "merged");
    let shown: Vec<String> = shown.map(|(name, value)| format!("{name} {value}")).collect();
    if shown.is_empty() { String::new() } else { format!("{what}: {}\n", printable(&shown.join(", "))) }
}

/// The names of the values of an object, and the values as text, without quotes around texts.
fn plain_values(object: &JsonObject) -> impl Iterator<Item = (&str, String)> {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    object.0.iter().map(move |(name, value)| (name.as_str(), plain(value)))
}
