//! Adds tracks and attributes to the clips of a data set, and removes them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::in_place::InPlace;
use crate::dataset::writer::{EncodedTrack, Track, TrackFileWriter, TrackTimes, TrackValues, numbered, replaceable};
use crate::dataset::{Clip, Dataset};
use crate::progress::{Counter, ProgressFn};
use crate::store::disk::FolderLock;
use crate::store::disk::publication::Staged;
use vidrec_format::track::directory::NewTrack;
use vidrec_format::track::schema::{ATTRIBUTES, Schema};
use vidrec_format::{
    AddedClipsJson, AddedFileJson, AddedJson, DataBinding, DatasetJson, Error, FileKind, FileName, JsonObject, Result,
    data_binding, file_name, limits,
};

/// Adds tracks and attributes to the clips of a data set, as one more track file, and leaves the other files as they are.
/// Attributes are in a file of their own.
///
/// Values come clip by clip, in order, for all clips. The data set has them from [`finish`](Self::finish) on. If the adder is
/// dropped before, the data set is unchanged. No other process can write to the data set meanwhile.
///
/// ```
/// use vidrec::edit::TrackAdder;
/// use vidrec::{ClipInfo, Dataset, FrameData, JsonObject, Track, TrackValues, Writer, WriterOptions};
/// # let dir = tempfile::tempdir().unwrap();
/// # let dir = dir.path().join("set");
/// # let mut jpeg = Vec::new();
/// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
/// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
/// # writer.append(&ClipInfo::default(), &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }])?;
/// # writer.finish()?;
///
/// let mut adder = TrackAdder::open(&dir, false)?;
/// for i in 0..adder.dataset().len() {
///     let frames = adder.dataset().clip(i)?.frame_count() as usize;
///     let score = Track { name: "score".into(), values: TrackValues::F32(vec![0.5; frames]), ..Track::default() };
///     let mut attributes = JsonObject::default();
///     attributes.insert("caption", "a cat")?;
///     adder.add(&[score], &attributes)?;
/// }
/// adder.finish()?;
///
/// let set = Dataset::open(&dir)?;
/// assert_eq!(set.clip(0)?.track("score")?.unwrap().numbers::<f32>().unwrap()[..], [0.5]);
/// assert_eq!(set.clip(0)?.attributes()?.get::<String>("caption")?.as_deref(), Some("a cat"));
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug)]
pub struct TrackAdder {
    dir: PathBuf,
    set: Dataset,
    before: DatasetJson,
    replace: bool,
    /// Names of the tracks of the data set, if they must not be replaced.
    taken: HashSet<String>,
    schema: Schema,
    // Declared before the lock, so that dropped files are removed while it is held.
    tracks: Option<TrackFileWriter>,
    attributes: Option<TrackFileWriter>,
    report: TracksReport,
    lock: FolderLock,
}

/// The report of a change of tracks and attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TracksReport {
    /// The folder of the data set.
    pub output: String,
    /// Number of clips in the data set.
    pub clips: u64,
    /// The number of clips that got each track.
    pub tracks: BTreeMap<String, u64>,
    /// The number of clips that got each attribute.
    pub attributes: BTreeMap<String, u64>,
    /// Tracks and attributes that were removed.
    pub removed: Vec<String>,
    /// Size of the new files in bytes.
    pub bytes: u64,
    /// Parts of the old data set that could not be cleaned up, in words. Usually empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

impl TrackAdder {
    /// Starts to add to the data set in the folder `path`. With `replace`, what is added may replace what is there: a track
    /// in all clips, an attribute in those that get another value.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is no data set in a local folder, or another process writes
    /// there. Otherwise as [`Dataset::open`].
    pub fn open(path: impl AsRef<Path>, replace: bool) -> Result<Self> {
        let dir = path.as_ref().to_owned();
        let InPlace { lock, set, json } = InPlace::open(&dir)?;
        let before = DatasetJson { packed_from: None, ..json };
        let taken = if replace { Vec::new() } else { set.tracks()? };
        let taken = taken.into_iter().map(|track| track.name).collect();
        let (schema, tracks, attributes, report) = (Schema::default(), None, None, TracksReport::default());
        Ok(TrackAdder { dir, set, before, replace, taken, schema, tracks, attributes, report, lock })
    }

    /// The data set as it is.
    pub fn dataset(&self) -> &Dataset {
        &self.set
    }

    /// Adds tracks and attributes to the next clip. A null removes an attribute. Not every clip needs every track.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is no next clip; the data set has such a track or the clip such
    /// an attribute, and nothing may be replaced; or the values do not fit, as in
    /// [`Writer::append_with_tracks`](crate::dataset::writer::Writer::append_with_tracks).
    pub fn add(&mut self, tracks: &[Track], attributes: &JsonObject) -> Result<()> {
        let (ordinal, frames) = (self.report.clips, self.next_clip()?.frame_count());
        let encoded = tracks.iter().map(|track| track.encode(frames)).collect::<Result<Vec<_>>>();
        self.add_encoded(&encoded.map_err(|e| e.in_clip(ordinal))?, attributes)
    }

    /// Like [`add`](Self::add), for tracks that are encoded.
    #[doc(hidden)]
    pub fn add_encoded(&mut self, tracks: &[EncodedTrack], attributes: &JsonObject) -> Result<()> {
        let ordinal = self.report.clips;
        self.push_attributes(attributes).and_then(|()| self.push_tracks(tracks)).map_err(|e| e.in_clip(ordinal))?;
        self.report.clips += 1;
        Ok(())
    }

    /// Adds what `values` returns for each clip, and publishes. An item of `progress` is a clip.
    #[doc(hidden)]
    pub fn add_all(
        mut self,
        mut values: impl FnMut(&Clip<'_>) -> Result<(Vec<EncodedTrack>, JsonObject)>,
        progress: &mut ProgressFn<'_>,
    ) -> Result<TracksReport> {
        let mut counter = Counter::new(Some(self.set.len()), progress);
        while self.report.clips < self.set.len() {
            let (tracks, attributes) = values(&self.next_clip()?)?;
            self.add_encoded(&tracks, &attributes)?;
            counter.add(0, tracks.iter().map(|track| track.bytes.len() as u64).sum())?;
        }
        self.finish()
    }

    fn next_clip(&self) -> Result<Clip<'_>> {
        self.set.clip(self.report.clips).map_err(|e| e.help("there are more values than clips"))
    }

    fn push_tracks(&mut self, tracks: &[EncodedTrack]) -> Result<()> {
        if let Some(track) = tracks.iter().find(|track| self.taken.contains(&track.schema.name)) {
            return Err(self.is_there("a track", &track.schema.name));
        }
        tracks.iter().try_for_each(|track| self.schema.join(&track.schema).map(drop))?;
        let new = numbered(&self.schema, &tracks.iter().map(EncodedTrack::payload).collect::<Vec<_>>())?;
        if self.tracks.is_none() && !new.is_empty() {
            self.tracks = Some(TrackFileWriter::create(&self.dir.join("tracks.vtrk"), self.report.clips)?);
        }
        let names = tracks.iter().map(|track| track.schema.name.clone());
        names.for_each(|name| *self.report.tracks.entry(name).or_default() += 1);
        self.tracks.as_mut().map_or(Ok(()), |file| file.push(&new))
    }

    /// The file has all attributes that clips got, also those of an earlier file, so that there is only one.
    fn push_attributes(&mut self, new: &JsonObject) -> Result<()> {
        let clip = self.next_clip()?;
        let mut added = clip.added_attributes()?;
        if !new.is_empty() {
            let there = clip.attributes()?;
            if let Some(name) = new.names().find(|name| !self.replace && there.contains(name)) {
                return Err(self.is_there("an attribute", name));
            }
            added.0.extend(new.0.clone());
        }
        if self.attributes.is_none() && !new.is_empty() {
            let mut file = TrackFileWriter::create(&self.dir.join("attributes.vtrk"), 0)?;
            let earlier = |clip: u64| self.set.clip(clip)?.added_attributes();
            (0..self.report.clips).try_for_each(|clip| write_attributes(&mut file, &earlier(clip)?))?;
            self.attributes = Some(file);
        }
        let names = new.0.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name.clone());
        names.for_each(|name| *self.report.attributes.entry(name).or_default() += 1);
        self.attributes.as_mut().map_or(Ok(()), |file| write_attributes(file, &added))
    }

    fn is_there(&self, what: &str, name: &str) -> Error {
        let e = Error::usage(format!("there is already {what} \"{name}\"")).file(&self.dir);
        e.help("choose another name, or replace it: --replace, in Python replace=True")
    }

    /// Publishes the data set with what was added.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): not all clips had their turn, or nothing was added. After an error,
    /// the data set is unchanged.
    pub fn finish(self) -> Result<TracksReport> {
        let mut files = self.tracks.iter().chain(&self.attributes);
        if self.report.clips < self.set.len() || files.any(|file| file.clips() != self.report.clips) {
            let e = Error::usage("not all clips had their turn, or an earlier call failed").file(&self.dir);
            return Err(e.expected(self.set.len()).found(self.report.clips));
        }
        if self.tracks.is_none() && self.attributes.is_none() {
            return Err(Error::usage("nothing to add: no clip has a value").file(&self.dir));
        }
        self.publish(&[])
    }

    fn publish(self, hidden: &[String]) -> Result<TracksReport> {
        let TrackAdder { dir, set, before, schema, tracks, attributes, report, lock, .. } = self;
        let old = set.shards()?.into_iter().flat_map(|shard| &shard.added);
        let old = old.map(|clips| Ok((clips.listed.file.clone(), clips.file.open()?.schema.clone())));
        let mut schemas = old.collect::<Result<HashMap<_, _>>>()?;
        let mut new = Vec::new();
        for (file, schema) in [(tracks, schema.clone()), (attributes, Schema::of_attributes())] {
            let Some(file) = file else { continue };
            let clips = file.clips();
            let (file, DataBinding { length, sha256, edge_crc32 }) = file.finish(&schema)?;
            let name = FileName::with_digest(file_name::ADDED, &sha256, FileKind::Tracks);
            schemas.insert(name.clone(), schema);
            let sha256 = data_binding::hex(&sha256);
            new.push((file, AddedFileJson { file: name, clips, bytes: length, sha256, edge_crc32 }));
        }
        let (mut json, mut first_clip) = (before, 0);
        for shard in &mut json.shards {
            let place = |(_, new): &(_, AddedFileJson)| AddedClipsJson { file: new.file.clone(), first_clip };
            let mut added = shard.added.take().unwrap_or_default();
            added.tracks.extend(new.iter().map(place));
            added.hidden.retain(|name| schema.number(name).is_none() && !hidden.contains(name));
            added.hidden.extend(hidden.iter().cloned());
            shard.added = Some(without_replaced(added, &schemas)).filter(|added| *added != AddedJson::default());
            first_clip += shard.clips;
        }
        let old = std::mem::take(&mut json.added_files);
        let is_new = |old: &AddedFileJson| new.iter().any(|(_, new)| new.file == old.file);
        let old = old.into_iter().filter(|old| !is_new(old));
        let json = json.with_added_files(old.chain(new.iter().map(|(_, new)| new.clone())).collect::<Vec<_>>());
        let bytes = new.iter().map(|(_, new)| new.bytes).sum();
        let files = new.into_iter().map(|(file, new)| (file, new.file)).collect();
        let staged = Staged::new(&dir, lock, files, &json.to_bytes(), replaceable(&dir, true)?.but_for(&json))?;
        let (output, clips, left_behind) = (dir.display().to_string(), json.clips, staged.publish()?);
        Ok(TracksReport { output, clips, bytes, removed: hidden.to_vec(), left_behind, ..report })
    }
}

/// Removes tracks and attributes from the clips of the data set in the folder `path`. What was packed stays in its file, and
/// is hidden; added files that no clip needs any more are removed.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): the data set has no such track, or no clip has such an attribute.
/// Otherwise as [`TrackAdder::open`].
pub fn remove_tracks(path: impl AsRef<Path>, tracks: &[String], attributes: &[String]) -> Result<TracksReport> {
    let mut adder = TrackAdder::open(path, true)?;
    let known: Vec<String> = adder.set.tracks()?.into_iter().map(|track| track.name).collect();
    let mut seen: HashSet<&String> = HashSet::new();
    for clip in 0..if attributes.is_empty() { 0 } else { adder.set.len() } {
        let has = adder.set.clip(clip)?.attributes()?;
        let found: Vec<&String> = attributes.iter().filter(|name| has.contains(name)).collect();
        seen.extend(&found);
        adder.add_encoded(&[], &JsonObject(found.into_iter().map(|name| (name.clone(), ().into())).collect()))?;
    }
    let mut missing = tracks.iter().filter(|name| !known.contains(name));
    if let Some(name) = missing.next().or_else(|| attributes.iter().find(|name| !seen.contains(name))) {
        let e = Error::usage(format!("there is no track or attribute \"{name}\"")).file(&adder.dir);
        return Err(e.expected(format!("one of the tracks {}, or an attribute", known.join(", "))));
    }
    let mut report = adder.publish(tracks)?;
    report.removed.extend(attributes.iter().cloned());
    Ok(report)
}

/// The same for readers, without the files of which all tracks are hidden or in newer files. `schemas` are those of all files.
fn without_replaced(added: AddedJson, schemas: &HashMap<FileName, Schema>) -> AddedJson {
    let mut gone: HashSet<String> = added.hidden.iter().cloned().collect();
    let is_needed = |place: &AddedClipsJson| {
        let tracks = schemas.get(&place.file).map(Schema::tracks).unwrap_or_default();
        tracks.iter().filter(|track| gone.insert(track.name.clone())).count() > 0
    };
    let mut tracks: Vec<_> = added.tracks.into_iter().rev().filter(is_needed).collect();
    tracks.reverse();
    AddedJson { tracks, ..added }
}

/// Appends the added attributes of a clip.
fn write_attributes(file: &mut TrackFileWriter, attributes: &JsonObject) -> Result<()> {
    if attributes.is_empty() {
        return file.push(&[]);
    }
    let text = attributes.to_string();
    if text.len() as u64 > limits::MAX_CLIP_TEXT_BYTES {
        let e = Error::limit("the attributes of a clip are too long");
        return Err(e.expected(format!("at most {} bytes", limits::MAX_CLIP_TEXT_BYTES)).found(text.len()));
    }
    let values = TrackValues::Texts(vec![text]);
    let text =
        Track { name: ATTRIBUTES.into(), values, times: TrackTimes::Times(vec![0]), ..Track::default() }.encode(0)?;
    file.push(&[NewTrack::of(0, &text.payload())])
}
