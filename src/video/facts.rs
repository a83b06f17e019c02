//! What a video turned out to be.

use serde::{Deserialize, Serialize};

use super::audio::AudioFacts;

/// Facts about a video, for a person who asks why a picture looks as it does, and for reports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct VideoFacts {
    /// FFmpeg's name of the codec.
    pub codec: String,
    /// FFmpeg's names of the container format.
    pub container: String,
    /// Frames that the container claims to have, if it does; often wrong.
    pub claimed_frames: Option<u64>,
    /// Seconds that the container claims for the stream, or for the whole file if it claims none for the stream.
    pub claimed_seconds: Option<f64>,
    /// Year in which the file was made, in UTC, if the container gives a date between 1900 and 2100 (FFmpeg's tag
    /// `creation_time`). Cameras write when they recorded, editors and web sites when they wrote the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_year: Option<u16>,
    /// Seconds from the first frame to the end of the last, by the times of the packets, if they have times.
    pub stream_seconds: Option<f64>,
    /// FFmpeg's name of the pixel format of the first frame.
    pub pixel_format: String,
    /// Width of the decoded pictures, before pixel shape and rotation, in pixels.
    pub coded_width: u32,
    /// Height of the decoded pictures, before pixel shape and rotation, in pixels.
    pub coded_height: u32,
    /// Sample aspect ratio as the stream gives it; 0:1 when it does not.
    pub sar: (u32, u32),
    /// Degrees by which the pictures were turned clockwise, after mirroring: 0, 90, 180 or 270.
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
    /// How often the size or pixel format changed within the decoded frames.
    pub format_changes: u32,
    /// How often the size changed within the decoded frames. Pictures of another shape than the first are fitted into
    /// its size, with black bars.
    #[serde(skip_serializing_if = "is_zero")]
    pub size_changes: u32,
    /// Interlaced frames among those that were decoded.
    pub interlaced_frames: u32,
    /// Packets or frames that the decoder refused.
    pub decode_errors: u64,
    /// Packets that the container marks as damaged.
    pub corrupt_packets: u64,
    /// Errors that FFmpeg logged while it opened, read and decoded the video, at the level of errors or worse. One flaw
    /// may be logged several times.
    #[serde(skip_serializing_if = "is_zero")]
    pub logged_errors: u64,
    /// Parts of the container whose checksum does not match: clusters and headers of Matroska and WebM.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed_checksums: u64,
    /// Frames that decoded with damage: FFmpeg marks them or, if its decoder has no marks, logs an error at their
    /// packets.
    pub damaged_frames: u32,
    /// Frames whose time is not the one that the container gives their packets: it gives none, gives it twice, or gives the
    /// times at which packets are decoded.
    #[serde(skip_serializing_if = "is_zero")]
    pub guessed_times: u32,
    /// Frames whose time in the container is not after that of the frame that the decoder returned before.
    #[serde(skip_serializing_if = "is_zero")]
    pub unordered_times: u32,
    /// Frames that were not decoded, because no wanted frame needs them. They are counted by their packets, and damage
    /// in them stays unknown. Always 0 with [`Decode::All`](super::Decode::All).
    pub undecoded_frames: u32,
    /// What was found of its sound, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<AudioFacts>,
    /// The first error in FFmpeg's words, with its place, or the first checksum that does not match.
    pub first_error: Option<String>,
}

impl VideoFacts {
    /// Whether there is clearly less video than the container claims: a tenth is missing, and more than a second.
    pub fn is_cut_off(&self) -> bool {
        match (self.claimed_seconds, self.stream_seconds) {
            (Some(claimed), Some(found)) => found < 0.9 * claimed && claimed - found > 1.0,
            _ => false,
        }
    }
}

/// Fields that are rarely anything else are not stored.
fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}
