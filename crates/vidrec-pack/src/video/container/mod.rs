//! Reads containers: the file, the video stream, its packets, and what the container claims about them.

mod bitstream;
mod checksums;
mod input;
mod packets;
mod source;
mod stream;

#[cfg(test)]
pub(crate) use bitstream::PacketSets;
pub(crate) use bitstream::{PacketInfo, PacketRole};
pub(crate) use input::{Deadline, Input, NextPacket};
pub(crate) use packets::{Note, PacketClock, Packets};
pub(crate) use source::{VideoFile, no_video, open_regular};
pub(crate) use stream::{StreamInfo, matrix_from_bytes};
