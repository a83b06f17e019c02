//! Reading video: chosen frames of a file, as small pictures in JPEG's own color.
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
//! # Color
//!
//! Pictures come out as [`Planes`]: full-range BT.601, 4:2:0, centred chroma. swscale only scales; range, matrix and
//! chroma position are ours, in one step with one rounding. A stream that does not name its matrix counts as BT.601, as
//! in FFmpeg's own conversion, so PyAV, OpenCV and decord show the same colors. HDR (PQ, HLG) is not tone mapped: code
//! values are kept. Alpha is ignored.
//!
//! # Geometry
//!
//! Pictures are upright and have square pixels: rotation and mirroring of the display matrix are applied, to the
//! nearest quarter turn, after scaling; so is the sample aspect ratio, by the width. All pictures of a video get the size that
//! the first one gives; a later one of another shape keeps it, with black bars, unless an exact size was asked for. An interlaced frame is taken whole,
//! both fields woven, as PyAV and OpenCV give it: scaling down blends them, and no frame rate is invented.

mod container;
mod decode;
mod error;
mod facts;
mod libraries;
mod log;
mod options;
mod picture;
mod sample;
mod sampled;
mod timeline;

pub use error::{Stage, VideoError};
pub use facts::VideoFacts;
#[cfg(test)]
pub(crate) use libraries::demuxer_endings;
pub(crate) use libraries::init;
pub use libraries::{ffmpeg_version, libraries};
pub use options::{Decode, FrameSize, VideoOptions};
pub use sample::{Video, sample};
pub use sampled::{SampledFrame, SampledVideo};
pub use timeline::{Choose, Moment, Timeline};
