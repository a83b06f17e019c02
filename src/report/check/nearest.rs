//! Finds all pairs of 64-bit keys that differ in few bits.
//!
//! This is multi-index hashing (Norouzi, Punjani and Fleet, *Fast search in Hamming space with multi-index
//! hashing*, CVPR 2012). The keys are cut into four bands of 16 bits. If two keys differ in at most 7 bits, then
//! by the pigeonhole principle they differ in at most one bit of some band. For each band, the keys are therefore
//! sorted into 65,536 buckets. Each bucket is compared with itself and with the 16 that are one bit away.

/// The most bits in which the keys of a pair differ.
pub(super) const RADIUS: u32 = 7;

const BANDS: u32 = 4;
const BAND_BITS: u32 = 16;
const BUCKETS: usize = 1 << BAND_BITS;

/// The most keys of a bucket that a key is compared with. A bucket has more only if very many clips show nearly
/// the same. Its keys are sorted, so the nearest come first, and other clips are found through these. The time
/// therefore grows with the number of clips and not with its square.
const MOST_COMPARED: usize = 8192;

/// A key and the number of its owner.
pub(super) type Keyed = (u64, u32);

/// Calls `found` with each pair of `keys` that differ in at most [`RADIUS`] bits, once for each pair, the smaller
/// number first; with `others`, with each pair of one of `keys` and one of these. Calls `go_on` from time to time; it may stop
/// the search.
pub(super) fn near_pairs<E>(
    keys: &[Keyed],
    others: Option<&[Keyed]>,
    found: &mut impl FnMut(u32, u32),
    go_on: &mut impl FnMut() -> Result<(), E>,
) -> Result<(), E> {
    for band in 0..BANDS {
        let (table, others) = (Table::new(keys, band), others.map(|others| Table::new(others, band)));
        for value in 0..BUCKETS {
            let bucket = table.bucket(value);
            let near = std::iter::once(value).chain((0..BAND_BITS).map(|bit| value ^ 1 << bit));
            for near in near.filter(|&near| others.is_some() || near >= value) {
                for (i, one) in bucket.iter().enumerate() {
                    let candidates = match &others {
                        Some(others) => others.bucket(near),
                        None if near == value => &bucket[i + 1..],
                        None => table.bucket(near),
                    };
                    compare(one, candidates, band, found);
                }
            }
            if value % 256 == 0 {
                go_on()?;
            }
        }
    }
    Ok(())
}

fn compare(&(key, owner): &Keyed, others: &[Keyed], band: u32, found: &mut impl FnMut(u32, u32)) {
    for &(other, of) in &others[..others.len().min(MOST_COMPARED)] {
        let different = key ^ other;
        if different.count_ones() <= RADIUS && is_first(different, band) {
            found(owner.min(of), owner.max(of));
        }
    }
}

/// Whether no earlier band also finds the pair.
fn is_first(different: u64, band: u32) -> bool {
    (0..band).all(|earlier| (different >> (earlier * BAND_BITS) & 0xffff).count_ones() > 1)
}

/// Keys in buckets by the value of one of their bands.
struct Table {
    keys: Vec<Keyed>,
    starts: Vec<u32>,
}

impl Table {
    fn new(keys: &[Keyed], band: u32) -> Self {
        let value = |key: u64| (key >> (band * BAND_BITS) & 0xffff) as usize;
        let mut starts = vec![0u32; BUCKETS + 1];
        keys.iter().for_each(|&(key, _)| starts[value(key) + 1] += 1);
        (0..BUCKETS).for_each(|i| starts[i + 1] += starts[i]);
        let (mut next, mut sorted) = (starts.clone(), vec![(0, 0); keys.len()]);
        for &(key, owner) in keys {
            let place = &mut next[value(key)];
            sorted[*place as usize] = (key, owner);
            *place += 1;
        }
        (0..BUCKETS).for_each(|i| sorted[starts[i] as usize..starts[i + 1] as usize].sort_unstable());
        Table { keys: sorted, starts }
    }

    fn bucket(&self, value: usize) -> &[Keyed] {
        &self.keys[self.starts[value] as usize..self.starts[value + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use vidrec_format::random::Random;

    /// Returns random keys, each followed by one that differs from it in 0 to 12 bits.
    fn keys(count: u32, seed: u64) -> Vec<Keyed> {
        let mut random = Random::new(seed, &[]);
        let mut keys = Vec::new();
        for i in 0..count / 2 {
            let key = random.next_u64();
            let flips = (0..random.below(13)).fold(0u64, |flips, _| flips | 1 << random.below(64));
            keys.extend([(key, 2 * i), (key ^ flips, 2 * i + 1)]);
        }
        keys
    }

    fn pairs(keys: &[Keyed]) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        near_pairs(keys, None, &mut |a, b| pairs.push((a, b)), &mut || Ok::<_, Infallible>(())).unwrap();
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn pairs_are_those_of_comparing_all_with_all() {
        let mut keys = keys(600, 1);
        // These make buckets with many keys, and equal keys.
        keys.extend((600..900).map(|i| (u64::from(i % 40) << (i % 3 * 16), i)));
        let near = |a: &Keyed, b: &Keyed| (a.0 ^ b.0).count_ones() <= RADIUS;
        let all = keys.iter().enumerate().flat_map(|(i, a)| keys[i + 1..].iter().map(move |b| (a, b)));
        let mut expected: Vec<_> = all.filter(|(a, b)| near(a, b)).map(|(a, b)| (a.1, b.1)).collect();
        expected.sort_unstable();
        assert!(expected.len() > 1000);
        assert_eq!(pairs(&keys), expected);
        let (some, rest) = keys.split_at(500);
        let mut between = Vec::new();
        near_pairs(some, Some(rest), &mut |a, b| between.push((a, b)), &mut || Ok::<_, Infallible>(())).unwrap();
        between.sort_unstable();
        expected.retain(|&(a, b)| a < 500 && b >= 500);
        assert_eq!(between, expected);
    }

    #[test]
    fn the_search_can_be_stopped() {
        assert_eq!(near_pairs(&keys(10, 2), None, &mut |_, _| (), &mut || Err("stop")), Err("stop"));
    }
}
