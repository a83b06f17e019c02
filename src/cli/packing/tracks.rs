//! `vidrec tracks`: tracks and attributes for clips that are packed already.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::cli::output::{self, bytes, count, grouped, printable};
use crate::cli::table::{self, Row};
use crate::cli::{Failure, Outcome, ProgressArgs, Run, clip_list};
use crate::edit::{Key, TrackAdder, TracksReport, keys_by_clip, remove_tracks};
use crate::pack::{ArrayFile, ClipCell, ClipValues, TrackSpec};
use crate::{Clip, Dataset, EncodedTrack, JsonObject, ProgressFn};

/// Add tracks and attributes to the clips of a data set, or remove them. No frame is read or written.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Add tracks and attributes to the clips of a data set, as one more file, in one step.
    ///
    /// FILE is an .npz file with an array for each clip, whose name is the number of the clip, counted from 0, or its source. Or it
    /// is a .csv, .tsv or .jsonl table: its column clip or source says which clips a row is for, and its column NAME has what a
    /// column of `vidrec pack --track` has: a list, or a file of values. WORDS are those of `vidrec pack --track`: rate=50, times=T,
    /// spans or frames, and values=A+B, type=f32, unit=us, nan. Frames are those of the clip, and times are on its clock, so words
    /// about the video change nothing. Not every clip needs values.
    Add {
        /// The folder of the data set.
        dataset: PathBuf,
        /// A track, such as latents=latents.npz,frames.
        #[arg(value_name = "NAME=FILE,WORDS", required_unless_present = "fields")]
        tracks: Vec<String>,
        /// Attributes from a .csv, .tsv or .jsonl table: each column but clip and source. An empty cell changes nothing.
        #[arg(long, value_name = "TABLE")]
        fields: Option<PathBuf>,
        /// Replace tracks of the same names, and attributes of clips that get another value.
        #[arg(long)]
        replace: bool,
        /// Print the report as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        progress: ProgressArgs,
    },
    /// Remove tracks and attributes. What was packed stays in its file and is hidden; a file of which nothing is left is removed.
    Remove {
        /// The folder of the data set.
        dataset: PathBuf,
        /// Names of tracks.
        #[arg(value_name = "NAME", required_unless_present = "field")]
        tracks: Vec<String>,
        /// The name of an attribute. May be given several times.
        #[arg(long, value_name = "NAME")]
        field: Vec<String>,
        /// Print the report as JSON.
        #[arg(long)]
        json: bool,
    },
}

pub fn run(args: &Args) -> Run {
    let (json, report) = match &args.command {
        Command::Add { dataset, tracks, fields, replace, json, progress } => {
            let adder = TrackAdder::open(dataset, *replace)?;
            (json, add(adder, tracks, fields.as_deref(), &mut progress.of("clips"))?)
        }
        Command::Remove { dataset, tracks, field, json } => (json, remove_tracks(dataset, tracks, field)?),
    };
    output::print(*json, &report, render)?;
    Ok(Outcome::Done.but_left(&report.left_behind))
}

fn render(r: &TracksReport) -> String {
    let mut text = format!("{}: {}", r.output, count(r.clips, "clip"));
    text += &if r.bytes == 0 { "\n".into() } else { format!(", {} added\n", bytes(r.bytes)) };
    for (what, names) in [("track", &r.tracks), ("attribute", &r.attributes)] {
        let line =
            |(name, clips): (&String, &u64)| format!("  {what} {}: {} clips\n", printable(name), grouped(*clips));
        text += &names.iter().map(line).collect::<String>();
    }
    text + &r.removed.iter().map(|name| format!("  removed {}\n", printable(name))).collect::<String>()
}

fn add(
    adder: TrackAdder,
    tracks: &[String],
    table: Option<&Path>,
    progress: &mut ProgressFn<'_>,
) -> Result<TracksReport, Failure> {
    let set = adder.dataset().clone();
    let mut tracks = tracks.iter().map(|track| NewTrack::open(track, &set)).collect::<Result<Vec<_>, _>>()?;
    let attributes = table.map(|path| rows(path, &set, fields)).transpose()?.unwrap_or_default();
    let values = |clip: &Clip<'_>| {
        let found = tracks.iter_mut().filter_map(|track| track.of_clip(clip).transpose());
        Ok((found.collect::<crate::Result<_>>()?, attributes.get(&clip.ordinal()).cloned().unwrap_or_default()))
    };
    Ok(adder.add_all(values, progress)?)
}

/// A track to add, and where the values of each clip are.
struct NewTrack {
    values: ClipValues,
    cells: HashMap<u64, ClipCell>,
}

impl NewTrack {
    fn open(text: &str, set: &Dataset) -> Result<Self, Failure> {
        let mut spec: TrackSpec = text.parse()?;
        let path = PathBuf::from(std::mem::replace(&mut spec.column, spec.name.clone()));
        if table::is_table(&path) {
            let cells = |row: &Row| {
                let cells = row.cells().map(|(name, value)| (name.to_owned(), value.clone()));
                ClipCell::Row(row.line, cells.collect())
            };
            let cells = rows(&path, set, cells)?;
            return Ok(NewTrack { values: ClipValues::new(spec, path, None), cells });
        }
        let file = ArrayFile::open(&path)?;
        let key = |name: &String| name.parse().map_or_else(|_| Key::Source(name.clone()), Key::Clip);
        let cells = file.names()?.into_iter().map(|name| (key(&name), ClipCell::Array(name))).collect();
        let cells = by_clip(&path, set, cells)?;
        Ok(NewTrack { values: ClipValues::new(spec, path, Some(file)), cells })
    }

    fn of_clip(&mut self, clip: &Clip<'_>) -> crate::Result<Option<EncodedTrack>> {
        self.cells.get(&clip.ordinal()).map_or(Ok(None), |cell| self.values.of_clip(clip, cell))
    }
}

/// The attributes that a row of a table has.
fn fields(row: &Row) -> JsonObject {
    let is_key = |name: &str| ["clip", row.source_column()].iter().any(|key| name.eq_ignore_ascii_case(key));
    let cells = row.cells().filter(|(name, _)| !is_key(name));
    JsonObject(cells.map(|(name, value)| (name.to_owned(), value.clone())).collect())
}

/// What the row of each clip has.
fn rows<T: Clone>(path: &Path, set: &Dataset, read: impl Fn(&Row) -> T) -> Result<HashMap<u64, T>, Failure> {
    let mut found = Vec::new();
    table::read(path, &mut |row| {
        found.push((clip_list::key(row, set)?, read(row)));
        Ok(())
    })?;
    by_clip(path, set, found)
}

/// The items of a file by the clips that their keys name.
fn by_clip<T: Clone>(path: &Path, set: &Dataset, items: Vec<(Key, T)>) -> Result<HashMap<u64, T>, Failure> {
    let keys: Vec<&Key> = items.iter().map(|(key, _)| key).collect();
    let (clips, not_found) = keys_by_clip(set, &keys).map_err(|e| e.file(path))?;
    if let Some(name) = not_found.first() {
        return Err(format!("{}: the data set does not have {}", path.display(), printable(name)).into());
    }
    Ok(clips.into_iter().map(|(clip, place)| (clip, items[place].1.clone())).collect())
}
