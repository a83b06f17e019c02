//! Decoded frames in memory: the same batches as without, whoever shares them, dies, damages the memory or fills it.

#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod damage;
mod limits;
mod processes;
mod same_bits;
mod support;
