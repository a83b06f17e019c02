//! The tracks of a clip: values beside its frames, at rates of their own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::dataset::track_file::Block;
use crate::dataset::{Clip, TrackFile};
use crate::store::remote::RemoteFile;
use vidrec_format::track::coding::TrackCoding;
use vidrec_format::track::directory::Entry;
use vidrec_format::track::payload::{Payload, TrackNumber, numbers};
use vidrec_format::track::schema::{ATTRIBUTES, Schema, TrackSchema, TrackTiming};
use vidrec_format::{Error, JsonObject, Result};

/// All tracks of a clip, read once.
///
/// ```no_run
/// let train = vidrec::Dataset::open("train")?;
/// let tracks = train.clip(0)?.tracks()?;
/// for name in tracks.names() {
///     println!("{name}");
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ClipTracks<'a> {
    clip: Clip<'a>,
    /// The clip's tracks in each [file](crate::dataset::Shard::track_files), if it has any there and they were read.
    found: Vec<(&'a TrackFile, Option<Arc<Block<'a>>>)>,
}

/// One track of a clip. Its values are slices of the map of the track file, if the file is mapped and they are not
/// coded.
///
/// ```no_run
/// let train = vidrec::Dataset::open("train")?;
/// let clip = train.clip(0)?;
/// if let Some(action) = clip.track("action")? {
///     let joints = action.numbers::<f32>().unwrap_or_default();
///     println!("{} values of shape {:?}", action.len(), action.schema().shape);
///     println!("the first at {} ns: {:?}", action.time_ns(0)?, joints.first());
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TrackView<'a> {
    clip: Clip<'a>,
    file: &'a TrackFile,
    schema: &'a TrackSchema,
    block: Arc<Block<'a>>,
    entry: Entry,
    /// The bytes of all numbers, if they are coded and the track is proven.
    decoded: Option<Arc<Vec<u8>>>,
}

/// The numbers of some values of a track: see [`TrackView::values_at`].
#[derive(Debug)]
#[doc(hidden)]
pub struct Values<'a> {
    /// The bytes of values, one after the other.
    pub bytes: Cow<'a, [u8]>,
    /// Where coded values are in `bytes`: the first value of each run of blocks, and its place. None: all are where
    /// they are in the track.
    runs: Vec<(usize, usize)>,
}

impl<'a> Values<'a> {
    /// Values whose bytes follow each other.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Values { bytes: Cow::Borrowed(bytes), runs: Vec::new() }
    }

    /// The place in `bytes` of a value that was asked for, counted in values. Values that follow each other in the
    /// track do so here.
    pub fn place(&self, value: usize) -> usize {
        let after = self.runs.partition_point(|(first, _)| *first <= value);
        after.checked_sub(1).map_or(value, |run| value - self.runs[run].0 + self.runs[run].1)
    }
}

impl<'a> Clip<'a> {
    /// Returns the track of this name; `None` if the clip has none. [`tracks`](Self::tracks) reads several tracks at
    /// once.
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if the track is damaged;
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if it cannot be read.
    pub fn track(&self, name: &str) -> Result<Option<TrackView<'a>>> {
        self.tracks_named(|other| other == name)?.get(name)
    }

    /// Returns all tracks of the clip. For a remote data set, one request fetches all of them. Each track is checked
    /// when it is taken.
    ///
    /// # Errors
    ///
    /// See [`track`](Self::track).
    pub fn tracks(&self) -> Result<ClipTracks<'a>> {
        self.tracks_named(|_| true)
    }

    /// Like [`tracks`](Self::tracks), but reads only the files that have a track that is needed.
    pub(crate) fn tracks_named(&self, is_needed: impl Fn(&str) -> bool) -> Result<ClipTracks<'a>> {
        ClipTracks::read(*self, is_needed).map_err(|e| e.in_clip(self.ordinal))
    }

    /// The attributes that the clip got after it was packed. A null stands for one that was removed.
    pub(crate) fn added_attributes(&self) -> Result<JsonObject> {
        if self.shard.added.is_empty() {
            return Ok(JsonObject::default());
        }
        let Some(track) = self.track(ATTRIBUTES)? else { return Ok(JsonObject::default()) };
        let attributes = attributes_of(&track.payload());
        attributes.map_err(|e| e.in_clip(self.ordinal).file(&track.file.path))
    }

    /// The places of a remote clip's tracks, of the files that have one that is needed.
    pub(crate) fn remote_tracks(
        &self,
        is_needed: impl Fn(&str) -> bool,
    ) -> Result<Vec<(&'a Arc<RemoteFile>, Range<u64>)>> {
        let files = self.track_files(is_needed)?.into_iter();
        files.filter_map(|(file, clip)| file.remote_block(clip?).transpose()).collect()
    }

    /// The clip's track files, the newest first, and of those with a track that is needed the ordinal of the clip there.
    fn track_files(&self, is_needed: impl Fn(&str) -> bool) -> Result<Vec<(&'a TrackFile, Option<u64>)>> {
        let mut files = Vec::new();
        for (place, (file, first)) in self.shard.track_files().enumerate() {
            let mut names = file.open()?.schema.tracks().iter().map(|track| &track.name);
            let is_needed = names.any(|name| is_needed(name) && self.shard.shows(place, name));
            files.push((file, is_needed.then_some(first + self.stored)));
        }
        Ok(files)
    }

    /// Returns the time of frame `t` in nanoseconds; `None` if it does not fit. Reads only the frame's entry.
    #[doc(hidden)]
    pub fn time_ns(&self, t: u32) -> Result<Option<i64>> {
        let (numerator, denominator) = self.entry.time_base;
        let seconds = i128::from(self.frame_entry(t)?.pts) * i128::from(numerator);
        Ok(i64::try_from(nanoseconds(seconds, denominator.into())).ok())
    }
}

impl<'a> ClipTracks<'a> {
    fn read(clip: Clip<'a>, is_needed: impl Fn(&str) -> bool) -> Result<Self> {
        let read = |(file, clip): (&'a TrackFile, Option<u64>)| {
            Ok((file, clip.map_or(Ok(None), |clip| file.block(clip))?.map(Arc::new)))
        };
        let found = clip.track_files(is_needed)?.into_iter().map(read).collect::<Result<_>>()?;
        Ok(ClipTracks { clip, found })
    }

    /// The names of the tracks that the clip has.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        let mut names = Vec::new();
        for (place, (file, block)) in self.found.iter().enumerate().rev() {
            // The file is open, because its schema was read.
            let tracks = file.opened().map(Schema::tracks).unwrap_or_default();
            let entries = block.iter().flat_map(|block| &block.entries);
            let of_file = entries.filter_map(|entry| Some(tracks.get(entry.track as usize)?.name.as_str()));
            names.extend(of_file.filter(|name| *name != ATTRIBUTES && self.clip.shard.shows(place, name)));
        }
        names.into_iter()
    }

    /// The track of this name; `None` if the clip has none.
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if the track is damaged;
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if it cannot be read.
    pub fn get(&self, name: &str) -> Result<Option<TrackView<'a>>> {
        let Some(mut track) = self.unproven(name)? else { return Ok(None) };
        track.prove()?;
        if let Some(blocks) = track.payload().blocks() {
            track.decoded = Some(Arc::new(track.named(blocks.decode_all())?));
        }
        Ok(Some(track))
    }

    /// Returns the track of this name without a check beyond the directory: see [`TrackView::prove`].
    #[doc(hidden)]
    pub fn unproven(&self, name: &str) -> Result<Option<TrackView<'a>>> {
        let mut files = self.found.iter().enumerate();
        let has = |file: &'a TrackFile| file.opened().and_then(|schema| Some((schema, schema.number(name)?)));
        let place = files.find_map(|(place, (file, block))| has(file).map(|found| (place, file, block, found)));
        let Some((place, file, Some(block), (schema, number))) = place else { return Ok(None) };
        if !self.clip.shard.shows(place, name) {
            return Ok(None);
        }
        let entry = block.entries.iter().find(|entry| entry.track == number);
        let found = entry.and_then(|entry| Some((entry, schema.tracks().get(entry.track as usize)?)));
        let view = |(entry, schema): (&Entry, _)| TrackView {
            clip: self.clip,
            file,
            schema,
            block: block.clone(),
            entry: *entry,
            decoded: None,
        };
        Ok(found.map(view))
    }

    /// All tracks: those of the shard in the order of its schema, and then those that were added.
    ///
    /// # Errors
    ///
    /// See [`get`](Self::get).
    pub fn all(&self) -> Result<Vec<TrackView<'a>>> {
        self.names().filter_map(|name| self.get(name).transpose()).collect()
    }
}

impl<'a> TrackView<'a> {
    /// The schema of all values of the track: name, type, shape and timing.
    pub fn schema(&self) -> &'a TrackSchema {
        self.schema
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.schema.name
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.entry.facts.count as usize
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn payload(&self) -> Payload<'_> {
        let bytes = self.block.bytes.get(self.entry.range()).unwrap_or_default();
        Payload { schema: self.schema, facts: self.entry.facts, bytes }
    }

    /// The coding of its values in this clip.
    pub fn coding(&self) -> TrackCoding {
        self.entry.facts.coding
    }

    /// All numbers, value after value or item after item of lists, each in row-major order; `None` if the track has
    /// another type. Those of type `bool` are `u8`: 1 or 0.
    ///
    /// They are borrowed from the map of the file, or from what was decoded. They are a copy if the file is read
    /// instead ([`Io::Read`](crate::dataset::Io::Read)) or is remote, and its bytes lie at an address that the machine cannot use.
    pub fn numbers<T: TrackNumber>(&self) -> Option<Cow<'_, [T]>> {
        (self.schema.kind.stored() == T::TYPE).then(|| numbers(self.number_bytes().unwrap_or_default()))
    }

    /// The bytes of all numbers, little-endian; `None` if the track has texts.
    pub fn number_bytes(&self) -> Option<&[u8]> {
        self.schema.value_bytes().map(|_| match (&self.decoded, self.coding()) {
            (Some(decoded), _) => &decoded[..],
            (None, TrackCoding::Raw) => self.payload().number_bytes(),
            // A coded track is decoded before a caller gets it.
            (None, _) => &[],
        })
    }

    /// The numbers of these values, whose bytes are proven. Each block of coded values is decoded once.
    #[doc(hidden)]
    pub fn values_at(&self, values: impl Iterator<Item = usize>) -> Result<Values<'_>> {
        self.prove_times()?;
        let Some(blocks) = self.payload().blocks() else {
            return Ok(Values::of(self.number_bytes().unwrap_or_default()));
        };
        let (each, in_block) = (self.schema.value_bytes().unwrap_or(1) as usize, blocks.block_values());
        let mut end = 0;
        let needed: BTreeSet<usize> =
            values.inspect(|value| end = end.max(value + 1)).map(|value| value / in_block).collect();
        let needed: Vec<usize> = needed.into_iter().collect();
        let (mut bytes, mut runs) = (Vec::new(), Vec::new());
        for run in needed.chunk_by(|a, b| a + 1 == *b) {
            runs.push((run[0] * in_block, bytes.len() / each));
            self.named(blocks.decode(run[0]..run[0] + run.len(), end, &mut bytes))?;
        }
        Ok(Values { bytes: Cow::Owned(bytes), runs })
    }

    fn named<T>(&self, result: Result<T>) -> Result<T> {
        self.file.named_track(&self.block, &self.entry, result).map_err(|e| e.in_clip(self.clip.ordinal))
    }

    /// Which of all items of lists are those of list `i`, counted from 0; `None` if there is no such list.
    ///
    /// ```no_run
    /// let train = vidrec::Dataset::open("train")?;
    /// if let Some(boxes) = train.clip(0)?.track("boxes")? {
    ///     let numbers = boxes.numbers::<f32>().unwrap_or_default();
    ///     // Those of frame 2, of shape [4].
    ///     let of_frame = boxes.items(2).map(|items| &numbers[4 * items.start..4 * items.end]);
    /// #   drop(of_frame);
    /// }
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    pub fn items(&self, i: usize) -> Option<Range<usize>> {
        self.payload().items(i)
    }

    /// A copy of text `i`, counted from 0; `None` if there is none.
    pub fn text(&self, i: usize) -> Option<String> {
        self.payload().text(i)
    }

    /// All texts; `None` if the track has numbers.
    pub fn texts(&self) -> Option<impl Iterator<Item = String>> {
        let is_text = self.schema.value_bytes().is_none();
        is_text.then(|| (0..self.len()).filter_map(|i| self.text(i)))
    }

    /// The times of all values in nanoseconds, for timing [`Times`](TrackTiming::Times). The starts of all values,
    /// for timing [`Spans`](TrackTiming::Spans). `None` for the other timings, which store no times.
    pub fn starts_ns(&self) -> Option<Cow<'_, [i64]>> {
        self.payload().starts()
    }

    /// The ends of all values in nanoseconds, for timing [`Spans`](TrackTiming::Spans).
    pub fn ends_ns(&self) -> Option<Cow<'_, [i64]>> {
        self.payload().ends()
    }

    /// The first time in nanoseconds and the rate, as numerator and denominator per second, for timing
    /// [`Rate`](TrackTiming::Rate).
    pub fn rate(&self) -> Option<(i64, (u32, u32))> {
        (self.schema.timing == TrackTiming::Rate).then_some((self.entry.facts.first_ns, self.entry.facts.rate))
    }

    /// Returns the time of value `i` in nanoseconds on the clip's clock, for any timing. For a span, this is its
    /// start. For a value for each frame, it is the time of the frame.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if there is no such value;
    /// [`Limit`](vidrec_format::error::ErrorKind::Limit) if the time does not fit;
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if the entry of the frame is damaged.
    pub fn time_ns(&self, i: usize) -> Result<i64> {
        if i >= self.len() {
            let e = Error::usage(format!("track \"{}\" has no value {i}", self.name())).in_clip(self.clip.ordinal);
            return Err(e.expected(format!("less than {}", self.len())));
        }
        let time = match self.schema.timing {
            TrackTiming::Frames => self.clip.time_ns(i as u32)?,
            TrackTiming::Times | TrackTiming::Spans => self.starts_ns().and_then(|starts| starts.get(i).copied()),
            TrackTiming::Rate => {
                let (first, (numerator, denominator)) = (self.entry.facts.first_ns, self.entry.facts.rate);
                let after = nanoseconds(i as i128 * i128::from(denominator), numerator.into());
                i64::try_from(i128::from(first) + after).ok()
            }
        };
        time.ok_or_else(|| {
            let e = Error::limit("a time in nanoseconds does not fit into 64 bits").in_track(self.name());
            e.in_clip(self.clip.ordinal)
        })
    }

    /// Compares the track's checksum, and checks everything that readers rely on.
    pub(crate) fn prove(&self) -> Result<()> {
        let proven = self.file.payload(&self.block, &self.entry, self.clip.frame_count());
        proven.map(drop).map_err(|e| e.in_clip(self.clip.ordinal))
    }

    /// Like [`prove`](Self::prove), for a reader that uses the times, and values only by [`values_at`](Self::values_at), which
    /// proves coded ones.
    #[doc(hidden)]
    pub fn prove_times(&self) -> Result<()> {
        let proven = self.file.prove_head(&self.block, &self.entry, self.clip.frame_count());
        proven.map_err(|e| e.in_clip(self.clip.ordinal))
    }

    /// Checks that everything that was read so far was in the file. This costs nothing unless part of the file is
    /// lost.
    pub(crate) fn prove_still_there(&self) -> Result<()> {
        if self.file.lost() > 0 { self.prove() } else { Ok(()) }
    }
}

/// The attributes of a clip that a track of an added file holds.
pub(super) fn attributes_of(track: &Payload<'_>) -> Result<JsonObject> {
    let text = track.text(0).filter(|_| track.facts.count == 1).unwrap_or_default();
    let wrong = Error::format("clip-attributes", "the added attributes of a clip are not one JSON object");
    serde_json::from_str(&text).map_err(|e| wrong.found(e))
}

/// Converts `seconds / per` seconds to nanoseconds, rounded to the nearest.
pub(super) fn nanoseconds(seconds: i128, per: i128) -> i128 {
    (seconds * 2_000_000_000 + per).div_euclid(2 * per.max(1))
}
