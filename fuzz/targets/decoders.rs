//! Both decoders on changed pictures: the same planes, or none of ours.
#![no_main]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use vidrec_jpeg::fuzzing::{changed_again, decoders, generated};

/// By the verdict.
static COUNTS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

fuzz_target!(|input: &[u8]| {
    COUNTS[decoders(input) as usize].fetch_add(1, Relaxed);
    let counts = COUNTS.each_ref().map(|count| count.load(Relaxed));
    if counts.iter().sum::<u64>().is_power_of_two() || counts.iter().sum::<u64>() % 100_000 == 0 {
        eprintln!("decoded, declined, refused, too large: {counts:?}");
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let made = match seed % 8 {
        0 => return fuzzer_mutate(data, size, max_size),
        1 => [&data[..size.min(5)], &generated(seed.into())].concat(),
        _ => changed_again(&data[..size], seed.into(), max_size),
    };
    let length = made.len().min(max_size);
    data[..length].copy_from_slice(&made[..length]);
    length
});
