//! Turns packets into chosen pictures: finds the packets needed, runs the decoder, and converts its frames.

mod decoder;
mod look;
mod needed;
mod pass;
mod result;
mod suspects;
mod taker;
mod times;

pub(crate) use needed::PacketMap;
pub(crate) use pass::DecodePass;
pub(crate) use result::Keep;
pub(crate) use taker::Make;
