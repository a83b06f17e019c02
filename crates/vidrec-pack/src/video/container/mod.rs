//! Reads containers: the file, the video stream, its packets, and what the container claims about them.

mod anatomy;
mod claims;
mod clock;
mod encryption;
mod input;
mod matroska;
mod mp4;
mod no_video;
mod obu;
mod packets;
mod parameter_sets;
mod replay;
mod source;
mod sps;
mod stream;

pub(crate) use anatomy::{Anatomy, PacketRole};
pub(crate) use input::{Deadline, Input, NextPacket};
pub(crate) use no_video::no_video;
pub(crate) use packets::{Note, PacketClock, Packets};
pub(crate) use source::{OpenVideo, Readable, VideoFile, VideoSource, open_regular};
pub(crate) use stream::{StreamInfo, matrix_from_bytes};
