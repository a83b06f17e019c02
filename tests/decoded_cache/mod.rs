//! Decoded frames in memory: the same batches as without, whoever shares them, dies, damages the memory or fills it.

mod damage;
mod limits;
mod processes;
mod same_bits;
mod support;
