//! Reading video: chosen frames of a file, as small pictures in JPEG's own colour.
//!
//! This module is the only one that knows FFmpeg. [`sample`] opens a file, finds out how many frames really decode,
//! asks the caller which of them it wants, and gives those.
//!
//! # What counts as a frame
//!
//! A frame is what the decoder puts out, in the order of presentation, when the stream is decoded from its first packet
//! to its last. Headers are not believed: they claim frames that do not exist. Frames that an edit list hides are not
//! counted. A frame is known by its presentation time ([`SampledFrame::pts`], in the stream's time base).
//!
//! A decoder marks a frame as damaged when part of it was missing or made no sense (the marks were looked at on broken
//! files: the pictures do have holes, and no good picture has the mark). Most decoders have no such
//! mark (all but those of H.264, MPEG-1 to MPEG-4, H.263 and VC-1): there the frame with the time of a packet counts as
//! damaged at which an error is logged. While a video has intact frames, only those
//! count; if all are damaged, all count. What FFmpeg decodes is never refused. A frame that only refers to a damaged one
//! has no mark and counts.
//!
//! # Which damage is noticed
//!
//! FFmpeg's errors, the errors that it logs ([`VideoFacts::logged_errors`]; of several hundred intact videos one has any, for
//! a misplaced NAL unit, while many have warnings), packets that a container marks ([`VideoFacts::corrupt_packets`]), checksums in the stream (FFV1, HEVC
//! with picture hashes), in Ogg's pages and in Matroska's clusters ([`VideoFacts::failed_checksums`]), and less video than
//! the container claims. A codec that has no checksum and can make a picture of any bits, such as VP8, VP9 and mostly HEVC,
//! shows other pictures without a word from anybody.
//!
//! To save a second decode, the packets are looked through first, `choose` is asked with the frames that they promise, and
//! the wanted ones are taken on the way. Then it is asked again with the frames that came out; if it wants others, the
//! stream is decoded once more. The result is the same either way.
//!
//! Frames are handed on as they come out ([`Video::sample_with`]), so a video's pictures need not be in memory together.
//! What was made of the frames of one decode is kept with it and dropped with it: nothing of a decode that is thrown away
//! comes into the result.
//!
//! # What is decoded
//!
//! Most packets are not needed for the frames that are wanted. They are left out ([`Decode::Needed`]) where the packets
//! themselves prove which frames there are and what each of them refers to:
//!
//! * the codec is H.264 or HEVC in a container that keeps parameter sets apart (MP4, Matroska, FLV), VP8, VP9, ProRes or
//!   DNxHD, and the headers of every packet are understood and show one picture, or one that is never shown;
//! * the container says of every packet when it is shown, no time occurs twice, none is marked as damaged, reading ends
//!   without an error, logged or returned, all checksums fit, and the number of packets is the one claimed, if one is;
//! * the first packet is one with which decoding can begin, key flags agree with the packets' own headers, no packet
//!   changes the parameters, and for H.264 the decoder holds back enough pictures to bring them into order.
//!
//! Then three kinds of packets are left out: those after the last wanted frame; those of wholly unwanted groups, when the
//! next wanted frame comes after an IDR picture (VP8, VP9: a key frame) and no parameter sets are on the way; and pictures
//! that nothing refers to (H.264 with `nal_ref_idc` 0, HEVC's sub-layer non-reference pictures in the highest layer).
//! The first packet is always decoded. So the decoder sees a stream that the standard allows, and never a seek.
//!
//! Every frame that comes out must have the time and key flag that its packet promised, in order, without a mark of damage,
//! none may be missing, and the decoder may not report or log a single error. Otherwise all is thrown away and the stream is decoded
//! whole, as is any stream that does not meet the conditions. The pictures are those of [`Decode::All`], bit for bit. What
//! is given up is knowledge of packets that were left out: damage in them is not found, and frames that they promise and
//! would not give are counted. [`VideoFacts::undecoded_frames`] says how many there are.
//!
//! # Colour
//!
//! Pictures come out as [`Planes`]: full-range BT.601, 4:2:0, centred chroma. swscale only scales; range, matrix and
//! chroma position are ours, in one step with one rounding. A stream that does not name its matrix counts as BT.601, as
//! in FFmpeg's own conversion, so PyAV, OpenCV and decord show the same colours. HDR (PQ, HLG) is not tone mapped: code
//! values are kept. Alpha is ignored.
//!
//! # Geometry
//!
//! Pictures are upright and have square pixels: rotation and mirroring of the display matrix are applied, to the
//! nearest quarter turn, after scaling; so is the sample aspect ratio, by the width. All pictures of a video get the size that
//! the first one gives; a later one of another shape keeps it, with black bars, unless an exact size was asked for. An interlaced frame is taken whole,
//! both fields woven, as PyAV and OpenCV give it: scaling down blends them, and no frame rate is invented.

mod anatomy;
mod claims;
mod clock;
mod colour;
mod decode;
mod deep;
mod facts;
mod geometry;
mod input;
mod libraries;
mod log;
mod matroska;
mod needed;
mod packets;
mod pass;
mod picture;
mod scale;
mod suspects;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use crate::{Error, Planes, Result, limits};

pub use clock::Moment;
pub use facts::VideoFacts;
#[cfg(test)]
pub(crate) use libraries::demuxer_endings;
pub use libraries::libraries;

use input::{Input, StreamInfo};
use packets::Packets;
use pass::{Found, Keep, Make, Pass};

/// The size of the pictures to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameSize {
    /// The shorter side gets so many pixels, the longer one follows, rounded to an even number. Never enlarges.
    ShortSide(u32),
    /// The same, and a smaller video is enlarged.
    ShortSideAlways(u32),
    /// Exactly this size, whatever the shape of the video.
    Exact {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The size at which the video is shown.
    Original,
}

/// How much of a video is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decode {
    /// What the wanted frames need, where that is certain; see [the rule](self#what-is-decoded).
    #[default]
    Needed,
    /// Everything, which finds all damage.
    All,
}

/// How to read a video.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoOptions {
    /// The size of the pictures. Default: 256 pixels on the shorter side.
    pub size: FrameSize,
    /// How much is decoded. Default: what the wanted frames need.
    pub decode: Decode,
    /// Wall-clock time after which a video is given up; looked at with each read, packet and frame. What
    /// [`Video::sample_with`] has done with the frames counts, too. Default: 10 minutes.
    pub timeout: Duration,
    /// Most pixels that a decoded picture may have. Default: [`limits::MAX_PIXELS`].
    pub max_pixels: u64,
    /// Longest video, by the times of its packets; a longer one fails before it is decoded. Default: any.
    pub max_duration: Option<Duration>,
    /// Bytes of compressed video that may be kept in memory, so that a file is read once. The stream of a longer video
    /// is read twice; the result is the same. Default: 64 MiB.
    pub keep_bytes: usize,
}

impl Default for VideoOptions {
    fn default() -> Self {
        VideoOptions {
            size: FrameSize::ShortSide(256),
            decode: Decode::Needed,
            timeout: Duration::from_secs(600),
            max_pixels: limits::MAX_PIXELS,
            max_duration: None,
            keep_bytes: 64 << 20,
        }
    }
}

/// The frames of a video in the order of presentation, as far as they are known when frames are chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Presentation time of each frame, in units of `time_base`.
    pub pts: Vec<i64>,
    /// Whether each frame is a key frame.
    pub key: Vec<bool>,
    /// Seconds in a unit of time, as numerator and denominator; both are at least 1.
    pub time_base: (u32, u32),
    /// When a player's clock shows 0: at 0 in containers with a timeline of their own, such as MP4 and Matroska; at the
    /// first packet of any stream, audio among them, in those that begin anywhere, such as MPEG transport streams and Ogg.
    pub player_zero: Moment,
}

impl Timeline {
    /// Number of frames.
    pub fn frame_count(&self) -> u32 {
        u32::try_from(self.pts.len()).unwrap_or(u32::MAX)
    }
}

/// A choice of frames: from the frames that a video has to the ordinals wanted, in ascending order, repeats allowed.
///
/// It may be asked more than once for a video, first with what the container says of it and then with what really
/// decoded, and should depend on the timeline alone.
pub type Choose<'a> = &'a dyn Fn(&Timeline) -> Result<Vec<u32>>;

/// One chosen frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledFrame {
    /// The picture, upright and at the size asked for.
    pub image: Planes,
    /// Presentation time in units of [`SampledVideo::time_base`].
    ///
    /// FFmpeg's best-effort timestamp. Where a file has none, the time of the frame before plus its duration, and 0 for
    /// a first frame.
    pub pts: i64,
    /// Ordinal of the frame among all that decode, from 0.
    pub source_index: u32,
}

/// What [`sample`] gives; of [`Video::sample_with`], with what was made of each frame in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledVideo<T = SampledFrame> {
    /// One entry for each distinct ordinal that was chosen, ascending.
    pub frames: Vec<T>,
    /// Seconds in a unit of time, as numerator and denominator; both are at least 1.
    pub time_base: (u32, u32),
    /// Frames of the video: those that decode, and [`VideoFacts::undecoded_frames`].
    pub frame_count: u32,
    /// What was found on the way.
    pub facts: VideoFacts,
}

/// Where reading a video failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Stage {
    /// The file could not be opened, or is no video container.
    Open,
    /// It has no video stream.
    Stream,
    /// No frame could be decoded, or reading broke off.
    Decode,
    /// The caller's choice of frames failed.
    Sample,
    /// A picture could not be scaled or converted.
    Scale,
    /// It is over a limit that was set.
    Limit,
    /// It took too long.
    Timeout,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Open => "open",
            Stage::Stream => "stream",
            Stage::Decode => "decode",
            Stage::Sample => "sample",
            Stage::Scale => "scale",
            Stage::Limit => "limit",
            Stage::Timeout => "timeout",
        })
    }
}

/// Why a video could not be read, and how far it got.
#[derive(Debug)]
pub struct VideoError {
    /// Where it failed.
    pub stage: Stage,
    /// What failed, with the file's name.
    pub error: Error,
}

impl VideoError {
    fn new(stage: Stage, error: Error) -> Self {
        VideoError { stage, error }
    }

    fn of_file(self, path: &Path) -> Self {
        VideoError { stage: self.stage, error: self.error.file(path) }
    }
}

impl fmt::Display for VideoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read the video (stage {})", self.stage)
    }
}

impl std::error::Error for VideoError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Prepares FFmpeg: its texts for errors are loaded, and its messages are taken over from the whole process, to be counted
/// ([`VideoFacts::logged_errors`]) and never printed. Cheap to call again.
///
/// [`sample`] calls it.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Only loads the texts of errors; there is nothing in it that can fail.
        let _ = ffmpeg_next::init();
        ffmpeg_next::log::set_level(ffmpeg_next::log::Level::Quiet);
        log::take_over();
    });
}

/// The versions of FFmpeg's libraries in use, such as `libavcodec 59.37.100, libavformat 59.27.100, libswscale 6.7.100`.
///
/// The same file, options and versions give the same pictures.
pub fn ffmpeg_version() -> String {
    let text = |v: u32| format!("{}.{}.{}", v >> 16, (v >> 8) & 0xff, v & 0xff);
    format!(
        "libavcodec {}, libavformat {}, libswscale {}",
        text(ffmpeg_next::codec::version()),
        text(ffmpeg_next::format::version()),
        text(ffmpeg_next::software::scaling::version())
    )
}

/// Reads the frames of a video that `choose` picks.
///
/// See [`Choose`] for how frames are chosen.
///
/// # Errors
///
/// [`VideoError`] says at which stage reading failed. Damage does not fail a video as long as a frame decodes: see
/// [`VideoFacts::decode_errors`].
pub fn sample(path: &Path, options: &VideoOptions, choose: Choose<'_>) -> Result<SampledVideo, VideoError> {
    Video::open(path, options)?.sample(choose)
}

/// A video that is open, and of which nothing is decoded yet.
pub struct Video {
    path: PathBuf,
    options: VideoOptions,
    deadline: Instant,
    input: Input,
    stream: StreamInfo,
}

impl Video {
    /// Opens a file and chooses its video stream. The timeout begins here.
    ///
    /// # Errors
    ///
    /// [`VideoError`] with [`Stage::Open`], [`Stage::Stream`] or [`Stage::Timeout`].
    pub fn open(path: &Path, options: &VideoOptions) -> Result<Self, VideoError> {
        init();
        let now = Instant::now();
        // A timeout beyond what the clock can count is none; a century will do.
        let deadline = now.checked_add(options.timeout).unwrap_or(now + Duration::from_secs(100 * 365 * 86_400));
        let open = || {
            let input = Input::open(path, deadline)?;
            let stream = input.stream_info()?;
            Ok(Video { path: path.to_owned(), options: options.clone(), deadline, input, stream })
        };
        open().map_err(|e: VideoError| e.of_file(path))
    }

    /// An upper bound for the memory that decoding takes, in bytes, by what the container says: the packets that are kept,
    /// as many pictures as a codec may hold, and one chosen frame on its way to its size. What is made of the chosen
    /// frames comes on top.
    pub fn memory_needed(&self) -> u64 {
        /// 16 references are the most of any codec; one more is being decoded, and one is on its way out.
        const PICTURES: u64 = 18;
        /// FFmpeg's tables and buffers, and ours.
        const OVERHEAD: u64 = 16 << 20;
        let packets = self.input.file_bytes().min(self.options.keep_bytes as u64);
        let (width, height, bits) = self.stream.picture;
        let picture = u64::from(width).saturating_mul(height.into()).saturating_mul(bits.into()) / 8;
        let decoder = picture.saturating_mul(PICTURES);
        let stored = self.picture_size();
        // With odd sides chroma is scaled at full size. Samples of 16 bits as swscale gives them, in our planes, and one
        // plane that is turned; then the finished picture.
        let is_even = stored.is_some_and(|(w, h)| w % 2 == 0 && h % 2 == 0);
        let bytes_per_pixel = if is_even { 3 + 3 + 2 + 2 } else { 6 + 6 + 2 + 2 };
        let in_hand = stored.map_or(0, |(w, h)| u64::from(w) * u64::from(h) * bytes_per_pixel);
        OVERHEAD.saturating_add(packets).saturating_add(decoder).saturating_add(in_hand)
    }

    /// Width and height of the pictures that frames will give, if the container is right about the video; a turn by a
    /// quarter is not counted in. `None` if there can be none of the size asked for.
    pub fn picture_size(&self) -> Option<(u32, u32)> {
        let (width, height, _) = self.stream.picture;
        if width == 0 || height == 0 {
            return None;
        }
        let shown = geometry::display_size(geometry::Size { width, height }, self.stream.sar);
        let target = geometry::target_size(shown, self.options.size).ok()?;
        Some((target.width, target.height))
    }

    /// Reads the frames that `choose` picks.
    ///
    /// # Errors
    ///
    /// As [`sample`].
    pub fn sample(self, choose: Choose<'_>) -> Result<SampledVideo, VideoError> {
        self.sample_with(choose, &mut |frame| frame)
    }

    /// Reads the frames that `choose` picks, and keeps what `make` makes of each, such as a compressed picture.
    ///
    /// `make` gets a frame as soon as it is decoded, and nothing else holds it then. When the stream has to be decoded once
    /// more ([why](self)), it gets the frames anew, and what it gave before is dropped: it should depend on the frame alone,
    /// and leave the collecting to this function. Where making can fail, let it give a `Result`; frames after a failure
    /// are made all the same. The time that it takes counts towards [`VideoOptions::timeout`].
    ///
    /// ```no_run
    /// use vidrec::video::{Video, VideoOptions};
    ///
    /// let video = Video::open("clip.mp4".as_ref(), &VideoOptions::default())?;
    /// // The mean luma of every frame: one picture is in memory at a time.
    /// let brightness = video.sample_with(&|t| Ok((0..t.frame_count()).collect()), &mut |frame| {
    ///     frame.image.y.iter().map(|&y| f64::from(y)).sum::<f64>() / frame.image.y.len() as f64
    /// })?;
    /// println!("{:?}", brightness.frames);
    /// # Ok::<(), vidrec::video::VideoError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`sample`].
    pub fn sample_with<T>(
        self,
        choose: Choose<'_>,
        make: &mut dyn FnMut(SampledFrame) -> T,
    ) -> Result<SampledVideo<T>, VideoError> {
        let path = self.path.clone();
        run(self, choose, make).map_err(|e| e.of_file(&path))
    }
}

fn run<T>(video: Video, choose: Choose<'_>, make: Make<'_, T>) -> Result<SampledVideo<T>, VideoError> {
    let Video { path, options, deadline, mut input, stream } = video;
    claims::check_pixels((stream.picture.0, stream.picture.1), options.max_pixels)?;
    let packets = Packets::scan(&mut input, &stream, path, options.keep_bytes)?;
    drop(input);
    claims::check_duration(pass::stream_seconds(&stream, &packets), options.max_duration)?;

    let pass = Pass { stream: &stream, packets: &packets, options: &options, deadline };
    // The guess need not suit `choose`; only what is true may make it fail.
    let guess = packets.timeline(&stream);
    let wanted = if guess.pts.is_empty() { None } else { chosen(choose, &guess).ok() };
    if let Some(wanted) = &wanted
        && let Some(found) = decode_needed(&pass, wanted, make)?
    {
        return Ok(found.into_video(&stream, &packets));
    }
    let wanted = wanted.unwrap_or_default();
    let first = pass.run(&wanted, Keep::Intact, make)?;
    let (keep, truth) = first.what_to_keep(&stream);
    if truth.pts.is_empty() {
        return Err(nothing_decodes(first.first_error.or(packets.first_error())));
    }
    let truly_wanted = chosen(choose, &truth).map_err(|e| VideoError::new(Stage::Sample, e))?;
    if keep == Keep::Intact && truly_wanted == wanted {
        return Ok(first.into_video(&stream, &packets));
    }
    drop(first); // before the second fills memory, too
    let second = pass.run(&truly_wanted, keep, make)?;
    if second.count() != truth.frame_count() {
        let error =
            Error::decode("two decodes differ").expected(format!("{} frames", truth.pts.len())).found(second.count());
        return Err(VideoError::new(Stage::Decode, error));
    }
    Ok(second.into_video(&stream, &packets))
}

/// Decodes no more than the wanted frames need; `None` where it takes the whole stream to be sure.
fn decode_needed<T>(pass: &Pass<'_>, wanted: &[u32], make: Make<'_, T>) -> Result<Option<Found<T>>, VideoError> {
    if pass.options.decode == Decode::All {
        return Ok(None);
    }
    match pass.packets.map(pass.stream).and_then(|map| map.plan(wanted)) {
        Some(plan) => pass.run_plan(wanted, &plan, make),
        None => Ok(None),
    }
}

/// Asks for the wanted ordinals, checks them, and drops repeats.
fn chosen(choose: Choose<'_>, timeline: &Timeline) -> Result<Vec<u32>> {
    let count = timeline.frame_count();
    let mut wanted = choose(timeline)?;
    if !wanted.is_sorted() {
        return Err(Error::usage("the chosen frames are not in ascending order"));
    }
    if let Some(&last) = wanted.last().filter(|&&last| last >= count) {
        return Err(Error::usage(format!("frame {last} was chosen of a video with {count} frames")));
    }
    wanted.dedup();
    if wanted.len() > limits::MAX_FRAMES_PER_CLIP as usize {
        let most = limits::MAX_FRAMES_PER_CLIP;
        return Err(Error::limit(format!("{} frames were chosen", wanted.len())).expected(format!("at most {most}")));
    }
    Ok(wanted)
}

fn nothing_decodes(first_error: Option<String>) -> VideoError {
    let why = first_error.unwrap_or_else(|| "the stream holds no picture data".to_owned());
    VideoError::new(Stage::Decode, Error::decode(format!("no frame decodes; {why}")))
}
