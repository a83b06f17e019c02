//! Reads chosen frames of a video file, as small pictures in JPEG's own color.
//!
//! [`sample`] opens a file, finds how many frames really decode, asks the caller which of them it wants, and
//! returns those. Only this module and the encoder of previews (`interop::preview`) call FFmpeg.
//!
//! # What counts as a frame
//!
//! A frame is an image that the decoder outputs when it decodes the stream from its first packet to its last.
//! Frames are in presentation order. vidrec does not trust headers, because they claim frames that do not exist.
//! Frames that an edit list hides do not count. The presentation time identifies a frame ([`SampledFrame::pts`],
//! in the stream's time base).
//!
//! If all frames have a time from the container and no two times are equal, a frame has the time of its packet,
//! and frames are in the order of their times. Two kinds of files differ. If packets ascend in time although the
//! decoder reorders their pictures, these are decoding times, and frames get them in the order in which they come
//! out. If frames lack a time, share one, or the clock restarts within the file, frames are in the decoder's
//! order, at the times that FFmpeg estimates. [`VideoFacts::guessed_times`] and [`VideoFacts::unordered_times`]
//! count such frames.
//!
//! A decoder marks a frame as damaged if part of it was missing or made no sense. (We checked the marks on broken
//! files: the marked pictures do have holes, and no good picture has the mark.) Only the decoders of H.264, MPEG-1
//! to MPEG-4, H.263 and VC-1 set such marks. With all others, a frame counts as damaged if FFmpeg logs an error at
//! the packet with its time. If a video has intact frames, only those count. If all frames are damaged, all count.
//! vidrec never refuses a frame that FFmpeg decodes. A frame that only refers to a damaged one has no mark and
//! counts.
//!
//! # Which damage is noticed
//!
//! * errors that FFmpeg returns;
//! * errors that FFmpeg logs ([`VideoFacts::logged_errors`]): among several hundred intact videos, one has any,
//!   for a misplaced NAL unit, although many have warnings;
//! * packets that a container marks ([`VideoFacts::corrupt_packets`]);
//! * checksums in the stream (FFV1, HEVC with picture hashes), in Ogg's pages and in Matroska's clusters
//!   ([`VideoFacts::failed_checksums`]);
//! * less video than the container claims.
//!
//! Some codecs have no checksums and can decode any bits, such as VP8, VP9 and mostly HEVC. If their data is
//! damaged, they show other pictures without any sign.
//!
//! # How often a stream is decoded
//!
//! To save a second decode, vidrec reads all packets first and calls `choose` with the frames that they promise.
//! It takes the wanted frames during the decode. Then it calls `choose` again, with the frames that came out. If
//! `choose` now wants others, vidrec decodes the stream once more. The result is the same either way.
//!
//! [`Video::sample_with`] passes frames on as they come out, so a video's pictures need not be in memory together.
//! The caller's results for the frames of one decode are kept with that decode and dropped with it. Nothing from a
//! discarded decode reaches the result.
//!
//! # What is decoded
//!
//! The wanted frames do not need most packets. vidrec skips the others, unless [`VideoOptions::decode_all`] is set, if the packets
//! themselves prove which frames exist and which other frames each of them refers to:
//!
//! * The codec is H.264 or HEVC in a container that stores parameter sets separately (MP4, Matroska, FLV), VP8,
//!   VP9, AV1, ProRes or DNxHD. The headers of every packet are understood. They describe one picture that is shown, or
//!   one that is never shown.
//! * The container gives every packet a presentation time. No time occurs twice, the times are not decoding times,
//!   and they do not restart. No packet is marked as damaged. Reading ends without a returned or logged error. All
//!   checksums match. The number of packets is the claimed one, if the container claims one.
//! * Decoding can start with the first packet. Key flags agree with the packets' own headers. For H.264, the
//!   decoder holds back enough pictures to reorder them.
//!
//! Under these conditions vidrec skips three kinds of packets. It skips packets after the last wanted frame. It
//! skips groups without a wanted frame, if the next wanted frame comes after an IDR picture (VP8, VP9: a key
//! frame; AV1: a key frame that is shown). Its packet must have all parameter sets if any packet before it changed one, and
//! must leave FFmpeg's decoder with the same colors. It skips pictures that nothing refers to (H.264 with
//! `nal_ref_idc` 0, HEVC's sub-layer non-reference pictures in the highest layer). It always decodes the first
//! packet. The decoder therefore sees a stream that the standard allows, and never a seek.
//!
//! Every frame that comes out must have the time and key flag that its packet promised, in order and without a
//! mark of damage. None may be missing, and the decoder may not return or log a single error. Otherwise vidrec
//! discards everything and decodes the whole stream, as it does with any stream that does not meet the conditions.
//! The pictures are those of a whole decode, bit for bit. The cost is that less is known about skipped packets:
//! damage in them stays unknown, and frames that they promise count even if they would not decode.
//! [`VideoFacts::undecoded_frames`] is the number of these frames.
//!
//! # Color
//!
//! Pictures come out as [`Planes`](vidrec_jpeg::Planes): full-range BT.601, 4:2:0, centered chroma.
//! swscale only scales; vidrec converts range, matrix and chroma position itself, in one step with one rounding. A
//! stream that does not name its matrix counts as BT.601, as in FFmpeg's own conversion. PyAV, OpenCV and decord
//! therefore show the same colors. HDR (PQ, HLG) is not tone mapped, so code values stay unchanged. Alpha is
//! ignored.
//!
//! # Geometry
//!
//! Pictures are upright and have square pixels. vidrec applies the rotation and mirroring of the display matrix,
//! to the nearest quarter turn, after scaling. It applies the sample aspect ratio to the width. All pictures of a
//! video get the size of the first one. A later picture with another shape keeps its shape, with black bars,
//! unless the options ask for an exact size. An interlaced frame is taken whole, with both fields woven, as PyAV
//! and OpenCV return it. Scaling down blends the fields, and no frame rate is invented.

mod audio;
mod container;
mod decode;
mod error;
mod facts;
mod ffmpeg;
mod options;
mod picture;
mod sample;

mod timeline;

pub use audio::{AudioChannels, AudioFacts, AudioOptions};
pub(crate) use audio::{MAX_BYTES as MAX_AUDIO_BYTES, Sound, SoundCache, read as read_audio};
pub(crate) use container::{VideoFile, no_video, open_regular};
pub use error::{Stage, VideoError};
pub use facts::{TimeGap, VideoFacts};
#[doc(hidden)]
pub use ffmpeg::init;
pub use ffmpeg::{ffmpeg_version, libraries};
pub use options::{FrameSize, VideoOptions};
pub use sample::{Video, sample};
pub(crate) use timeline::ExactTimes;
pub use timeline::{Choose, Moment, Timeline};
pub use timeline::{SampledFrame, SampledVideo};
