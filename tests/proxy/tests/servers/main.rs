//! The servers from outside, over plain sockets.

mod client;
mod faults;
mod forwarding;
mod origin;
mod program;
mod writing;
