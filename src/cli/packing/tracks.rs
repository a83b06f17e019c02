//! `vidrec tracks`: tracks and attributes for clips that are packed already.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::cli::output::{self, bytes, count, grouped, printable};
use crate::cli::table::{self, Row};
use crate::cli::{Outcome, ProgressArgs, Run};
use crate::edit::{TrackAdder, TracksReport, remove_tracks};
use crate::pack::{ArrayFile, ClipValues, TrackSpec};
use crate::{Clip, Dataset, EncodedTrack, JsonObject};

/// Add tracks and attributes to the clips of a data set, or remove them. No frame is read or written.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Add(AddArgs),
    Remove(RemoveArgs),
}

/// Add tracks and attributes to the clips of a data set, as one more file, in one step.
///
/// FILE is an .npz file with an array for each clip, whose name is the number of the clip, counted from 0, or its source. Or it is
/// a .csv, .tsv or .jsonl table: its column clip or source says which clip a row is for, and its column NAME has what a column of
/// `vidrec pack --track` has: a list, or a file of values. WORDS are those of `vidrec pack --track`: rate=50, times=T, spans or
/// frames, and values=A+B, type=f32, unit=us, nan, and column=C for another column of a table. Frames are those of the clip, and
/// times are on its clock. Not every clip needs values.
#[derive(clap::Args)]
struct AddArgs {
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
    #[command(flatten)]
    shown: ShownArgs,
}

/// Remove tracks and attributes. What was packed stays in its file and is hidden; a file of which nothing is left is removed.
#[derive(clap::Args)]
struct RemoveArgs {
    /// The folder of the data set.
    dataset: PathBuf,
    /// Names of tracks.
    #[arg(value_name = "NAME", required_unless_present = "field")]
    tracks: Vec<String>,
    /// The name of an attribute. May be given several times.
    #[arg(long, value_name = "NAME")]
    field: Vec<String>,
    #[command(flatten)]
    shown: ShownArgs,
}

#[derive(clap::Args)]
struct ShownArgs {
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

pub fn run(args: &Args) -> Run {
    match &args.command {
        Command::Add(args) => print(&args.shown, &add(args)?),
        Command::Remove(args) => {
            let progress = &mut args.shown.progress.of("clips");
            print(&args.shown, &remove_tracks(&args.dataset, &args.tracks, &args.field, progress)?)
        }
    }
}

fn print(shown: &ShownArgs, report: &TracksReport) -> Run {
    output::print(shown.json, report, render)?;
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

fn add(args: &AddArgs) -> Result<TracksReport, crate::cli::Failure> {
    let adder = TrackAdder::open(&args.dataset, args.replace)?;
    let set = adder.dataset().clone();
    let mut tracks = args.tracks.iter().map(|track| NewTrack::open(track, &set)).collect::<Result<Vec<_>, _>>()?;
    let fields = args.fields.as_deref().map(|path| read_fields(path, &set)).transpose()?.unwrap_or_default();
    let values = |clip: &Clip<'_>| {
        let mut found = Vec::new();
        for track in &mut tracks {
            found.extend(track.of_clip(clip)?);
        }
        Ok((found, fields.get(&clip.ordinal()).cloned().unwrap_or_default()))
    };
    Ok(adder.add_all(values, &mut args.shown.progress.of("clips"))?)
}

/// A track to add, and where the values of each clip are.
struct NewTrack {
    values: ClipValues,
    source: ValuesFile,
}

enum ValuesFile {
    /// The name of the array of each clip.
    Arrays(ArrayFile, HashMap<u64, String>),
    /// The line and the cells of each clip.
    Rows(PathBuf, HashMap<u64, (u64, Map<String, Value>)>),
}

impl NewTrack {
    fn open(text: &str, set: &Dataset) -> Result<Self, crate::cli::Failure> {
        let mut words: Vec<&str> = text.split(',').collect();
        let column = words.iter().position(|word| word.starts_with("column=")).map(|at| words.remove(at));
        let mut spec: TrackSpec = words.join(",").parse()?;
        let path = PathBuf::from(std::mem::take(&mut spec.column));
        spec.column = column.map_or_else(|| spec.name.clone(), |word| word["column=".len()..].to_owned());
        let values = ClipValues::new(spec)?;
        let source = if table::is_table(&path) {
            let columns: Vec<String> = values.columns().map(str::to_owned).collect();
            let cells = |row: &Row| {
                let cell = |column: &String| Some((column.clone(), row.cell(column)?.clone()));
                Ok((row.line(), columns.iter().filter_map(cell).collect()))
            };
            ValuesFile::Rows(path.clone(), rows(&path, set, cells)?)
        } else {
            let file = ArrayFile::open(&path)?;
            let names = file.names()?;
            let key = |name: &String| match name.parse() {
                Ok(clip) => ClipKey::Number(clip),
                Err(_) => ClipKey::Source(name.clone()),
            };
            let clips = by_clip(set, names.iter().map(key).zip(names.iter().cloned()).collect());
            ValuesFile::Arrays(file, clips.map_err(|e| format!("{}: {e}", path.display()))?)
        };
        Ok(NewTrack { values, source })
    }

    fn of_clip(&mut self, clip: &Clip<'_>) -> crate::Result<Option<EncodedTrack>> {
        match &mut self.source {
            ValuesFile::Arrays(file, names) => {
                names.get(&clip.ordinal()).map(|name| self.values.of_array(file, name, clip)).transpose()
            }
            ValuesFile::Rows(path, rows) => match rows.get(&clip.ordinal()) {
                Some((line, cells)) => self.values.of_row((path, *line), cells, clip),
                None => Ok(None),
            },
        }
    }
}

/// The attributes of clips in a table.
fn read_fields(path: &Path, set: &Dataset) -> Result<HashMap<u64, JsonObject>, String> {
    rows(path, set, |row| {
        let is_key = |name: &str| ["clip", row.source_column()].iter().any(|key| name.eq_ignore_ascii_case(key));
        let cells = row.cells().filter(|(name, _)| !is_key(name));
        Ok(JsonObject(cells.map(|(name, value)| (name.to_owned(), value.clone())).collect()))
    })
}

/// What names a clip in a file.
enum ClipKey {
    Number(u64),
    Source(String),
}

/// What the row of each clip has.
fn rows<T>(path: &Path, set: &Dataset, read: impl Fn(&Row) -> Result<T, String>) -> Result<HashMap<u64, T>, String> {
    let mut found = Vec::new();
    table::read(path, &mut |row| {
        let source = row.text(row.source_column());
        let key = match (row.clip()?, source) {
            (Some(clip), source) => {
                crate::cli::clip_list::check_source(set, clip, source.as_deref())?;
                ClipKey::Number(clip)
            }
            (None, Some(source)) => ClipKey::Source(source),
            (None, None) => return Err("neither \"source\" nor \"clip\" says which clip".into()),
        };
        found.push((key, read(row)?));
        Ok(())
    })?;
    by_clip(set, found).map_err(|e| format!("{}: {e}", path.display()))
}

/// The items by the clips that their keys name.
fn by_clip<T>(set: &Dataset, items: Vec<(ClipKey, T)>) -> Result<HashMap<u64, T>, String> {
    let (mut by_clip, mut by_source) = (HashMap::new(), HashMap::new());
    for (key, item) in items {
        let (twice, name) = match key {
            ClipKey::Number(clip) if clip >= set.len() => {
                return Err(format!("there is no clip {clip}: expected less than {}", set.len()));
            }
            ClipKey::Number(clip) => (by_clip.insert(clip, item).is_some(), clip.to_string()),
            ClipKey::Source(source) => (by_source.insert(source.clone(), item).is_some(), source),
        };
        if twice {
            return Err(format!("clip {name:?} occurs twice"));
        }
    }
    let mut named = HashMap::new();
    for clip in if by_source.is_empty() { 0..0 } else { 0..set.len() } {
        let source = set.clip(clip).and_then(|clip| clip.source()).map_err(|e| e.to_string())?;
        if let Some(item) = by_source.remove(&source) {
            named.insert(source, clip);
            if by_clip.insert(clip, item).is_some() {
                return Err(format!("clip {clip} occurs twice"));
            }
        } else if let Some(first) = named.get(&source) {
            return Err(format!("clips {first} and {clip} have the source {source:?}: name them by their numbers"));
        }
    }
    match by_source.into_keys().min() {
        None => Ok(by_clip),
        Some(source) => Err(format!("no clip has the source {source:?}")),
    }
}
