//! Exports a data set as the files of LeRobot.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::columns;
use super::depth::Depth;
use super::episodes::{self, Episodes};
use super::options::LeRobotOptions;
use super::picture_stats;
use super::rate;
use super::stats::ColumnStats;
use super::table::{Column, Lists, Table};
use super::tasks::{TaskSource, Tasks};
use super::videos::{self, CHUNK_FILES, VideoPlace};
use crate::interop::ExportReport;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_core::dataset::{Dataset, Levels};
use vidrec_core::progress::{Counter, ProgressFn};
use vidrec_core::store::disk::{NewFile, NewFolder};
use vidrec_core::threads;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::sampler::Rate;
use vidrec_format::track::coding::TrackCoding;
use vidrec_format::track::schema::{TrackSchema, TrackTiming, TrackType};

/// A file of rows ends when it has this many bytes, which is LeRobot's own limit.
const DATA_BYTES: u64 = 100 << 20;

/// The columns of every LeRobot data set.
const OF_ROWS: [(&str, TrackType); 5] = [
    ("timestamp", TrackType::F32),
    ("frame_index", TrackType::I64),
    ("episode_index", TrackType::I64),
    ("index", TrackType::I64),
    ("task_index", TrackType::I64),
];

/// The name of the track that holds sound. Sound does not have one value for each frame.
const SOUND: &str = "audio";

/// Writes a LeRobot data set, version 3, to a new folder.
///
/// The JPEGs become the frames of Motion JPEG in MP4, byte for byte.
///
/// Clips with the same attribute `episode` are the cameras of one episode, named by their attribute `camera`.
/// Without these attributes, each clip is an episode of the camera `observation.images.main`. A track is a column
/// with its latest value at each frame, so values between two frames are not exported. If the track `task` or
/// `caption` has texts, these are the tasks of the frames. Otherwise the task is the clip's attribute `task` or
/// its class. Sound is not exported. Depth that LeRobot made 12-bit numbers of becomes whole millimeters.
///
/// ```no_run
/// use vidrec::interop::lerobot::{self, LeRobotOptions};
///
/// let robot = vidrec::Dataset::open("robot")?;
/// lerobot::export(&robot, "for-lerobot".as_ref(), &LeRobotOptions::default(), &mut vidrec::no_progress)?;
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists and is not an empty folder, frames are not
/// evenly spaced or have different sizes, an episode lacks a camera, or a track has no value for a frame;
/// [`Decode`](vidrec_format::error::ErrorKind::Decode) if a frame that is decoded for statistics cannot be
/// decoded; [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged.
pub fn export(
    dataset: &Dataset,
    out: &Path,
    options: &LeRobotOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<ExportReport> {
    let mut notes = Vec::new();
    let schemas = dataset.tracks()?;
    let source = TaskSource::among(&schemas);
    let tracks = exported(&schemas, source.track(), options, &mut notes)?;
    let Episodes { cameras, clips } = episodes::of(dataset)?;
    for track in &tracks {
        check_name(track, &cameras)?;
    }
    let pictures = pictures(dataset, &tracks, &mut notes)?;
    let rate = options.fps.map_or_else(|| rate::of(dataset), Ok)?;
    let mut folder = NewFolder::create(out)?;
    let mut set = Exported { dataset, rate, tracks, pictures, schemas: &schemas, source, tasks: Tasks::default() };
    let (rows, stats) = set.write_data(&mut folder, &clips)?;

    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let pool = threads::pool(None)?;
    let (mut places, mut all_stats) = (Vec::new(), stats);
    for (camera, (key, size)) in cameras.iter().enumerate() {
        let of_camera: Vec<u64> = clips.iter().map(|clips| clips[camera]).collect();
        let mut done = |frames: u32| counter.add(frames.into(), 0);
        places.push(videos::write(dataset, &mut folder, (key, *size), &of_camera, rate, &mut done)?);
        let mut levels = Levels::default();
        for &clip in &of_camera {
            levels = levels.and(&pool.install(|| picture_stats::levels(&dataset.clip(clip)?))?);
        }
        all_stats.insert(key.clone(), picture_stats::to_json(levels));
    }
    set.write_tasks(&mut folder)?;
    write_episodes(&mut folder, &rows, &cameras, &places)?;
    write_json(&mut folder, "meta/stats.json", &all_stats.into())?;
    write_json(&mut folder, "meta/info.json", &set.info(&rows, &cameras))?;
    let mut report = ExportReport::new(dataset, folder.publish()?);
    report.frames = rows.iter().map(|rows| rows.frames * cameras.len() as u64).sum();
    report.notes = notes;
    Ok(report)
}

/// Returns the tracks that become columns.
fn exported(
    schemas: &[TrackSchema],
    task: Option<&str>,
    options: &LeRobotOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<TrackSchema>> {
    let names = || schemas.iter().map(|track| track.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(name) = options.without.iter().find(|name| schemas.iter().all(|track| track.name != **name)) {
        let e = Error::usage(format!("the data set has no track \"{name}\" to leave out"));
        return Err(e.expected(names()).hint(Hint::Unset("without")));
    }
    let mut tracks = Vec::new();
    for track in schemas.iter().filter(|track| !options.without.contains(&track.name)) {
        match track.name.as_str() {
            name if Some(name) == task => {}
            SOUND if track.timing == TrackTiming::Rate => notes.push("the track \"audio\" is not exported".into()),
            _ => tracks.push(track.clone()),
        }
        if track.timing == TrackTiming::Rate && track.name != SOUND {
            notes.push(format!("the export has only the latest value of track \"{}\" at each frame", track.name));
        }
    }
    Ok(tracks)
}

/// Returns the tracks that become pictures, depth that is stored as PNG, with what the numbers of the first clip mean.
fn pictures(dataset: &Dataset, tracks: &[TrackSchema], notes: &mut Vec<String>) -> Result<BTreeMap<String, Depth>> {
    let mut pictures = BTreeMap::new();
    for track in tracks.iter().filter(|track| track.kind == TrackType::U16 && track.shape.len() == 2) {
        for clip in dataset.clips() {
            let clip = clip?;
            let Some(view) = clip.track(&track.name)? else { continue };
            if view.coding() == TrackCoding::Png {
                let depth = Depth::of(&clip, &track.name)?;
                if depth.unit().is_none() {
                    let name = &track.name;
                    notes.push(format!(
                        "the unit of track \"{name}\" is not known, so LeRobot does not convert it; the attribute \"depth\" of clips says it: {{\"{name}\": {{\"unit\": \"mm\"}}}}"
                    ));
                }
                pictures.insert(track.name.clone(), depth);
            }
            break;
        }
    }
    Ok(pictures)
}

fn check_name(track: &TrackSchema, cameras: &[(String, (u32, u32))]) -> Result<()> {
    let name = track.name.as_str();
    let is_taken = OF_ROWS.iter().any(|(known, _)| *known == name) || cameras.iter().any(|(key, _)| key == name);
    if !is_taken && !name.contains('/') && track.shape.len() <= 5 {
        return Ok(());
    }
    let e = Error::usage("LeRobot does not support a feature with this name and shape").in_track(name);
    let e = e.expected("a unique name without slashes, and at most 5 sides").found(format!("{:?}", track.shape));
    Err(e.help("export without the track").hint(Hint::Set("without")))
}

/// The state of an export.
struct Exported<'a> {
    dataset: &'a Dataset,
    rate: Rate,
    tracks: Vec<TrackSchema>,
    /// The tracks that are pictures, with what their numbers mean.
    pictures: BTreeMap<String, Depth>,
    schemas: &'a [TrackSchema],
    source: TaskSource<'a>,
    tasks: Tasks,
}

/// The location of an episode's rows.
struct EpisodeRows {
    tasks: Vec<String>,
    frames: u64,
    /// The number of its first row among all rows.
    first: u64,
    /// The number of the file, counted over all folders.
    file: u64,
}

impl Exported<'_> {
    /// Writes the rows of all episodes, as one row group for each episode, and the statistics of their columns.
    fn write_data(
        &mut self,
        folder: &mut NewFolder,
        clips: &[Vec<u64>],
    ) -> Result<(Vec<EpisodeRows>, Map<String, Value>)> {
        let mut rows: Vec<EpisodeRows> = Vec::with_capacity(clips.len());
        let of_rows = OF_ROWS.iter().map(|(name, _)| ((*name).to_owned(), ColumnStats::new(&[])));
        let of_track = |track: &TrackSchema| match self.pictures.contains_key(&track.name) {
            true => ColumnStats::new(&[track.numbers_per_value() as u32, 1]),
            false => ColumnStats::new(&track.shape),
        };
        let of_tracks = self.tracks.iter().map(|track| (track.name.clone(), of_track(track)));
        let mut stats: Vec<(String, ColumnStats)> = of_tracks.chain(of_rows).collect();
        let mut table: Option<Table<NewFile>> = None;
        let (mut first, mut file) = (0, 0);
        for (number, clips) in (0u64..).zip(clips) {
            let (columns, tasks) = self.columns(clips[0], number, first)?;
            if let Some(full) = table.take_if(|table| table.bytes() >= DATA_BYTES) {
                folder.finish(full.finish()?)?;
                file += 1;
            }
            let out = match &mut table {
                Some(table) => table,
                none => none.insert(Table::begin(folder.file(data_path(file))?, &data_path(file), &columns, None)?),
            };
            out.push(&columns)?;
            stats.iter_mut().zip(&columns).for_each(|((_, stats), column)| stats.add(&column.values));
            let frames = self.dataset.clip(clips[0])?.frame_count().into();
            rows.push(EpisodeRows { tasks, frames, first, file });
            first += frames;
        }
        if let Some(table) = table {
            folder.finish(table.finish()?)?;
        }
        let of_column = |(name, stats): (String, ColumnStats)| {
            let mut stats = stats.to_json()?;
            if self.pictures.contains_key(&name) {
                let each = stats.as_object_mut().into_iter().flatten().filter(|(key, _)| *key != "count");
                // One channel, one row and one column, as for pictures.
                each.for_each(|(_, value)| *value = json!([[value.take()]]));
            }
            Some((name, stats))
        };
        let stats = stats.into_iter().filter_map(of_column).collect();
        Ok((rows, stats))
    }

    /// Returns the rows of an episode and its tasks. Its first row is row `first` of all rows.
    fn columns(&mut self, clip: u64, number: u64, first: u64) -> Result<(Vec<Column>, Vec<String>)> {
        let clip = self.dataset.clip(clip)?;
        let count = i64::from(clip.frame_count());
        let mut columns = self.tracks.iter().map(|track| columns::of(track, &clip)).collect::<Result<Vec<_>>>()?;
        for (column, track) in columns.iter_mut().zip(&self.tracks) {
            if let (Some(first), TrackValues::U16(numbers)) = (self.pictures.get(&track.name), &mut column.values) {
                let depth = Depth::of(&clip, &track.name)?;
                if depth.unit() != first.unit() {
                    let e = Error::usage("the depth of clips has different units").in_clip(clip.ordinal());
                    let unit = |depth: &Depth| depth.unit().unwrap_or("no unit").to_owned();
                    return Err(e.in_track(&track.name).expected(unit(first)).found(unit(&depth)));
                }
                depth.to_millimeters(numbers);
                column.lists = Lists::Picture(track.clone());
            }
        }
        let texts = self.source.of(&clip, self.schemas)?;
        let mut tasks: Vec<String> = Vec::new();
        for text in &texts {
            if !tasks.contains(text) {
                tasks.push(text.clone());
            }
        }
        let (seconds, per) = self.rate.frame_seconds();
        let time = |i: i64| ((i as f64 * f64::from(seconds)) / f64::from(per)) as f32;
        let of_rows = [
            TrackValues::F32((0..count).map(time).collect()),
            TrackValues::I64((0..count).collect()),
            TrackValues::I64(vec![number as i64; count as usize]),
            TrackValues::I64((first as i64..first as i64 + count).collect()),
            TrackValues::I64(texts.iter().map(|text| self.tasks.number(text)).collect()),
        ];
        columns.extend(OF_ROWS.iter().zip(of_rows).map(|((name, _), values)| Column::plain(*name, values)));
        Ok((columns, tasks))
    }

    /// Writes `meta/tasks.parquet`. Its index in pandas is the text.
    fn write_tasks(&self, folder: &mut NewFolder) -> Result<()> {
        let numbers = (0..self.tasks.texts.len() as i64).collect();
        let columns = [
            Column::plain("task_index", TrackValues::I64(numbers)),
            Column::plain("task", TrackValues::Texts(self.tasks.texts.clone())),
        ];
        let column = |name: &str, pandas: &str, numpy: &str| json!({"name": name, "field_name": name, "pandas_type": pandas, "numpy_type": numpy, "metadata": null});
        let pandas = json!({
            "index_columns": ["task"], "column_indexes": [], "pandas_version": "2.0.0",
            "columns": [column("task_index", "int64", "int64"), column("task", "unicode", "object")],
        });
        write_table(folder, "meta/tasks.parquet", &columns, Some(pandas.to_string()))
    }

    /// Returns the content of `meta/info.json`.
    fn info(&self, rows: &[EpisodeRows], cameras: &[(String, (u32, u32))]) -> Value {
        let (seconds, per) = self.rate.frame_seconds();
        // LeRobot's own rates are whole numbers.
        let fps = if seconds == 1 { Value::from(per) } else { (f64::from(per) / f64::from(seconds)).into() };
        let mut features = Map::new();
        for (key, (width, height)) in cameras {
            let info = json!({
                "video.height": height, "video.width": width, "video.codec": "mjpeg", "video.pix_fmt": "yuvj420p",
                "video.is_depth_map": false, "video.fps": fps, "video.channels": 3, "has_audio": false,
            });
            let names = ["height", "width", "channels"];
            features.insert(
                key.clone(),
                json!({"dtype": "video", "shape": [height, width, 3], "names": names, "info": info}),
            );
        }
        let of_tracks = self.tracks.iter().map(|track| (track.name.as_str(), track.kind, track.shape.as_slice()));
        for (name, kind, shape) in of_tracks.chain(OF_ROWS.iter().map(|(name, kind)| (*name, *kind, &[][..]))) {
            if let (Some(depth), [height, width]) = (self.pictures.get(name), shape) {
                let names = ["height", "width", "channels"];
                let mut info = json!({"is_depth_map": true});
                if let Some(unit) = depth.unit() {
                    info["depth_unit"] = unit.into();
                }
                let depth = json!({"dtype": "image", "shape": [height, width, 1], "names": names, "info": info});
                features.insert(name.into(), depth);
                continue;
            }
            let shape = if shape.is_empty() { &[1][..] } else { shape };
            features.insert(name.into(), json!({"dtype": dtype(kind), "shape": shape, "names": null}));
        }
        json!({
            "codebase_version": "v3.0",
            "robot_type": null,
            "total_episodes": rows.len(),
            "total_frames": rows.iter().map(|rows| rows.frames).sum::<u64>(),
            "total_tasks": self.tasks.texts.len(),
            "chunks_size": CHUNK_FILES,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": fps,
            "splits": {"train": format!("0:{}", rows.len())},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
            "features": features,
        })
    }
}

/// Returns NumPy's name for a type.
fn dtype(kind: TrackType) -> &'static str {
    match kind {
        TrackType::F32 => "float32",
        TrackType::F64 => "float64",
        TrackType::I16 => "int16",
        TrackType::I32 => "int32",
        TrackType::I64 => "int64",
        TrackType::U8 => "uint8",
        TrackType::U16 => "uint16",
        TrackType::Bool => "bool",
        TrackType::Utf8 => "string",
    }
}

fn data_path(number: u64) -> String {
    format!("data/chunk-{:03}/file-{:03}.parquet", number / CHUNK_FILES, number % CHUNK_FILES)
}

/// Writes `meta/episodes`, with a row for each episode.
fn write_episodes(
    folder: &mut NewFolder,
    rows: &[EpisodeRows],
    cameras: &[(String, (u32, u32))],
    places: &[Vec<VideoPlace>],
) -> Result<()> {
    let whole = |name: &str, numbers: &mut dyn Iterator<Item = u64>| {
        Column::plain(name, TrackValues::I64(numbers.map(|n| n as i64).collect()))
    };
    let of_rows = |name: &str, of: &dyn Fn(&EpisodeRows) -> u64| whole(name, &mut rows.iter().map(of));
    let texts = rows.iter().flat_map(|rows| rows.tasks.iter().cloned()).collect();
    let tasks = Column {
        name: "tasks".into(),
        lists: Lists::Lengths(rows.iter().map(|rows| rows.tasks.len()).collect()),
        values: TrackValues::Texts(texts),
    };
    let mut columns = vec![
        whole("episode_index", &mut (0..rows.len() as u64)),
        tasks,
        of_rows("length", &|rows| rows.frames),
        of_rows("data/chunk_index", &|rows| rows.file / CHUNK_FILES),
        of_rows("data/file_index", &|rows| rows.file % CHUNK_FILES),
        of_rows("dataset_from_index", &|rows| rows.first),
        of_rows("dataset_to_index", &|rows| rows.first + rows.frames),
    ];
    for ((key, _), places) in cameras.iter().zip(places) {
        let name = |what: &str| format!("videos/{key}/{what}");
        let of = |what: &str, of: &dyn Fn(&VideoPlace) -> u64| whole(&name(what), &mut places.iter().map(of));
        let seconds = |what: &str, of: &dyn Fn(&VideoPlace) -> f64| {
            Column::plain(name(what), TrackValues::F64(places.iter().map(of).collect()))
        };
        columns.push(of("chunk_index", &|place| place.file / CHUNK_FILES));
        columns.push(of("file_index", &|place| place.file % CHUNK_FILES));
        columns.push(seconds("from_timestamp", &|place| place.from));
        columns.push(seconds("to_timestamp", &|place| place.to));
    }
    columns.push(of_rows("meta/episodes/chunk_index", &|_| 0));
    columns.push(of_rows("meta/episodes/file_index", &|_| 0));
    write_table(folder, "meta/episodes/chunk-000/file-000.parquet", &columns, None)
}

fn write_table(folder: &mut NewFolder, name: &str, columns: &[Column], pandas: Option<String>) -> Result<()> {
    let mut table = Table::begin(folder.file(name)?, name, columns, pandas)?;
    table.push(columns)?;
    folder.finish(table.finish()?)
}

fn write_json(folder: &mut NewFolder, name: &str, value: &Value) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    folder.write(name, &bytes)
}
