//! Fuzzes the code that reads, cuts and moves the segments of a JPEG.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use vidrec_jpeg::fuzzing::{changed_again, segments};

fuzz_target!(|jpeg: &[u8]| segments(jpeg));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 2 == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let made = changed_again(&data[..size], seed.into(), max_size);
    data[..made.len()].copy_from_slice(&made);
    made.len()
});
