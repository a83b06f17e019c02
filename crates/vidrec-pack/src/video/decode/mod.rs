//! Turns packets into chosen pictures: finds the packets needed, runs the decoder, and converts its frames.

mod decoder;
mod needed;
mod pass;
mod times;

pub(crate) use needed::PacketMap;
pub(crate) use pass::DecodePass;
pub(crate) use pass::FrameFilter;
pub(crate) use pass::FrameHandler;
