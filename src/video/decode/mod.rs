//! From packets to chosen pictures: which packets are needed, the decoder, and what its frames become.

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
pub(crate) use result::{Keep, PassResult};
pub(crate) use taker::Make;
