//! Episodes as clips: the frames of one camera are a segment of a video, and the other features are tracks.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::attributes::Attributes;
use super::super::found::FoundVideo;
use super::super::labels::Label;
use super::super::manifest_columns::{ColumnTally, ColumnUse, ManifestColumns};
use super::super::options::InputOptions;
use super::super::picture_column::PictureColumn;
use super::super::places;
use super::super::segment::{Segment, SegmentClock};
use super::episodes::{self, Episode, PicturePlace};
use super::info::{FeatureKind, Info};
use super::rows::DataRows;
use super::tasks;
use crate::track::{EpisodeFrames, EpisodeRows, EpisodeVideo, PlannedTrack, RowTracks};
use vidrec_core::source_name;
use vidrec_core::store::disk::inside::{Inside, LEADS_OUT};
use vidrec_core::store::location::is_remote;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::limits;
use vidrec_format::track::schema::TrackType;

/// The start of most camera names.
const CAMERA_PREFIX: &str = "observation.images.";

/// The column with the task number of each row.
const TASK_INDEX: &str = "task_index";

/// The contents of a LeRobot data set.
pub(crate) struct EpisodesFound {
    pub videos: Vec<FoundVideo>,
    /// The number of episodes.
    pub episodes: u64,
    pub tracks: Vec<PlannedTrack>,
    pub columns: ManifestColumns,
    pub notes: Vec<String>,
}

/// Reads the LeRobot data set in `folder`. Returns `None` if the folder is not one.
///
/// Its episodes are numbered from `first` on.
///
/// # Errors
///
/// The data set is of another version, is damaged, or has no videos.
pub(crate) fn read(folder: &Path, first: u64, options: &InputOptions) -> Result<Option<EpisodesFound>> {
    let Some(info) = Info::read(folder)? else { return Ok(None) };
    if options.segments == SegmentClock::Ignore {
        let e = Error::usage("a video file of a LeRobot data set may hold several episodes").file(folder);
        return Err(e.hint(Hint::Unset("segments")));
    }
    let set = EpisodeSet::new(folder, first, options, info)?;
    let mut rows = DataRows::default();
    let mut videos: Vec<FoundVideo> = set.episodes.iter().flat_map(|episode| set.videos(episode, &mut rows)).collect();
    if !options.outside {
        keep_inside(folder, options, &mut videos)?;
    }
    let EpisodeSet { episodes, tracks, notes, .. } = &set;
    let (episodes, tracks, notes) = (episodes.len() as u64, tracks.clone(), notes.clone());
    Ok(Some(EpisodesFound { videos, episodes, tracks, columns: set.columns(), notes }))
}

/// Gives a fault to videos that a link leads out of the folder.
fn keep_inside(folder: &Path, options: &InputOptions, videos: &mut [FoundVideo]) -> Result<()> {
    let mut values = Inside::new(folder)?;
    let root = options.root.as_deref().unwrap_or(folder);
    let mut pictures = if is_remote(root) { None } else { Some(Inside::new(root)?) };
    for video in videos.iter_mut().filter(|video| video.fault.is_none()) {
        let mut files = video.tracks.iter().flat_map(|tracks| tracks.files()).filter(|file| !is_remote(file));
        let is_inside = pictures.as_mut().is_none_or(|inside| inside.holds(&video.path));
        if !is_inside
            || files.any(|file| !(values.holds(file) || pictures.as_mut().is_some_and(|inside| inside.holds(file))))
        {
            video.fault = Some(LEADS_OUT.into());
        }
    }
    Ok(())
}

/// A data set, with what its episodes have in common.
struct EpisodeSet<'a> {
    folder: &'a Path,
    /// The folder or location of the videos.
    root: &'a Path,
    info: Info,
    first: u64,
    episodes: Vec<Episode>,
    cameras: Vec<Camera>,
    /// Depth: the name of each feature, whether it is in videos, and what its numbers mean.
    depth: Vec<Depth>,
    tracks: Vec<PlannedTrack>,
    /// All tasks, if any episode has several.
    tasks: Vec<(String, i64)>,
    notes: Vec<String>,
}

impl<'a> EpisodeSet<'a> {
    fn new(folder: &'a Path, first: u64, options: &'a InputOptions, info: Info) -> Result<Self> {
        let Features { cameras, depth, mut tracks, notes } = features(folder, &info)?;
        let in_videos = cameras.iter().filter(|camera| !camera.in_rows).map(|camera| camera.key.as_str());
        let keys: Vec<&str> = in_videos.chain(depth.iter().filter(|d| d.in_videos).map(|d| d.key.as_str())).collect();
        let episodes = episodes::read(folder, &keys, info.own_files)?;
        if episodes.len() as u64 != info.episodes {
            let e = Error::usage("meta/episodes and meta/info.json have different numbers of episodes").file(folder);
            return Err(e.expected(info.episodes).found(episodes.len()));
        }
        let has_several = episodes.iter().any(|episode| episode.tasks.len() > 1);
        let tasks = if has_several { tasks::read(folder, info.own_files.is_some())? } else { Vec::new() };
        if has_several {
            tracks.push(PlannedTrack::of_episodes(TASK_INDEX, TrackType::I64, Vec::new()));
        }
        let root = options.root.as_deref().unwrap_or(folder);
        Ok(EpisodeSet { folder, root, info, first, episodes, cameras, depth, tracks, tasks, notes })
    }

    /// Returns the clips of an episode, one for each camera.
    fn videos(&self, episode: &Episode, rows: &mut DataRows) -> Vec<FoundVideo> {
        let found = self.rows(episode, rows);
        let tracks = found.as_ref().ok().and_then(Option::as_ref).map(|episode_rows| RowTracks {
            manifest: source_name::of_path(self.folder).into(),
            line: episode.number,
            cells: Vec::new(),
            episode: Some(episode_rows.clone()),
        });
        let mut places = episode.places.iter();
        let video = |camera: &Camera| {
            let placed = match (camera.in_rows, &found) {
                (true, Ok(Some(rows))) => self.in_rows(episode, &camera.key, rows),
                (true, _) => Err("its rows are missing".into()),
                (false, _) => self.placed(episode, &camera.key, places.next().copied()),
            };
            let fault = found.as_ref().err().or(placed.as_ref().err());
            let fault = fault.map(|what| format!("episode {}, {}: {what}", episode.number, camera.key));
            let Placed { path, frames, column } = placed.unwrap_or_default();
            let attributes = self.attributes(episode, &camera.name);
            let folder = if camera.in_rows { self.folder } else { self.root };
            FoundVideo {
                segment: frames.and_then(|frames| self.segment(frames).ok()),
                split: self.info.split_of(episode.number).map(Into::into),
                attributes: Attributes::from_map(attributes),
                fault: fault.map(Into::into),
                tracks: tracks.clone().map(Box::new),
                episode: frames.map(Box::new),
                column,
                ..FoundVideo::new(places::below(folder, &path), source_name::of_path(&path), Label::None)
            }
        };
        self.cameras.iter().map(video).collect()
    }

    /// Returns the part of its file that an episode is. A file of its own must have no frames but those of the episode.
    fn segment(&self, frames: EpisodeFrames) -> std::result::Result<Segment, String> {
        let all = Segment { start_us: 0, end_us: None };
        if self.info.own_files.is_some() { Ok(all) } else { frames.segment() }
    }

    /// Returns the file and the frames of an episode from one camera. The error says why they cannot be a clip.
    fn placed(&self, episode: &Episode, key: &str, place: Option<PicturePlace>) -> std::result::Result<Placed, String> {
        let place = place.ok_or("it has no place in a video")?;
        let frames = EpisodeFrames { count: frame_count(episode)?, start: place.start, fps: self.info.fps };
        self.segment(frames)?;
        let videos = self.info.videos.as_ref().ok_or("meta/info.json has no video_path")?;
        Ok(Placed { path: videos.path(key, place.chunk, place.file)?, frames: Some(frames), column: None })
    }

    /// Returns the rows of an episode whose pictures are in the file of its values.
    fn in_rows(&self, episode: &Episode, key: &str, rows: &EpisodeRows) -> std::result::Result<Placed, String> {
        let frames = EpisodeFrames { count: frame_count(episode)?, start: 0.0, fps: self.info.fps };
        frames.segment()?;
        let EpisodeFrames { count, fps, .. } = frames;
        let column = PictureColumn { name: key.to_owned(), first: rows.first, count, fps };
        let path = rows.file.strip_prefix(self.folder).unwrap_or(&rows.file).to_owned();
        Ok(Placed { path, frames: Some(frames), column: Some(Box::new(column)) })
    }

    /// Returns the place of an episode's values, if there are tracks or pictures among them.
    fn rows(&self, episode: &Episode, rows: &mut DataRows) -> std::result::Result<Option<EpisodeRows>, String> {
        if self.tracks.is_empty() && !self.cameras.iter().any(|camera| camera.in_rows) {
            return Ok(None);
        }
        let file = self.folder.join(self.info.data.path("", episode.data.0, episode.data.1)?);
        let first = rows.of(&file, episode.number, episode.length)?;
        Ok(Some(EpisodeRows { file, first, count: episode.length, videos: self.depth_videos(episode)? }))
    }

    /// Returns the depth of an episode that is in videos. Their places come after those of the cameras.
    fn depth_videos(&self, episode: &Episode) -> std::result::Result<Vec<EpisodeVideo>, String> {
        let mut places = episode.places.iter().skip(self.cameras.iter().filter(|camera| !camera.in_rows).count());
        let videos = self.depth.iter().filter(|depth| depth.in_videos);
        let video = |depth: &Depth| {
            let Placed { path, frames, .. } = self.placed(episode, &depth.key, places.next().copied())?;
            let frames = frames.ok_or("it has no frames")?;
            Ok(EpisodeVideo { track: depth.key.as_str().into(), file: places::below(self.root, &path), frames })
        };
        videos.map(video).collect()
    }

    fn attributes(&self, episode: &Episode, camera: &str) -> Map<String, Value> {
        let mut attributes = Map::new();
        attributes.insert("episode".into(), (self.first + episode.number).into());
        attributes.insert("camera".into(), camera.into());
        if !self.depth.is_empty() {
            let meanings: Map<String, Value> = self.depth.iter().map(|d| (d.key.clone(), d.meaning.clone())).collect();
            attributes.insert("depth".into(), meanings.into());
        }
        match &episode.tasks[..] {
            [] => {}
            [task] => drop(attributes.insert("task".into(), task.as_str().into())),
            several => {
                let numbered = |task: &String| {
                    let number = self.tasks.iter().find(|(text, _)| text == task)?.1;
                    Some((number.to_string(), Value::from(task.as_str())))
                };
                let tasks: Map<String, Value> = several.iter().filter_map(numbered).collect();
                attributes.insert("tasks".into(), tasks.into());
            }
        }
        if let Some(split) = self.info.split_of(episode.number) {
            attributes.insert("split".into(), split.into());
        }
        attributes
    }

    /// Returns a report of what each feature was taken for.
    fn columns(&self) -> ManifestColumns {
        let folder = source_name::of_path(self.folder);
        let mut tally = ColumnTally::new(format!("{folder}: LeRobot data set of {} episodes", self.episodes.len()));
        self.cameras.iter().for_each(|camera| tally.add(ColumnUse::Path, &camera.key));
        self.tracks.iter().for_each(|track| tally.add(ColumnUse::Track, track.name()));
        let task = if self.tasks.is_empty() { "task" } else { "tasks" };
        let depth = if self.depth.is_empty() { None } else { Some("depth") };
        ["episode", "camera", task].into_iter().chain(depth).for_each(|name| tally.add(ColumnUse::Attribute, name));
        tally.finish()
    }
}

/// A feature that is a camera.
struct Camera {
    key: String,
    /// Its name in the attributes of clips.
    name: String,
    /// Whether its pictures are in the files of values, and not in videos.
    in_rows: bool,
}

/// A feature that is depth.
struct Depth {
    key: String,
    in_videos: bool,
    /// What its numbers mean, for the attributes of clips.
    meaning: Value,
}

/// The file and the frames of an episode from one camera.
#[derive(Default)]
struct Placed {
    path: PathBuf,
    frames: Option<EpisodeFrames>,
    column: Option<Box<PictureColumn>>,
}

fn frame_count(episode: &Episode) -> std::result::Result<u32, String> {
    let count = u32::try_from(episode.length).ok().filter(|n| (1..=limits::MAX_FRAMES_PER_CLIP).contains(n));
    count.ok_or_else(|| format!("a clip cannot have {} frames", episode.length))
}

struct Features {
    cameras: Vec<Camera>,
    depth: Vec<Depth>,
    tracks: Vec<PlannedTrack>,
    notes: Vec<String>,
}

/// Sorts the features into cameras with their names, tracks, and notes on those that are neither.
fn features(folder: &Path, info: &Info) -> Result<Features> {
    let (mut keys, mut depth, mut tracks, mut notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for feature in &info.features {
        let name = feature.name.as_str();
        let mut without =
            |why: &str| notes.push(format!("{}: feature {name:?} is not packed: {why}", folder.display()));
        match &feature.kind {
            FeatureKind::Place => {}
            FeatureKind::Camera => keys.push((name, false)),
            FeatureKind::Pictures => keys.push((name, true)),
            FeatureKind::Other(what) => without(&format!("tracks cannot hold values of {what}")),
            _ if name.is_empty() || name.contains([',', '=']) => without("a track cannot have its name"),
            _ if name.len() > limits::MAX_TRACK_NAME_BYTES => without("its name is too long"),
            FeatureKind::Depth { size, in_videos, meaning } => {
                tracks.push(PlannedTrack::of_depth(name, *size, *in_videos));
                depth.push(Depth { key: name.to_owned(), in_videos: *in_videos, meaning: meaning.clone() });
            }
            FeatureKind::Language => tracks.push(PlannedTrack::of_language(name)),
            FeatureKind::Values(kind, shape) => tracks.push(PlannedTrack::of_episodes(name, *kind, shape.clone())),
        }
    }
    if keys.is_empty() {
        let e = Error::usage("the LeRobot data set has no videos and no pictures").file(folder);
        return Err(e.expected("a feature of type \"video\" or \"image\""));
    }
    let camera = |&(key, in_rows): &(&str, bool)| {
        let short = key.strip_prefix(CAMERA_PREFIX).filter(|name| !name.is_empty() && !name.contains('.'));
        let name = short.filter(|name| keys.iter().all(|(key, _)| key != name)).unwrap_or(key);
        Camera { key: key.to_owned(), name: name.to_owned(), in_rows }
    };
    let cameras = keys.iter().map(camera).collect();
    Ok(Features { cameras, depth, tracks, notes })
}
