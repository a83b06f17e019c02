//! Huffman codes made for the symbols of pictures.

/// The number of occurrences of each symbol.
pub(super) type Counts = [u32; 256];

/// The four codes of a picture: those of luma's DC and AC, then those of chroma.
pub(super) const CODES: usize = 4;

/// A code as a JPEG defines it (T.81, annex C).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    /// For each length from 1, the number of symbols with that length.
    pub counts: [u8; 16],
    /// The symbols in the order of their codes.
    pub symbols: Vec<u8>,
}

/// The longest code that a JPEG can have.
const LONGEST: usize = 16;

impl Code {
    /// Creates the shortest code for symbols with these counts, by the procedure of T.81, K.2. The code of only
    /// ones remains for a symbol that does not exist.
    pub fn best(counts: &Counts) -> Self {
        let lengths = lengths(counts);
        let mut of_length = [0u32; 257];
        lengths.iter().filter(|&&length| length > 0).for_each(|&length| of_length[usize::from(length)] += 1);
        shorten(&mut of_length);
        // The symbol that does not exist is the least frequent, so it has one of the longest codes.
        let longest = (1..=LONGEST).rev().find(|&length| of_length[length] > 0).unwrap_or(1);
        of_length[longest] = of_length[longest].saturating_sub(1);
        let mut symbols: Vec<u8> = (0..=255).filter(|&symbol| lengths[usize::from(symbol)] > 0).collect();
        symbols.sort_by_key(|&symbol| lengths[usize::from(symbol)]);
        Code { counts: std::array::from_fn(|i| of_length[i + 1] as u8), symbols }
    }

    /// The code of each symbol, and its length: 0 if it has none.
    pub fn words(&self) -> [(u16, u8); 256] {
        let (mut words, mut next) = ([(0, 0); 256], 0u32);
        let mut symbols = self.symbols.iter();
        for (length, &count) in (1..).zip(&self.counts) {
            for &symbol in symbols.by_ref().take(count.into()) {
                words[usize::from(symbol)] = (next as u16, length);
                next += 1;
            }
            next <<= 1;
        }
        words
    }
}

/// The lengths of the codes from Huffman's procedure. The last one is for the symbol that does not exist.
fn lengths(counts: &Counts) -> [u8; 257] {
    let mut weights = [0u64; 257];
    weights.iter_mut().zip(counts).for_each(|(weight, &count)| *weight = count.into());
    weights[256] = 1;
    let (mut lengths, mut next) = ([0u8; 257], [usize::MAX; 257]);
    let mut live: Vec<usize> = (0..257).filter(|&symbol| weights[symbol] > 0).collect();
    while live.len() > 1 {
        // The two rarest trees; the last ones, if several are equally rare. A tree is named after one of its
        // symbols.
        let mut take = || {
            let rarest = (0..live.len()).min_by_key(|&i| (weights[live[i]], usize::MAX - live[i]));
            live.swap_remove(rarest.unwrap_or(0))
        };
        let (a, b) = (take(), take());
        weights[a] += weights[b];
        let mut end = a;
        while next[end] != usize::MAX {
            lengths[end] += 1;
            end = next[end];
        }
        lengths[end] += 1;
        next[end] = b;
        let mut at = b;
        while at != usize::MAX {
            lengths[at] += 1;
            at = next[at];
        }
        live.push(a);
    }
    lengths
}

/// Shortens all codes to at most [`LONGEST`] (T.81, figure K.3).
fn shorten(of_length: &mut [u32; 257]) {
    for long in (LONGEST + 1..257).rev() {
        while of_length[long] > 0 {
            let shorter = (1..long - 1).rev().find(|&length| of_length[length] > 0).unwrap_or(1);
            of_length[long] -= 2;
            of_length[long - 1] += 1;
            of_length[shorter + 1] += 2;
            of_length[shorter] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(counts: &Counts, code: &Code) -> u64 {
        let words = code.words();
        counts.iter().zip(words).map(|(&count, (_, length))| u64::from(count) * u64::from(length)).sum()
    }

    proptest! {
        #[test]
        fn a_code_has_all_symbols_and_no_word_begins_with_another_or_is_all_ones(
            counts in prop::collection::vec(prop_oneof![Just(0u32), 1..50u32, 1..1_000_000u32], 256), few in 0..256usize,
        ) {
            let mut counts: Counts = counts.try_into().unwrap();
            counts[few..].fill(0);
            let code = Code::best(&counts);
            prop_assert_eq!(code.counts.iter().map(|&n| usize::from(n)).sum::<usize>(), code.symbols.len());
            let words = code.words();
            let mut ranges = Vec::new();
            for (symbol, (word, length)) in words.into_iter().enumerate() {
                prop_assert_eq!(length > 0, counts[symbol] > 0, "{}", symbol);
                if length > 0 {
                    prop_assert!(length <= 16 && u32::from(word) + 1 < 1 << length, "all ones");
                    ranges.push((u32::from(word) << (16 - length), (u32::from(word) + 1) << (16 - length)));
                }
            }
            ranges.sort_unstable();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        }

        #[test]
        fn a_code_is_the_shortest_but_for_the_word_of_ones(counts in prop::collection::vec(1..5000u32, 2..12)) {
            let mut all = [0; 256];
            all[..counts.len()].copy_from_slice(&counts);
            // Merges the two rarest symbols again and again, with one more symbol that occurs once.
            let mut trees: Vec<u64> = counts.iter().map(|&n| n.into()).chain([1]).collect();
            let mut least = 0;
            while trees.len() > 1 {
                trees.sort_unstable_by(|a, b| b.cmp(a));
                let sum = trees.pop().unwrap() + trees.pop().unwrap();
                least += sum;
                trees.push(sum);
            }
            prop_assert!(bits(&all, &Code::best(&all)) <= least);
        }
    }

    #[test]
    fn very_uneven_counts_give_words_of_at_most_16_bits() {
        let mut counts = [0; 256];
        counts[..30].iter_mut().enumerate().for_each(|(i, count)| *count = 1 << i);
        let code = Code::best(&counts);
        assert_eq!(code.symbols.len(), 30);
        assert!(code.words().iter().all(|&(_, length)| length <= 16));
    }
}
