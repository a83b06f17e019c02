//! `vidrec pack` from outside: what it makes of its inputs, what it says of damage, how much memory it takes, and how it
//! resumes.

mod cameras;
mod columns;
#[path = "../common/mod.rs"]
mod common;
mod confined;
mod damage;
mod depth;
mod depth_tracks;
mod encrypted;
#[cfg(unix)]
mod hostile;
mod hub;
mod inputs;
mod lerobot;
mod memory;
mod options;
mod recipes;
mod remote;
mod resume;
mod roots;
mod segments;
#[path = "../faults/shim.rs"]
mod shim;
mod sound;
#[cfg(unix)]
mod stopping;
mod times;
mod tracks;
