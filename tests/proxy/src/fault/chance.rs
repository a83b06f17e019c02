//! Chance that comes out the same in each run.

/// Whether the `number`-th throw hits, with probability `p`.
pub fn hits(p: f64, seed: u64, number: u64) -> bool {
    // 53 bits: all that a float has.
    let thrown = (mix(mix(seed) ^ number) >> 11) as f64 / (1_u64 << 53) as f64;
    thrown < p
}

/// SplitMix64's finalizer (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
