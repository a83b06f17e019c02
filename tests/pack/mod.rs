//! `vidrec pack` from outside: what it makes of its inputs, what it says of damage, how much memory it takes, and how it
//! resumes.

mod cameras;
mod columns;
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
#[cfg(unix)]
mod machine;
mod memory;
mod options;
mod recipes;
mod remote;
mod resume;
mod roots;
mod segments;
mod sound;
#[cfg(unix)]
mod stopping;
mod times;
mod tracks;
