//! A data set: its shards, and the clips of these shards that belong to it.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::dataset::listing::Listing;
use crate::dataset::shard::{LazyShard, are_extended, open_all, open_ends};
use crate::dataset::{Clip, FailedSource, Io, Leftover, OpenOptions, Shard, Source, listing, track_file};
use crate::store::disk::folder_of;
use crate::store::disk::regular_file::{Links, advise, open_regular};
use crate::store::location::is_remote;
use crate::store::read_at::Advice;
use crate::store::remote::Remote;
use crate::store::storage::RemoteStats;
use vidrec_format::track::schema::TrackSchema;
use vidrec_format::{DatasetJson, Error, Meta, Result, SectionId, data_binding, file_name};

const NO_DIGEST: [u8; 32] = [0; 32];

/// A data set, open for reading. Cloning is cheap; all clones share the maps.
///
/// Opening takes the same time for any number of clips. It checks the heads of the files. Each clip entry and frame
/// entry is checked when it is used, and [`verify`](crate::dataset::verify::verify()) checks everything. Reads are positional,
/// without a shared cursor, so threads and forked processes do not disturb each other. Do not change the files in
/// place while they are open. vidrec itself replaces files by renaming, which is safe.
///
/// ```no_run
/// let train = vidrec::Dataset::open("train")?;
/// for i in 0..train.len() {
///     let clip = train.clip(i)?;
///     println!("{} {:?} {} frames", clip.source()?, clip.label(), clip.frame_count());
///     let first = clip.frame(0)?;
///     first.check()?; // CRC-32
///     std::fs::write("first.jpg", first.jpeg()).unwrap();
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dataset(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shards: Vec<Arc<LazyShard>>,
    /// Settings and provenance of the first shard, with all class names.
    meta: Arc<Meta>,
    /// Ordinal of each shard's first clip, followed by the number of clips.
    starts: Vec<u64>,
    /// The number of frames before each shard, followed by the number of frames of all shards.
    frame_starts: Vec<u64>,
    /// The clips of the shards that belong to this data set; `None` if all do.
    chosen: Option<ClipSubset>,
}

/// Some clips of the shards, in any order.
#[derive(Debug)]
struct ClipSubset {
    /// Ordinals in all shards together.
    clips: Vec<u64>,
    frame_count: u64,
    /// The number of frames per clip, if it is the same for all.
    frames_per_clip: Option<u32>,
    /// See [`Dataset::draws`].
    draws: u32,
}

/// The first clip of the first group of `draws` consecutive clips that is not complete in `clips`.
pub(super) fn torn_group(clips: &[u64], draws: u64) -> Option<u64> {
    let first = |group: &[u64]| group[0] / draws * draws;
    let mut groups = clips.chunks(usize::try_from(draws).unwrap_or(usize::MAX));
    groups.find(|group| !group.iter().copied().eq(first(group)..first(group) + draws)).map(first)
}

impl Inner {
    /// Joins shards.
    fn new(shards: Vec<Arc<LazyShard>>, meta: Arc<Meta>) -> Self {
        let (mut starts, mut frame_starts) = (vec![0], vec![0]);
        for shard in &shards {
            starts.push(starts.last().unwrap_or(&0) + shard.json().clips);
            frame_starts.push(frame_starts.last().unwrap_or(&0) + shard.json().frames);
        }
        Inner { shards, meta, starts, frame_starts, chosen: None }
    }

    /// Checks that the tracks of the shards can be in one data set. The track files of remote shards are opened when they
    /// are used.
    fn prove_tracks(&self) -> Result<()> {
        let shards = self.shards.iter().filter_map(|slot| slot.opened());
        track_file::joined(shards.flat_map(Shard::opened_tracks)).map(drop)
    }

    /// Like [`Dataset::draws`], but for all clips of the shards.
    fn draws(&self) -> u32 {
        let of = |shard: &Shard| shard.index.meta.draws.unwrap_or(1);
        let draws = self.shards.first().and_then(|slot| slot.opened()).map_or(1, of);
        // When a shard is opened later, it is refused if its number of draws differs.
        let whole = |slot: &Arc<LazyShard>| {
            slot.opened().is_none_or(|shard| of(shard) == draws)
                && slot.json().clips.is_multiple_of(u64::from(draws.max(1)))
        };
        if self.shards.iter().all(whole) { draws.max(1) } else { 1 }
    }

    /// Number of clips in all shards.
    fn stored(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Number of frames in all shards.
    fn stored_frames(&self) -> u64 {
        self.frame_starts.last().copied().unwrap_or(0)
    }
}

impl Dataset {
    /// Opens a data set's folder, a `.rec` file, a `.vidx` file or a `dataset.json`: on this machine's file systems, in
    /// object storage (`s3://bucket/train`, `gs://`, `az://`), on the Hugging Face Hub (`hf://datasets/OWNER/NAME`) or on
    /// a web server (`https://`).
    ///
    /// A folder is a data set if it has a `dataset.json`, which lists the shards. A single shard can be opened by
    /// either of its files. On the Hub, `hf://datasets/OWNER/NAME@REVISION/FOLDER` names a branch, a tag or a commit.
    /// All reads are of the commit that it is now, and the paths of the data set's files name it.
    ///
    /// Local files are mapped ([`Io::Map`]). If another program writes to a file in place, the bytes that are
    /// borrowed from the data set change. vidrec never does that: it replaces files by renaming new ones, and an open
    /// data set keeps the old ones. A checksum proves only the bytes as they were when they were compared. If a
    /// program may write to the files meanwhile, copy the bytes first and compare then, or read the files instead of
    /// mapping them ([`Io::Read`]).
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io): a file is missing or cannot be read.
    /// [`Format`](vidrec_format::error::ErrorKind::Format): a file is truncated or damaged, or an index and its
    /// record file do not belong together.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Io::Map)
    }

    /// Like [`open`](Self::open), with a choice of how to read the files: an [`Io`], a
    /// [`Storage`](crate::store::storage::Storage) or both.
    ///
    /// ```no_run
    /// use vidrec::{Dataset, Io, Storage};
    ///
    /// let train = Dataset::open_with("/net/train", Io::Read)?;
    /// let storage = Storage { cache: Some("/scratch/vidrec".into()), ..Storage::default() };
    /// let other = Dataset::open_with("s3://bucket/train", storage)?;
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// See [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: impl Into<OpenOptions>) -> Result<Self> {
        let options = options.into();
        let source = Source::of(path.as_ref(), &options)?;
        let path = source.pinned(path.as_ref())?;
        source.twice(|| listing::with_shards(&path, &source, |found| Self::open_files(found, options.clips, &source)))
    }

    /// Opens the first `clips` clips, or all.
    pub(crate) fn open_files(found: &Listing, clips: Option<u64>, source: &Source) -> Result<Self> {
        let files = found.with_first(clips);
        let shards = match (source, &found.json) {
            (Source::Remote(_), Some((_, json))) => open_ends(files, &json.classes, source)?,
            _ => open_all(files, source)?,
        };
        let mut open = shards.iter().filter_map(|slot| slot.opened());
        let first = open.next().ok_or_else(|| Error::internal("no shard is open"))?;
        let classes = open.next_back().unwrap_or(first).index.meta.classes.clone();
        let meta = Arc::new(Meta { classes, ..first.index.meta.clone() });
        let inner = Inner::new(shards, meta);
        inner.prove_tracks()?;
        let set = Dataset(Arc::new(inner));
        match clips.filter(|&clips| clips != set.len()) {
            None => Ok(set),
            Some(clips) if (1..set.len()).contains(&clips) => set.select(0..clips),
            Some(clips) => {
                let e = Error::usage("the data set does not have this number of clips").file(set.first_file());
                Err(e.expected(format!("1 to {}", set.len())).found(clips))
            }
        }
    }

    /// Returns what interrupted writes left in the folder of this data set.
    ///
    /// ```no_run
    /// for leftover in vidrec::Dataset::open("train")?.leftovers() {
    ///     println!("{}", leftover.note);
    /// }
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn leftovers(&self) -> Vec<Leftover> {
        let local = self.0.shards.first().filter(|slot| !is_remote(slot.record_path()));
        local.and_then(|slot| listing::leftover(folder_of(slot.record_path()))).into_iter().collect()
    }

    /// Returns the videos that were not packed, for all folders that contain the record files. A shard that no
    /// `dataset.json` lists has none.
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if a list is damaged;
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if a list cannot be read.
    pub fn failures(&self) -> Result<Vec<FailedSource>> {
        let place =
            |slot: &Arc<LazyShard>| (slot.record_path().with_file_name(file_name::LISTING), slot.source.clone());
        let mut seen = HashSet::new();
        let listings = self.0.shards.iter().map(place).filter(|(path, _)| seen.insert(path.clone()));
        let failures = listings.map(|(path, source)| source.twice(|| listing::failures_of(&path, &source)));
        Ok(failures.collect::<Result<Vec<_>>>()?.concat())
    }

    /// Selects clips by their ordinals in this data set, in the order of `clips`. An ordinal may occur more than once.
    /// The files are shared and nothing is copied. The entries of the selected clips are read once, to count frames.
    ///
    /// Clip `i` of the result is clip `clips[i]` of this data set. Methods about files ([`to_json`](Self::to_json),
    /// [`record_files`](Self::record_files)) still describe all files, unless the clips are the first ones up to the end of a
    /// shard. Those have the [fingerprint](Self::fingerprint) that the data set had before the other shards were appended.
    ///
    /// ```no_run
    /// let train = vidrec::Dataset::open("train")?;
    /// let odd = train.select((0..train.len()).filter(|i| i % 2 == 1))?;
    /// assert_eq!(odd.clip(3)?.source()?, train.clip(7)?.source()?);
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if there is no such clip;
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if an entry is damaged.
    pub fn select(&self, clips: impl IntoIterator<Item = u64>) -> Result<Self> {
        let clips: Vec<u64> = clips.into_iter().collect();
        self.prefetch(&clips, false)?;
        let mut chosen = Vec::with_capacity(clips.len());
        let (mut frame_count, mut least, mut most) = (0u64, u32::MAX, 0);
        for ordinal in clips {
            let frames = self.clip(ordinal)?.frame_count();
            frame_count = frame_count.saturating_add(frames.into());
            (least, most) = (least.min(frames), most.max(frames));
            chosen.push(self.stored_ordinal(ordinal));
        }
        let draws = self.0.draws();
        let draws = if torn_group(&chosen, draws.into()).is_none() { draws } else { 1 };
        let frames_per_clip = (least == most).then_some(most);
        let (count, is_first) = (chosen.len() as u64, chosen.iter().copied().eq(0..chosen.len() as u64));
        let chosen = Some(ClipSubset { clips: chosen, frame_count, frames_per_clip, draws });
        let Inner { shards, meta, starts, .. } = &*self.0;
        let end = starts.iter().position(|&end| is_first && end > 0 && end == count).unwrap_or(shards.len());
        Ok(Dataset(Arc::new(Inner { chosen, ..Inner::new(shards[..end].to_vec(), meta.clone()) })))
    }

    /// Concatenates the clips of several data sets. The files are shared and nothing is copied.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `parts` is empty;
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if the class names of a data set are not those of the others, or the
    /// first of them, or if an entry is damaged.
    #[doc(hidden)]
    pub fn concat(parts: &[Dataset]) -> Result<Self> {
        let first = parts.first().ok_or_else(|| Error::usage("there are no data sets to join"))?;
        // The longest list has all names.
        let most = parts.iter().max_by_key(|part| part.classes().len()).unwrap_or(first);
        if let Some(other) = parts.iter().find(|part| !are_extended(part.classes(), most.classes())) {
            let e = Error::format("dataset-classes", "the data sets do not have the same class names");
            return Err(e.file(other.first_file()).expected(format!("those of {}", most.first_file().display())));
        }
        let meta = Meta { classes: most.classes().to_vec(), ..first.meta().clone() };
        let whole = Dataset::joined(parts, Arc::new(meta))?;
        whole.0.prove_tracks()?;
        Ok(whole)
    }

    /// Like [`concat`](Self::concat), for data sets that may differ in their class names and tracks. [`classes`](Self::classes)
    /// and [`meta`](Self::meta) return those of the first data set.
    pub(crate) fn concat_of_any_classes(parts: &[Dataset]) -> Result<Self> {
        let first = parts.first().ok_or_else(|| Error::usage("there are no data sets to join"))?;
        Dataset::joined(parts, first.0.meta.clone())
    }

    fn joined(parts: &[Dataset], meta: Arc<Meta>) -> Result<Self> {
        let shards = parts.iter().flat_map(|part| part.0.shards.iter().cloned()).collect();
        let whole = Dataset(Arc::new(Inner::new(shards, meta)));
        if parts.iter().all(|part| part.0.chosen.is_none()) {
            return Ok(whole);
        }
        let mut start = 0;
        let mut clips = Vec::new();
        for part in parts {
            clips.extend((0..part.len()).map(|i| start + part.stored_ordinal(i)));
            start += part.0.stored();
        }
        whole.select(clips)
    }

    /// The ordinal of clip `ordinal` among the clips of all shards together. The clip must exist.
    fn stored_ordinal(&self, ordinal: u64) -> u64 {
        self.0.chosen.as_ref().map_or(ordinal, |chosen| chosen.clips[ordinal as usize])
    }

    /// Whether this is a selection of the clips of its shards.
    #[doc(hidden)]
    pub fn is_selection(&self) -> bool {
        self.0.chosen.is_some()
    }

    /// Number of clips.
    pub fn len(&self) -> u64 {
        self.0.chosen.as_ref().map_or_else(|| self.0.stored(), |chosen| chosen.clips.len() as u64)
    }

    /// Whether there are no clips.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of frames in all clips.
    pub fn frame_count(&self) -> u64 {
        self.0.chosen.as_ref().map_or_else(|| self.0.stored_frames(), |chosen| chosen.frame_count)
    }

    /// Class names by label; empty if labels are plain integers or absent.
    pub fn classes(&self) -> &[String] {
        &self.meta().classes
    }

    /// Returns the tracks that clips can have, by name. For a remote data set, this opens all shards.
    ///
    /// ```no_run
    /// for track in vidrec::Dataset::open("train")?.tracks()? {
    ///     println!("{}: {} of shape {:?}, {}", track.name, track.kind, track.shape, track.timing);
    /// }
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if a track file is damaged, or a track is not the same in
    /// all shards; [`Io`](vidrec_format::error::ErrorKind::Io) if a track file cannot be read.
    pub fn tracks(&self) -> Result<Vec<TrackSchema>> {
        let has_tracks = |&at: &usize| self.0.shards[at].json().has_tracks();
        let shards: Vec<usize> = (0..self.shard_count()).filter(has_tracks).collect();
        // Those of local data sets are open already.
        self.at_once(&shards, |&at| self.shard(at)?.open_tracks())?;
        let mut found = Vec::new();
        for at in shards {
            found.extend(self.shard(at)?.opened_tracks());
        }
        let mut tracks = track_file::joined(found.into_iter())?.tracks().to_vec();
        tracks.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(tracks)
    }

    /// Settings and provenance of the first shard, with all class names.
    pub fn meta(&self) -> &Meta {
        &self.0.meta
    }

    /// The number K of consecutive clips that are draws of one video: clips `i K` to `i K + K - 1`. It is 1 if there is
    /// one clip per video, if the shards do not agree, or if a selection of clips does not keep all draws of each video
    /// together.
    pub fn draws(&self) -> u32 {
        self.0.chosen.as_ref().map_or_else(|| self.0.draws(), |chosen| chosen.draws)
    }

    /// Returns what `dataset.json` should contain according to the indexes: everything except `failures`.
    #[doc(hidden)]
    pub fn to_json(&self) -> DatasetJson {
        let shards = self.0.shards.iter().map(|slot| slot.json().clone()).collect();
        let mut seen = HashSet::new();
        let added = self.0.shards.iter().flat_map(|slot| &slot.files.added).map(|clips| &clips.listed);
        let added = added.filter(|file| seen.insert(&file.file)).cloned();
        DatasetJson::new(self.meta(), shards).with_added_files(added)
    }

    /// Paths of the record files, in order of the clips.
    pub fn record_files(&self) -> impl Iterator<Item = &Path> {
        self.0.shards.iter().map(|slot| slot.record_path())
    }

    /// The first record file, by which errors name the data set.
    pub(crate) fn first_file(&self) -> &Path {
        self.record_files().next().unwrap_or(Path::new(""))
    }

    /// The number of frames per clip, if all clips seem to have the same; `None` if they differ or there are no clips.
    ///
    /// This takes the same time for any number of clips. The counts of clips and frames in the files' headers must
    /// match, and the first clip and up to 64 others, evenly spread, must agree. The result is certain only for up to
    /// 64 clips.
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if the entry of the first clip is damaged.
    #[doc(hidden)]
    pub fn likely_frames_per_clip(&self) -> Result<Option<u32>> {
        const PROBES: u64 = 64;
        if let Some(chosen) = &self.0.chosen {
            return Ok(chosen.frames_per_clip);
        }
        let Some(first) = self.clips().next() else { return Ok(None) };
        let frames = first?.frame_count();
        let fits = |s: &Arc<LazyShard>| s.json().clips.checked_mul(frames.into()) == Some(s.json().frames);
        // Each probe of a remote data set is a request.
        let count = if self.is_remote() { 1 } else { PROBES.min(self.len()) };
        // The product does not overflow: an ordinal needs no more than 48 bits.
        let mut probes = (0..count).map(|i| i * self.len() / count);
        // Entries that cannot be read are ignored here, because other code reports them.
        let agrees = |clip: u64| self.clip(clip).map_or(true, |clip| clip.frame_count() == frames);
        Ok((self.0.shards.iter().all(fits) && probes.all(agrees)).then_some(frames))
    }

    /// Returns the label of every clip, in the form that `order::Weights` takes. Reads the
    /// entry of every clip.
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if an entry is damaged.
    pub fn labels(&self) -> Result<Vec<Option<u32>>> {
        self.prefetch_all(&[SectionId::CLIPS])?;
        self.clips().map(|clip| Ok(clip?.label())).collect()
    }

    /// Returns a few bytes that identify this data set: see [`Fingerprint`].
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint_of_first(self.len())
    }

    /// The fingerprint of the first `clips` clips, or of all if there are fewer.
    pub(crate) fn fingerprint_of_first(&self, clips: u64) -> Fingerprint {
        let clips = clips.min(self.len());
        let stored = || (0..clips).map(|clip| self.stored_ordinal(clip));
        let is_first = self.0.chosen.is_none() || stored().eq(0..clips);
        let end = if is_first { clips } else { stored().max().map_or(0, |last| last + 1) };
        let shards = self.0.starts.partition_point(|&start| start < end);
        let mut digest = Sha256::new();
        self.0.shards[..shards].iter().for_each(|slot| digest.update(slot.sha256()));
        if !(is_first && self.0.starts[shards] == clips) {
            stored().for_each(|clip| digest.update(clip.to_le_bytes()));
        }
        Fingerprint { clips, digest: data_binding::hex(&digest.finalize()) }
    }

    /// The number of frames in all shards, and a digest of their record files. A selection has the same values as its
    /// shards.
    pub(crate) fn stored_frames(&self) -> Result<(u64, [u8; 32])> {
        let mut digest = Sha256::new();
        for slot in &self.0.shards {
            // A shard that is not open may be listed without a digest.
            let of_records = match slot.sha256() {
                NO_DIGEST => slot.open()?.index.binding.sha256,
                of_records => of_records,
            };
            digest.update(of_records);
            digest.update(slot.json().frames.to_le_bytes());
        }
        Ok((self.0.stored_frames(), digest.finalize().into()))
    }

    /// Size of the index file of each shard in bytes; 0 for a shard that was not opened yet.
    #[doc(hidden)]
    pub fn index_bytes(&self) -> impl Iterator<Item = u64> {
        self.0.shards.iter().map(|slot| slot.opened().map_or(0, |shard| shard.index_bytes.len()))
    }

    /// Paths of all known index, record and track files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.shards.iter().flat_map(|slot| {
            let tracks = slot.opened().and_then(|shard| shard.tracks.as_ref());
            let tracks = tracks.into_iter().chain(slot.files.added.iter().map(|clips| &*clips.file));
            [&*slot.files.index, slot.record_path()].into_iter().chain(tracks.map(|file| file.path.as_path()))
        })
    }

    /// Asks the system to drop the files from the page cache, so that a measurement starts cold. Returns whether the
    /// system agreed for all files. Pages that any process has mapped and used stay, so call this before reading.
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if a file cannot be opened.
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if the data set is remote.
    #[doc(hidden)]
    pub fn cool(&self) -> Result<bool> {
        if let Some(path) = self.record_files().find(|path| is_remote(path)) {
            let e = Error::usage("the page cache of the system does not hold remote data sets").file(path);
            return Err(e.help("clear its cache on local disk, or read it without one"));
        }
        let cool = |path: &Path| {
            let file = open_regular(path, Links::Follow)?;
            let length = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?.len();
            Ok(advise(&file, 0..length, Advice::Done))
        };
        self.files().map(cool).try_fold(true, |all, taken| Ok(all & taken?))
    }

    /// Clip `ordinal`, counted from 0 over all shards.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if there is no such clip;
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if its entry is damaged.
    pub fn clip(&self, ordinal: u64) -> Result<Clip<'_>> {
        if ordinal >= self.len() {
            return Err(
                Error::usage(format!("there is no clip {ordinal}")).expected(format!("0 to {}", self.len() as i64 - 1))
            );
        }
        let (at, of_shard) = self.position(ordinal);
        let shard = self.shard(at)?;
        let entry = shard.clip(of_shard).map_err(|e| e.in_clip(ordinal))?;
        let frames_before = self.0.frame_starts[at];
        Ok(Clip { shard, ordinal, stored: of_shard, frames_before, entry })
    }

    /// The number of shards.
    pub fn shard_count(&self) -> usize {
        self.0.shards.len()
    }

    /// Shard `at`, which must exist.
    pub(crate) fn shard(&self, at: usize) -> Result<&Shard> {
        self.0.shards[at].open()
    }

    /// The shards, in order of the clips, all of them open.
    #[doc(hidden)]
    pub fn shards(&self) -> Result<Vec<&Shard>> {
        (0..self.shard_count()).map(|at| self.shard(at)).collect()
    }

    /// Counters of what all clones, selections and loaders of a remote data set have fetched so far; `None` for a
    /// local data set.
    pub fn remote_stats(&self) -> Option<RemoteStats> {
        self.remotes().iter().map(|remote| remote.stats()).reduce(RemoteStats::and)
    }

    /// The limit on memory for records that were fetched ahead. `None` if they are not all held in memory: for a
    /// local data set, or if a cache on disk has room for all records.
    pub(crate) fn memory_to_hold(&self) -> Option<u64> {
        let remotes = self.remotes();
        let without_cache =
            remotes.iter().filter(|remote| remote.cache_limit().is_none_or(|limit| limit < self.record_bytes()));
        without_cache.map(|remote| remote.memory_bytes()).min()
    }

    /// The first reason why the cache could not keep something.
    pub(crate) fn cache_failure(&self) -> Option<String> {
        self.remotes().iter().find_map(|remote| remote.cache_failure().map(str::to_owned))
    }

    /// Length of all record files.
    fn record_bytes(&self) -> u64 {
        self.0.shards.iter().map(|slot| slot.json().bytes).sum()
    }

    /// The shared state of the remote shards: one for each data set that this one consists of.
    pub(crate) fn remotes(&self) -> Vec<Arc<Remote>> {
        let mut found: Vec<Arc<Remote>> = Vec::new();
        for slot in &self.0.shards {
            if let Source::Remote(remote) = &slot.source
                && !found.iter().any(|other| Arc::ptr_eq(other, remote))
            {
                found.push(remote.clone());
            }
        }
        found
    }

    /// Mean size of a clip's records in bytes.
    pub(crate) fn mean_clip_bytes(&self) -> u64 {
        self.record_bytes() / self.0.stored().max(1)
    }

    /// Whether any part of the data set is remote.
    pub fn is_remote(&self) -> bool {
        self.0.shards.iter().any(|slot| is_remote(slot.record_path()))
    }

    /// The shard that holds clip `ordinal`, and the ordinal of the clip in it. The clip must exist.
    pub(crate) fn position(&self, ordinal: u64) -> (usize, u64) {
        let at = self.shard_of(ordinal);
        (at, self.stored_ordinal(ordinal) - self.0.starts[at])
    }

    /// The ordinal of the shard that holds clip `ordinal`. The clip must exist.
    pub(crate) fn shard_of(&self, ordinal: u64) -> usize {
        let stored = self.stored_ordinal(ordinal);
        self.0.starts.partition_point(|&start| start <= stored) - 1
    }

    /// The number of clips of a shard, whether this selects them or not.
    pub(crate) fn clips_of_shard(&self, shard: usize) -> u64 {
        self.0.starts[shard + 1] - self.0.starts[shard]
    }

    /// All clips, in order.
    pub fn clips(&self) -> impl Iterator<Item = Result<Clip<'_>>> {
        (0..self.len()).map(|i| self.clip(i))
    }
}

/// Identifies a data set. Two data sets with the same fingerprint have the same clips in the same order, packed to the
/// same bytes.
///
/// It depends only on the record files, so names, folders and labels may change. It is computed from the digests in the
/// indexes, without reading the record files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint {
    /// Number of clips.
    pub clips: u64,
    /// SHA-256, in hexadecimal, of the concatenated SHA-256 digests of the record files, up to the last that has a clip of the
    /// data set. Unless these clips are all of those files in their order, their ordinals follow, each as 64 bits with the
    /// lowest byte first.
    pub digest: String,
}

const _: () = {
    const fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<Dataset>();
};
