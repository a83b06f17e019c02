//! Counts clips by a word.

use std::collections::HashMap;

/// The number of clips that have each of some words. The first words that occur are counted separately, and the
/// others together.
#[derive(Default)]
pub(super) struct Categories {
    counts: HashMap<String, u64>,
    /// Clips with words beyond the limit.
    others: u64,
}

/// The most words that are counted separately.
const MOST_WORDS: usize = 10_000;
/// The most characters of a word that are kept.
const WORD_LENGTH: usize = 120;

impl Categories {
    pub fn add(&mut self, word: &str) {
        let word = &word[..word.char_indices().nth(WORD_LENGTH).map_or(word.len(), |(at, _)| at)];
        if let Some(count) = self.counts.get_mut(word) {
            *count += 1;
        } else if self.counts.len() < MOST_WORDS {
            self.counts.insert(word.to_owned(), 1);
        } else {
            self.others += 1;
        }
    }

    /// The number of different words.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// The number of clips that have a word.
    pub fn clips(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.others
    }

    /// Clips with words beyond the limit.
    pub fn others(&self) -> u64 {
        self.others
    }

    pub fn count(&self, word: &str) -> u64 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.counts.keys().map(String::as_str)
    }
}
