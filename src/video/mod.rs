//! Reading video: chosen frames of a file, as small pictures in JPEG's own color.
//!
//! [`sample`] opens a file, finds out how many frames really decode, asks the caller which of them it wants, and
//! returns those. Only this module and the encoder of previews (`interop::preview`) call FFmpeg.
//!
//! # What counts as a frame
//!
//! A frame is what the decoder outputs, in presentation order, when it decodes the stream from its first packet to its
//! last. vidrec does not trust headers: they claim frames that do not exist. Frames that an edit list hides do not
//! count. The presentation time identifies a frame ([`SampledFrame::pts`], in the stream's time base).
//!
//! The time of a frame is the one that the container gives its packet, where all frames have one and no two the same, and
//! frames are in the order of their times. If packets ascend in time although the decoder reorders their pictures, these are
//! times of decoding, and frames get them in the order in which they come out. If frames lack a time, share one, or the
//! clock begins again on the way, they come in the decoder's order, at the times that FFmpeg guesses.
//! [`VideoFacts::guessed_times`] and [`VideoFacts::unordered_times`] count such frames.
//!
//! A decoder marks a frame as damaged if part of it was missing or made no sense. (We checked the marks on broken
//! files: the marked pictures do have holes, and no good picture has the mark.) Only the decoders of H.264, MPEG-1 to
//! MPEG-4, H.263 and VC-1 set such marks. With all others, a frame counts as damaged if FFmpeg logs an error at the
//! packet with its time. While a video has intact frames, only those count; if all frames are damaged, all count.
//! vidrec never refuses what FFmpeg decodes. A frame that only refers to a damaged one has no mark and counts.
//!
//! # Which damage is noticed
//!
//! * errors that FFmpeg returns;
//! * errors that FFmpeg logs ([`VideoFacts::logged_errors`]): among several hundred intact videos one has any, for a
//!   misplaced NAL unit, while many have warnings;
//! * packets that a container marks ([`VideoFacts::corrupt_packets`]);
//! * checksums in the stream (FFV1, HEVC with picture hashes), in Ogg's pages and in Matroska's clusters
//!   ([`VideoFacts::failed_checksums`]);
//! * less video than the container claims.
//!
//! A codec without checksums that can decode any bits, such as VP8, VP9 and mostly HEVC, shows other pictures without
//! any sign.
//!
//! # How often a stream is decoded
//!
//! To save a second decode, vidrec reads all packets first, calls `choose` with the frames that they promise, and takes
//! the wanted frames during the decode. Then it calls `choose` with the frames that came out. If `choose` wants others,
//! vidrec decodes the stream once more. The result is the same either way.
//!
//! [`Video::sample_with`] passes frames on as they come out, so a video's pictures need not be in memory together. What
//! the caller makes of the frames of one decode is kept with that decode and dropped with it: nothing of a discarded
//! decode reaches the result.
//!
//! # What is decoded
//!
//! The wanted frames do not need most packets. vidrec skips those ([`Decode::Needed`]) if the packets themselves prove
//! which frames exist and what each of them refers to:
//!
//! * The codec is H.264 or HEVC in a container that stores parameter sets separately (MP4, Matroska, FLV), VP8, VP9,
//!   ProRes or DNxHD. The headers of every packet are understood, and show one picture, or one that is never shown.
//! * The container gives every packet a presentation time, no time occurs twice, times are not those of decoding and do not
//!   begin again, no packet is marked as damaged,
//!   reading ends without a returned or logged error, all checksums match, and the number of packets is the claimed
//!   one, if the container claims one.
//! * Decoding can begin with the first packet, key flags agree with the packets' own headers, no packet changes the
//!   parameters, and for H.264 the decoder holds back enough pictures to reorder them.
//!
//! Then vidrec skips three kinds of packets: those after the last wanted frame; those of entirely unwanted groups, if
//! the next wanted frame comes after an IDR picture (VP8, VP9: a key frame) and there are no parameter sets in between;
//! and pictures that nothing refers to (H.264 with `nal_ref_idc` 0, HEVC's sub-layer non-reference pictures in the
//! highest layer). It always decodes the first packet. So the decoder sees a stream that the standard allows, and never
//! a seek.
//!
//! Every frame that comes out must have the time and key flag that its packet promised, in order and without a mark of
//! damage. None may be missing, and the decoder may not return or log a single error. Otherwise vidrec discards
//! everything and decodes the whole stream, as it does with any stream that does not meet the conditions. The pictures
//! are those of [`Decode::All`], bit for bit. The price is knowledge about skipped packets: damage in them stays
//! unknown, and frames that they promise count even if they would not decode. [`VideoFacts::undecoded_frames`] says how
//! many there are.
//!
//! # Color
//!
//! Pictures come out as [`Planes`](crate::Planes): full-range BT.601, 4:2:0, centered chroma. swscale only scales;
//! vidrec converts range, matrix and chroma position itself, in one step with one rounding. A stream that does not name
//! its matrix counts as BT.601, as in FFmpeg's own conversion, so PyAV, OpenCV and decord show the same colors. HDR
//! (PQ, HLG) is not tone mapped: code values are kept. Alpha is ignored.
//!
//! # Geometry
//!
//! Pictures are upright and have square pixels. vidrec applies the rotation and mirroring of the display matrix, to the
//! nearest quarter turn, after scaling. It applies the sample aspect ratio to the width. All pictures of a video get
//! the size that the first one has; a later one of another shape keeps its shape, with black bars, unless the options
//! ask for an exact size. An interlaced frame is taken whole, both fields woven, as PyAV and OpenCV return it: scaling
//! down blends the fields, and no frame rate is invented.

mod audio;
mod container;
mod decode;
mod error;
mod facts;
mod frames;
mod libraries;
mod log;
mod options;
mod picture;
mod sample;

mod timeline;
mod words;

pub use audio::{AudioChannels, AudioFacts, AudioOptions};
pub(crate) use audio::{Sound, read as read_audio};
pub(crate) use container::{OpenVideo, Readable, VideoFile, VideoSource, open_regular};
pub use error::{Stage, VideoError};
pub use facts::VideoFacts;
pub use frames::{SampledFrame, SampledVideo};
#[cfg(test)]
pub(crate) use libraries::demuxer_endings;
pub(crate) use libraries::init;
pub use libraries::{ffmpeg_version, libraries};
pub use options::{Decode, FrameSize, VideoOptions};
pub use sample::{Video, sample};
pub use timeline::{Choose, Moment, Timeline};
