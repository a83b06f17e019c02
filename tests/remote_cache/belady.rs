//! What the best cache with these limits would have kept, as Belady's algorithm says, where a clip need not be kept.

use std::collections::{BTreeSet, HashMap};

/// Bytes that the best cache of `capacity` bytes gives, of clips that are read one after the other. `sizes` are those of
/// all clips.
///
/// It is the best where clips have one size, and near it where they have nearly one.
pub fn hits(sizes: &[u64], reads: &[u64], capacity: u64) -> u64 {
    let mut next_of: HashMap<u64, usize> = HashMap::new();
    let mut next = vec![usize::MAX; reads.len()];
    for (at, &clip) in reads.iter().enumerate().rev() {
        next[at] = next_of.insert(clip, at).unwrap_or(usize::MAX);
    }
    let size = |clip: u64| sizes[clip as usize];
    // Those that are kept, by when they are read next.
    let mut kept: BTreeSet<(usize, u64)> = BTreeSet::new();
    let (mut hits, mut taken) = (0, 0);
    for (at, &clip) in reads.iter().enumerate() {
        if kept.remove(&(at, clip)) {
            hits += size(clip);
            taken -= size(clip);
        }
        if next[at] < usize::MAX {
            kept.insert((next[at], clip));
            taken += size(clip);
        }
        while taken > capacity {
            let (_, last) = kept.pop_last().unwrap();
            taken -= size(last);
        }
    }
    hits
}

#[test]
fn the_clip_that_is_read_last_goes() {
    let of = |reads: &[u64], capacity| hits(&[10; 4], reads, capacity);
    assert_eq!([5, 10, 20, 30].map(|capacity| of(&[0, 1, 2, 0, 1, 2], capacity)), [0, 10, 20, 30]);
    // Zero is read again before all others.
    assert_eq!([9, 19, 20].map(|capacity| of(&[0, 1, 0, 2, 0, 3, 0, 1], capacity)), [0, 30, 40]);
}
