//! The facts about a video and its sound.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Facts about a video, for reports and for people who ask why a picture looks the way it does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct VideoFacts {
    /// FFmpeg's name for the codec.
    pub codec: String,
    /// FFmpeg's names for the container format.
    pub container: String,
    /// The number of frames that the container claims, if it claims one. It is often wrong.
    pub claimed_frames: Option<u64>,
    /// The seconds that the container claims for the stream, or for the whole file if it claims none for the
    /// stream.
    pub claimed_seconds: Option<f64>,
    /// The year in which the file was made, in UTC, if the container gives a date between 1900 and 2100 (FFmpeg's
    /// tag `creation_time`). Cameras write when they recorded. Editors and web sites write when they made the
    /// file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_year: Option<u16>,
    /// The seconds from the first frame to the end of the last, by the times of the packets, if they have times.
    pub stream_seconds: Option<f64>,
    /// FFmpeg's name for the pixel format of the first frame.
    pub pixel_format: String,
    /// The width of the decoded pictures in pixels, before pixel shape and rotation are applied.
    pub coded_width: u32,
    /// The height of the decoded pictures in pixels, before pixel shape and rotation are applied.
    pub coded_height: u32,
    /// The sample aspect ratio of the stream; 0:1 if it states none.
    pub sar: (u32, u32),
    /// The degrees by which the pictures were turned clockwise, after mirroring: 0, 90, 180 or 270.
    pub rotation: u32,
    /// Whether the pictures were mirrored left to right.
    pub mirrored: bool,
    /// The angle that the display matrix asks for, clockwise in degrees, if it is not a quarter turn.
    pub odd_angle: Option<f64>,
    /// The YUV matrix that vidrec assumed for the source.
    pub matrix: String,
    /// `limited` or `full`.
    pub range: String,
    /// Where chroma samples lie in the source.
    pub chroma_location: String,
    /// The number of times that the size or pixel format changed within the decoded frames.
    pub format_changes: u32,
    /// The number of times that the size changed within the decoded frames. Pictures with another shape than the first are fitted
    /// into its size, with black bars.
    #[serde(skip_serializing_if = "is_zero")]
    pub size_changes: u32,
    /// The number of interlaced frames among the decoded ones.
    pub interlaced_frames: u32,
    /// The number of packets or frames that the decoder refused.
    pub decode_errors: u64,
    /// The number of packets that the container marks as damaged.
    pub corrupt_packets: u64,
    /// The number of errors that FFmpeg logged while it opened, read and decoded the video. Only messages at error
    /// level or worse count. FFmpeg may log one flaw several times.
    #[serde(skip_serializing_if = "is_zero")]
    pub logged_errors: u64,
    /// The number of parts of the container whose checksum does not match: clusters and headers of Matroska and
    /// WebM.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed_checksums: u64,
    /// The number of frames that decoded with damage. FFmpeg marks them or, if its decoder sets no marks, logs an
    /// error at their packets.
    pub damaged_frames: u32,
    /// The number of frames whose time is not the one that the container gives their packets. The container gives
    /// no time, gives it twice, or gives decoding times.
    #[serde(skip_serializing_if = "is_zero")]
    pub guessed_times: u32,
    /// The number of frames whose time in the container is not after that of the frame that the decoder returned
    /// before.
    #[serde(skip_serializing_if = "is_zero")]
    pub unordered_times: u32,
    /// The number of frames that were not decoded because no wanted frame needs them. They are counted by their
    /// packets, and damage in them stays unknown. Always 0 with [`decode_all`](super::VideoOptions::decode_all).
    pub undecoded_frames: u32,
    /// Why the whole video, or most of it, was decoded for a segment of it, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded_whole: Option<String>,
    /// Whether it has more frames than its clip may have, so that the clip has only some of them.
    #[serde(skip_serializing_if = "is_zero")]
    pub thinned: bool,
    /// The longest gap between frames that no rate of the video explains, and that a grid of `--fps` therefore skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_gap: Option<TimeGap>,
    /// The facts about its sound, if sound was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<AudioFacts>,
    /// The first error in FFmpeg's words, with its place in the stream, or the first checksum that does not match.
    pub first_error: Option<String>,
}

/// A gap between frames.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeGap {
    /// The seconds from where the grid begins to the gap.
    pub after_seconds: f64,
    /// The length of the gap.
    pub seconds: f64,
}

impl fmt::Display for TimeGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TimeGap { after_seconds, seconds } = self;
        write!(
            f,
            "no frame for {seconds:.1} s after {after_seconds:.1} s, a gap that no rate explains and that the grid skips"
        )
    }
}

impl VideoFacts {
    /// Returns the number of oddities that mean damage.
    pub(crate) fn damage(&self) -> u64 {
        let VideoFacts { decode_errors, corrupt_packets, logged_errors, failed_checksums, damaged_frames, .. } = self;
        decode_errors + corrupt_packets + logged_errors + failed_checksums + u64::from(*damaged_frames)
    }

    /// Whether the video is clearly shorter than the container claims: a tenth is missing, and more than a second.
    pub fn is_cut_off(&self) -> bool {
        match (self.claimed_seconds, self.stream_seconds) {
            (Some(claimed), Some(found)) => found < 0.9 * claimed && claimed - found > 1.0,
            _ => false,
        }
    }
}

/// Whether a field has its usual value, which is not stored.
fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

/// Facts about the sound of a video.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AudioFacts {
    /// FFmpeg's name for the codec; empty if the video has no sound.
    pub codec: String,
    /// The sample rate of the video, in samples per second.
    pub rate: u32,
    /// The number of channels of the video.
    pub channels: u32,
    /// The number of gaps that were filled with silence. At a gap, the next sound starts more than 20 ms after the
    /// end of the sound before it.
    pub gaps: u64,
    /// The number of silent samples in these gaps, at the video's rate.
    pub silent_samples: u64,
    /// The number of samples that were cut because they overlap the samples before them by more than 20 ms, at the
    /// video's rate.
    pub cut_samples: u64,
    /// The number of packets that the container marks as damaged.
    pub corrupt_packets: u64,
    /// The number of packets that the decoder refused, and of reads that broke off.
    pub decode_errors: u64,
    /// The number of errors that FFmpeg logged.
    pub logged_errors: u64,
    /// FFmpeg's message for the first error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
}

impl AudioFacts {
    /// Returns the number of all errors.
    pub(crate) fn errors(&self) -> u64 {
        self.corrupt_packets + self.decode_errors + self.logged_errors
    }
}
