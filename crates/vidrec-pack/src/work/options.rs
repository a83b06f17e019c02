//! How videos become clips: which frames, as which images, within which limits, and with how much of the machine.

use std::ffi::OsString;
use std::time::Duration;

use super::video_store::VideoStore;
use crate::plan::SegmentClock;
use crate::track::PlannedTrack;
use crate::video::{AudioOptions, Decode, FrameSize};
use vidrec_format::error::{Error, Result};
use vidrec_format::{limits, threads};
use vidrec_jpeg::QualityTarget;
use vidrec_sampler::{Pace, Rate, Rule, Short};

/// The most draws of one video: more than anybody trains epochs on it.
pub(crate) const MAX_DRAWS: u32 = 10_000;

/// The videos held in memory for each thread: decoded but not yet written.
const IN_FLIGHT_PER_THREAD: usize = 3;

/// Which frames of a video become a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameOptions {
    /// Frames in a clip. Default 8.
    pub count: u32,
    /// The rule that chooses the frames. Default [`Rule::Uniform`]: the centers of equal segments.
    pub rule: Rule,
    /// What to do with a video of fewer frames than `count`. Default [`Short::RepeatLast`].
    pub short: Short,
    /// Seed of the random rules. Default 0.
    pub seed: u64,
    /// Independent draws of each video by a random `rule`. Each draw is a clip, stored next to the other draws of
    /// its video. Default 1.
    pub draws: u32,
    /// Take as many frames as the video has at this pace, instead of `count` by `rule`.
    ///
    /// In a segment, the pace starts at its first frame. Clips then differ in length. Default `None`.
    pub pace: Option<Pace>,
    /// With `pace`: take at most this many frames, spread evenly from the first to the last. Default `None`.
    pub max_frames: Option<u32>,
    /// How many images of a folder make a second. Default `None`: image `i` counts as shown at second `i`, and no
    /// frame can be chosen by time.
    pub picture_rate: Option<Rate>,
    /// The clock of the segments in manifests. Default: a player's.
    pub segment_clock: SegmentClock,
    /// How much of each video is decoded. Default: what the chosen frames need.
    pub decode: Decode,
}

impl Default for FrameOptions {
    fn default() -> Self {
        FrameOptions {
            count: 8,
            rule: Rule::Uniform,
            short: Short::RepeatLast,
            seed: 0,
            draws: 1,
            pace: None,
            max_frames: None,
            picture_rate: None,
            segment_clock: SegmentClock::Player,
            decode: Decode::Needed,
        }
    }
}

impl FrameOptions {
    pub(crate) fn check(&self) -> Result<()> {
        let frames = 1..=limits::MAX_FRAMES_PER_CLIP;
        if !frames.contains(&self.count) {
            return Err(Error::usage("the number of frames in a clip is out of range")
                .expected(range(frames))
                .found(self.count));
        }
        if self.rule.stride() == 0 || self.pace == Some(Pace::Every(0)) {
            return Err(Error::usage("the step from frame to frame must be at least 1"));
        }
        if let Some(most) = self.max_frames.filter(|most| !frames.contains(most)) {
            return Err(Error::usage("the maximum number of frames in a clip is out of range")
                .expected(range(frames))
                .found(most));
        }
        if !(1..=MAX_DRAWS).contains(&self.draws) {
            return Err(Error::usage("the number of draws of a video is out of range")
                .expected(range(1..=MAX_DRAWS))
                .found(self.draws));
        }
        if self.draws > 1 && (self.pace.is_some() || !self.rule.is_random()) {
            return Err(Error::usage("several draws of a video would all be the same")
                .help("choose a random rule: random or random-clip"));
        }
        Ok(())
    }
}

fn range(range: std::ops::RangeInclusive<u32>) -> String {
    format!("{} to {}", range.start(), range.end())
}

/// How frames are stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureOptions {
    /// Size of the stored frames. Default: short side 256, never enlarged.
    pub size: FrameSize,
    /// JPEG quality, 1 to 100. Default 90.
    pub quality: u8,
    /// Instead of `quality`, gives each frame the lowest quality at which its luma is this close to the scaled
    /// original.
    ///
    /// A frame that misses the target even at quality 100 is stored at quality 100. Default `None`.
    pub target: Option<QualityTarget>,
    /// How much work to spend on a JPEG. Default 1.
    ///
    /// 0 is libjpeg-turbo. 1 makes files smaller at the same PSNR and takes longer.
    pub effort: u8,
    /// Gives each JPEG its own Huffman tables. Off by default.
    ///
    /// Files are then smaller and take longer to pack and load. With `effort` 0 the pixels stay the same.
    pub optimize: bool,
    /// Store the JPEGs of image folders unchanged, without decoding and scaling. Off by default.
    pub pass_through: bool,
    /// Store images of more than 12 bits a channel, such as depth maps, with the upper 8 of their bits. Off by
    /// default: such a video fails.
    pub reduce_depth: bool,
}

impl Default for PictureOptions {
    fn default() -> Self {
        PictureOptions {
            size: FrameSize::ShortSide(256),
            quality: 90,
            target: None,
            effort: 1,
            optimize: false,
            pass_through: false,
            reduce_depth: false,
        }
    }
}

/// The limits of a video. A video that exceeds one fails.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoLimits {
    /// The longest wall-clock time for one video. Default 10 minutes.
    pub timeout: Duration,
    /// The most pixels that a decoded image may have. Default: [`limits::MAX_PIXELS`].
    pub max_pixels: u64,
    /// The longest video, by the times of its frames. Default: no limit.
    pub max_duration: Option<Duration>,
}

impl Default for VideoLimits {
    fn default() -> Self {
        VideoLimits { timeout: Duration::from_secs(600), max_pixels: limits::MAX_PIXELS, max_duration: None }
    }
}

/// How much of the machine the work may use. The packed bytes are the same whatever these values are.
#[derive(Debug, Clone, PartialEq)]
pub struct Resources {
    /// How many videos are decoded at a time. Default `None`: one for each core.
    pub threads: Option<usize>,
    /// How many threads, separate from decoding, read the next files into the system's cache; 0: none. Default 1.
    pub io_threads: usize,
    /// How many bytes all videos in progress may use together. Default `None`: 480 MiB for each of `threads`.
    ///
    /// For each video being decoded, this counts an upper bound for three things: the compressed data that is
    /// kept, all images that the decoder may hold, and the image being stored. It also counts all JPEGs until they
    /// are written, of at most 3 videos for each thread. A video waits until there is room. A video that needs
    /// more than the bound is decoded alone.
    ///
    /// A video that has started is always finished. The JPEGs of the videos being decoded may therefore exceed the
    /// bound, because their number is not known in advance. Two things do not count: image folders while they are
    /// read (one image for each thread), and the memory of the processes of `isolate` themselves, about 30 MB
    /// each.
    pub memory: Option<u64>,
    /// Decode in separate processes, which on Linux can do nothing else. Default `None`: decode in this process.
    ///
    /// A hostile video then reaches nothing. A codec that crashes costs one video, and one that hangs is killed
    /// after the video's timeout. The value is the command line of a program that calls [`serve`](crate::serve)
    /// with the options of the run. The process gets only the environment variables that programs need to start.
    ///
    /// The default is `None` because a library cannot start its caller's program again. The program `vidrec` and
    /// the Python package pass a command by default. Pass one yourself for videos from strangers:
    ///
    /// ```no_run
    /// # mod vidrec {
    /// #     pub use vidrec_pack as pack;
    /// #     pub use vidrec_format::error::Error;
    /// #     pub use vidrec_format::progress::no_progress;
    /// # }
    /// use vidrec::pack::{PackOptions, pack, serve};
    ///
    /// let mut options = PackOptions::default();
    /// if std::env::args().nth(1).as_deref() == Some("--decode") {
    ///     serve(&options)?;
    ///     // A codec may hang in another thread.
    ///     std::process::exit(0);
    /// }
    /// let program = std::env::current_exe().expect("it runs");
    /// options.resources.isolate = Some(vec![program.into(), "--decode".into()]);
    /// pack(&["videos"], "train", &options, &mut vidrec::no_progress)?;
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    pub isolate: Option<Vec<OsString>>,
}

impl Default for Resources {
    fn default() -> Self {
        Resources { threads: None, io_threads: 1, memory: None, isolate: None }
    }
}

impl Resources {
    /// Returns how many of `videos` are decoded at a time.
    pub(crate) fn threads_for(&self, videos: usize) -> usize {
        self.all_threads().clamp(1, videos.max(1))
    }

    pub(super) fn all_threads(&self) -> usize {
        self.threads.unwrap_or_else(threads::cores)
    }

    /// Returns how many videos may be started and not yet written, with this many threads.
    pub(crate) fn window(threads: usize) -> usize {
        threads * IN_FLIGHT_PER_THREAD
    }
}

/// Everything that decides what a video becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe<'a> {
    pub frames: &'a FrameOptions,
    pub pictures: &'a PictureOptions,
    pub limits: &'a VideoLimits,
    pub store: &'a VideoStore,
    pub tracks: &'a [PlannedTrack],
    pub audio: Option<AudioOptions>,
    /// The number of channels of all sound, if the first video decides it; `None` until it has.
    pub channels: Option<u32>,
    /// Whether each JPEG is compared with its picture.
    pub measure: bool,
}
