//! `vidrec inspect`: what is in a data set?

use std::path::PathBuf;

use crate::dataset_json::ShardJson;
use crate::edit::joined_meta;
use crate::{ClassStats, Clip, Dataset, JsonObject, Result, TrackCoding, TrackSchema, TrackView};
use serde::Serialize;
use serde_json::Value;

use crate::cli::outcome::{Outcome, Run};
use crate::cli::output::{self, bytes, count, grouped, printable};
use crate::cli::packing;
use crate::cli::stats;
use crate::cli::storage::StorageArgs;

/// Class names that are shown without --classes.
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
    /// Count the clips of each class.
    #[arg(long, conflicts_with = "clip")]
    classes: bool,
    /// Count what it is made of: classes, lengths, bytes, sizes, formats, attributes. Without --tracks or --pictures, this
    /// reads only the index.
    #[arg(long, conflicts_with_all = ["clip", "classes", "recipe"])]
    stats: bool,
    /// With --stats: also statistics of the numbers of tracks, for normalization. This reads all tracks.
    #[arg(long, requires = "stats")]
    tracks: bool,
    /// With --stats: also statistics of red, green and blue, for normalization, from up to 4 frames of each clip.
    #[arg(long, requires = "stats")]
    pictures: bool,
    /// Print the recipe that made the data set: `vidrec pack` packs the same bytes with it.
    #[arg(long, conflicts_with_all = ["clip", "classes", "json"])]
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

/// A data set at a glance.
#[derive(Serialize)]
struct Overview<'a> {
    format_version: u32,
    clips: u64,
    frames: u64,
    /// Frames of every clip; null when it varies.
    frames_per_clip: Option<u32>,
    /// Bytes of the record files.
    bytes: u64,
    classes: &'a [String],
    shards: Vec<ShardJson>,
    /// What clips have beside their frames. Absent if there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tracks: Vec<TrackSchema>,
    tool: String,
    ffmpeg: Option<String>,
    settings: JsonObject,
    /// Only with --classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    clips_per_class: Option<Vec<ClassStats>>,
}

/// One clip in full.
#[derive(Serialize)]
struct ClipReport<'a> {
    clip: u64,
    source: String,
    label: Option<u32>,
    class: String,
    width: u32,
    height: u32,
    short: bool,
    time_base: (u32, u32),
    attributes: JsonObject,
    frames: Vec<FrameReport>,
    /// Absent if the clip has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tracks: Vec<TrackReport<'a>>,
}

#[derive(Serialize)]
struct TrackReport<'a> {
    #[serde(flatten)]
    schema: &'a TrackSchema,
    /// Absent if the values are stored as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    coding: Option<TrackCoding>,
    values: usize,
    /// Of the first value and of the last, in nanoseconds on the clip's clock.
    first_ns: Option<i64>,
    last_ns: Option<i64>,
}

#[derive(Serialize)]
struct FrameReport {
    frame: u32,
    pts: i64,
    pts_seconds: f64,
    source_index: Option<u32>,
    offset: u64,
    bytes: u64,
    crc32: u32,
}

pub fn run(args: &Args) -> Run {
    if args.recipe {
        let text = packing::recipe_of(&args.dataset, args.storage.storage()?)?;
        output::print(false, &(), |()| text.clone())?;
        return Ok(Outcome::Done);
    }
    let dataset = args.storage.open(&args.dataset)?;
    if args.stats {
        return stats::print(&dataset, args.tracks, args.pictures, args.json);
    }
    if let Some(ordinal) = args.clip {
        let clip = dataset.clip(ordinal)?;
        output::print(args.json, &clip_report(&clip)?, render_clip)?;
    } else {
        let overview = overview(&dataset, args.classes)?;
        output::print(args.json, &overview, render)?;
    }
    for leftover in dataset.leftovers() {
        output::tell(&leftover.note);
        output::tell_next(&leftover.hints);
    }
    Ok(Outcome::Done)
}

fn overview(dataset: &Dataset, count_classes: bool) -> Result<Overview<'_>> {
    let json = dataset.to_json();
    // Shards that were appended may have other settings than the first one. Of a remote data set, not all are opened.
    let meta = match dataset.is_remote() {
        true => dataset.meta().cloned().unwrap_or_default(),
        false => joined_meta(std::slice::from_ref(dataset))?.0,
    };
    Ok(Overview {
        format_version: json.format_version,
        clips: json.clips,
        frames: json.frames,
        frames_per_clip: frames_per_clip(dataset)?,
        bytes: json.bytes,
        classes: dataset.classes(),
        shards: json.shards,
        tracks: dataset.tracks()?,
        tool: meta.tool,
        ffmpeg: meta.ffmpeg,
        settings: meta.settings,
        clips_per_class: if count_classes { Some(crate::class_stats(dataset)?) } else { None },
    })
}

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

fn clip_report<'a>(clip: &Clip<'a>) -> Result<ClipReport<'a>> {
    let mut frames = Vec::new();
    for (t, frame) in (0..).zip(clip.frames()) {
        let frame = frame?;
        frames.push(FrameReport {
            frame: t,
            pts: frame.pts(),
            pts_seconds: frame.pts_seconds(),
            source_index: frame.source_index(),
            offset: frame.offset(),
            bytes: frame.jpeg().len() as u64,
            crc32: frame.crc32(),
        });
    }
    let track = |track: &TrackView<'a>| {
        let time = |i: Option<usize>| i.map(|i| track.time_ns(i)).transpose();
        let (first_ns, last_ns) = (time((!track.is_empty()).then_some(0))?, time(track.len().checked_sub(1))?);
        let coding = Some(track.coding()).filter(|coding| *coding != TrackCoding::Raw);
        Ok(TrackReport { schema: track.schema(), coding, values: track.len(), first_ns, last_ns })
    };
    Ok(ClipReport {
        clip: clip.ordinal(),
        source: clip.source()?,
        label: clip.label(),
        class: clip.class()?,
        width: clip.width(),
        height: clip.height(),
        short: clip.is_short(),
        time_base: clip.time_base(),
        attributes: clip.attributes()?,
        frames,
        tracks: clip.tracks()?.all()?.iter().map(track).collect::<Result<_>>()?,
    })
}

fn render(o: &Overview<'_>) -> String {
    let per_clip = o.frames_per_clip.map_or("various numbers of frames".into(), |n| count(n.into(), "frame"));
    let mut text = format!(
        "vidrec format {}, written by {}\n{} of {per_clip}, {} in all, {}\n",
        o.format_version,
        if o.tool.is_empty() { "an unnamed program".into() } else { printable(&o.tool) },
        count(o.clips, "clip"),
        count(o.frames, "frame"),
        bytes(o.bytes),
    );
    if !o.classes.is_empty() {
        let first = &o.classes[..o.classes.len().min(CLASSES_SHOWN)];
        let more = match o.classes.len() - first.len() {
            0 => String::new(),
            more if o.clips_per_class.is_some() => format!(" and {} more", grouped(more as u64)),
            more => format!(" and {} more (--classes shows all)", grouped(more as u64)),
        };
        let classes = match o.classes.len() {
            1 => "1 class".to_owned(),
            n => format!("{} classes", grouped(n as u64)),
        };
        text += &format!("{classes}: {}{more}\n", printable(&first.join(", ")));
    }
    for s in &o.shards {
        text += &format!(
            "shard {}: {}, {}, {}\n",
            printable(&s.record_file),
            count(s.clips, "clip"),
            count(s.frames, "frame"),
            bytes(s.bytes)
        );
    }
    for track in &o.tracks {
        text += &format!("track {}: {}\n", printable(&track.name), kind(track));
    }
    let merged: Option<Vec<JsonObject>> = o.settings.get("merged").ok().flatten();
    text += &settings("settings", &o.settings, merged.is_some());
    for own in merged.iter().flatten() {
        text += &settings("settings of some clips", own, false);
    }
    if let Some(ffmpeg) = &o.ffmpeg {
        text += &format!("decoded with {}\n", printable(ffmpeg));
    }
    for c in o.clips_per_class.iter().flatten() {
        let label = c.label.map_or("none".into(), |l| l.to_string());
        text += &format!("{:>8}  {label:>6}  {}\n", grouped(c.clips), printable(&c.class));
    }
    text
}

/// A line of settings, without those that differ if these follow.
fn settings(what: &str, settings: &JsonObject, has_more: bool) -> String {
    let shown = plain_values(settings).filter(|(name, _)| !has_more || *name != "merged");
    let shown: Vec<String> = shown.map(|(name, value)| format!("{name} {value}")).collect();
    if shown.is_empty() { String::new() } else { format!("{what}: {}\n", printable(&shown.join(", "))) }
}

fn render_clip(c: &ClipReport<'_>) -> String {
    let label = c.label.map_or("no label".into(), |l| format!("label {l}"));
    let class = if c.class.is_empty() { String::new() } else { format!(" ({})", printable(&c.class)) };
    let size = if c.frames.is_empty() { "no frames".into() } else { format!("{}x{} pixels", c.width, c.height) };
    let mut text = format!("clip {}: {}\n{label}{class}, {size}", c.clip, printable(&c.source));
    if c.short {
        text += ", the source has fewer frames than requested";
    }
    text += "\n";
    for (name, value) in plain_values(&c.attributes) {
        text += &format!("{}: {}\n", printable(name), printable(&value));
    }
    if !c.frames.is_empty() {
        text += "frame     seconds  source frame        offset     bytes       crc32\n";
    }
    for f in &c.frames {
        let index = f.source_index.map_or("-".into(), |i| i.to_string());
        text += &format!(
            "{:>5} {:>11.3} {index:>13} {:>13} {:>9}  {:#010x}\n",
            f.frame, f.pts_seconds, f.offset, f.bytes, f.crc32
        );
    }
    for t in &c.tracks {
        let seconds = |ns: i64| ns as f64 / 1e9;
        let times = t.first_ns.zip(t.last_ns);
        let times = times.map_or(String::new(), |(a, b)| format!(", {:.3} to {:.3} s", seconds(a), seconds(b)));
        text += &format!(
            "track {}: {}{}, {}{times}\n",
            printable(&t.schema.name),
            kind(t.schema),
            t.coding.map_or(String::new(), |coding| format!(", {coding}")),
            count(t.values as u64, "value")
        );
    }
    text
}

/// What the values of a track are, in words.
fn kind(track: &TrackSchema) -> String {
    let shape = if track.shape.is_empty() { String::new() } else { format!(" {:?}", track.shape) };
    format!("{}{shape}, {}", track.kind, track.timing)
}

/// The name of each value, and the value as plain text.
fn plain_values(object: &JsonObject) -> impl Iterator<Item = (&str, String)> {
    let value = |name| object.get::<Value>(name).ok().flatten().unwrap_or_default();
    object.names().map(move |name| (name, plain(&value(name))))
}

/// A JSON value for people: text without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
