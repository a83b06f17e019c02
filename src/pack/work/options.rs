//! How videos become clips: which frames, as which pictures, within which limits, with how much of the machine.

use std::ffi::OsString;
use std::time::Duration;

use super::video_store::VideoStore;
use crate::jpeg::QualityTarget;
use crate::pack::plan::SegmentClock;
use crate::pack::track::PlannedTrack;
use crate::sampler::{Pace, Rate, Rule, Short};
use crate::video::{AudioOptions, Decode, FrameSize};
use crate::{Error, Result, limits, threads};

/// More draws of a video than anybody trains epochs on it.
pub(crate) const MAX_DRAWS: u32 = 10_000;

/// Videos held in memory, decoded but not yet written, for each thread.
const IN_FLIGHT_PER_THREAD: usize = 3;

/// Which frames of a video become a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameOptions {
    /// Frames in a clip. Default 8.
    pub count: u32,
    /// Which frames. Default [`Rule::Uniform`]: the centers of equal segments.
    pub rule: Rule,
    /// What to do with a video of fewer frames than `count`. Default [`Short::RepeatLast`].
    pub short: Short,
    /// Seed of the random rules. Default 0.
    pub seed: u64,
    /// Independent draws of each video by a random `rule`. Each is a clip, side by side with its siblings. Default 1.
    pub draws: u32,
    /// Take as many frames as the video has at this pace, instead of `count` by `rule`; in a segment, from its first frame
    /// on. Clips then differ in length. Default `None`.
    pub pace: Option<Pace>,
    /// With `pace`: take at most this many frames, spread evenly from the first to the last. Default `None`.
    pub max_frames: Option<u32>,
    /// How many pictures of a folder make a second. Default `None`: picture `i` counts as shown at second `i`, and
    /// nothing can be chosen by time.
    pub picture_rate: Option<Rate>,
    /// The clock of the segments that manifests give. Default: a player's.
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
            return Err(Error::usage("frames in a clip").expected(range(frames)).found(self.count));
        }
        if self.rule.stride() == 0 || self.pace == Some(Pace::Every(0)) {
            return Err(Error::usage("the step from frame to frame must be at least 1"));
        }
        if let Some(most) = self.max_frames.filter(|most| !frames.contains(most)) {
            return Err(Error::usage("the most frames in a clip").expected(range(frames)).found(most));
        }
        if !(1..=MAX_DRAWS).contains(&self.draws) {
            return Err(Error::usage("draws of a video").expected(range(1..=MAX_DRAWS)).found(self.draws));
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
    /// Gives each frame the lowest quality at which its luma is that near to what was encoded, after scaling, in place of
    /// `quality`. What not even quality 100 reaches has that. Default `None`.
    pub target: Option<QualityTarget>,
    /// How much work a JPEG is worth: 0 is libjpeg-turbo, 1 makes files smaller at the same PSNR and takes longer. Default 1.
    pub effort: u8,
    /// Gives each JPEG Huffman tables of its own: smaller files that take longer to pack and load. With `effort` 0 the pixels
    /// stay the same. Off by default.
    pub optimize: bool,
    /// Store the JPEGs of folders of pictures as they are, without decoding and scaling. Off by default.
    pub pass_through: bool,
    /// Store pictures of more than 12 bits a channel, such as depth maps, with the upper 8 of their bits. Off by default:
    /// such a video fails.
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

/// What a video may take. One that takes more fails.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoLimits {
    /// Longest time by the clock for one video. Default 10 minutes.
    pub timeout: Duration,
    /// Most pixels that a decoded picture may have. Default: [`limits::MAX_PIXELS`].
    pub max_pixels: u64,
    /// Longest video, by the times of its frames. Default: any.
    pub max_duration: Option<Duration>,
}

impl Default for VideoLimits {
    fn default() -> Self {
        VideoLimits { timeout: Duration::from_secs(600), max_pixels: limits::MAX_PIXELS, max_duration: None }
    }
}

/// How much of the machine the work may use. The bytes are the same whatever these are.
#[derive(Debug, Clone, PartialEq)]
pub struct Resources {
    /// Videos that are decoded at a time. Default `None`: one for each core.
    pub threads: Option<usize>,
    /// Threads that read the next files into the system's cache, apart from decoding; 0: none. Default 1.
    pub io_threads: usize,
    /// Bytes that all videos in work may take together. Default `None`: 480 MiB for each of `threads`.
    ///
    /// For each video being decoded this counts an upper bound for its compressed data that is kept, all pictures that its
    /// decoder may hold and the one being stored. It also counts all JPEGs until they are written, of at most 3 videos for
    /// each thread. A video waits until there is room. One that needs more than there is decodes alone.
    ///
    /// A video that has begun is finished, so the JPEGs of the videos being decoded, whose number is known only then, may
    /// exceed it. Not counted: folders of pictures while they are read (one picture for each thread), and what the processes
    /// of `isolate` take for themselves, about 30 MB each.
    pub memory: Option<u64>,
    /// Decode in processes of their own, which can do nothing else on Linux: a hostile video reaches nothing, a codec that
    /// crashes costs one video, and one that hangs is killed after the video's timeout. This is the command line of a program
    /// that calls [`serve`](crate::pack::serve) with the options of the run. The process gets only those variables of the
    /// environment that programs need to start.
    ///
    /// Default `None`: decode in this process, because a library cannot start its caller's program again. The program
    /// `vidrec` and the Python package pass a command by default, and so should you for videos of strangers:
    ///
    /// ```no_run
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
    /// Videos that are decoded at a time, of so many.
    pub(crate) fn threads_for(&self, videos: usize) -> usize {
        self.all_threads().clamp(1, videos.max(1))
    }

    pub(super) fn all_threads(&self) -> usize {
        self.threads.unwrap_or_else(threads::cores)
    }

    /// Videos that are begun and not yet written, with this many threads.
    pub(crate) fn window(threads: usize) -> usize {
        threads * IN_FLIGHT_PER_THREAD
    }
}

/// All that decides what a video becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe<'a> {
    pub frames: &'a FrameOptions,
    pub pictures: &'a PictureOptions,
    pub limits: &'a VideoLimits,
    pub store: &'a VideoStore,
    pub tracks: &'a [PlannedTrack],
    pub audio: Option<AudioOptions>,
    /// The number of channels of all sound, if the first video decides; `None` until it has.
    pub channels: Option<u32>,
    /// Whether each JPEG is compared with its picture.
    pub measure: bool,
}
