//! `vidrec pack` from outside: what it makes of its inputs, what it says of damage, and how much memory it takes.

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
#[cfg(unix)]
mod machine;
mod memory;
mod options;
mod recipes;
mod remote;
mod roots;
mod segments;
mod sound;
mod support;
mod times;
mod tracks;
