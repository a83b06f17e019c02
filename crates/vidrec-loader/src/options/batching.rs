//! How clips of different lengths and shapes become batches.

use crate::require::require;
use vidrec_format::error::Result;
use vidrec_format::limits::MAX_SIDE;

/// The rules that turn clips of different lengths and shapes into batches. By default, every batch has
/// [`batch_size`](crate::LoaderOptions::batch_size) clips in pictures of one size.
///
/// With buckets or sizes, all clips of a batch come from one bucket. All ranks have the same number of batches,
/// and the same shapes at the same time. Each clip comes once an epoch, and a run resumes exactly. The loader then
/// keeps a byte for each clip, and 8 bytes for each sample of an epoch. Each epoch begins with a pass over its
/// order.
///
/// ```
/// # mod vidrec { pub use vidrec_loader::{Batching, Budget, Frames, LoaderOptions}; }
/// use vidrec::{Batching, Budget, Frames, LoaderOptions};
///
/// let options = LoaderOptions {
///     frames: Frames::Any { most: Some(64) },
///     batching: Batching { buckets: vec![8, 16, 32, 64], budget: Some(Budget::Frames(256)), ..Batching::default() },
///     ..LoaderOptions::default()
/// };
/// assert!(options.batching.sizes.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batching {
    /// The lengths of samples, ascending, for [`Frames::Any`](crate::Frames::Any). A clip goes to the first bucket
    /// that holds it, and is padded to that length. Default: none.
    pub buckets: Vec<u32>,
    /// The sizes of pictures, as width and height. A clip goes to the size that is nearest in shape (width over
    /// height). The sizes replace [`Pictures::size`](crate::Pictures::size). Default: none.
    pub sizes: Vec<(u32, u32)>,
    /// The maximum content of a batch of one rank. A batch then has as many clips as fit, instead of
    /// [`batch_size`](crate::LoaderOptions::batch_size). Default `None`.
    pub budget: Option<Budget>,
}

/// The maximum content of a batch of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Budget {
    /// This many frames, including those that pad.
    Frames(u64),
    /// This many tokens. Each patch of frames and pixels is one token. At the borders, a patch may be incomplete.
    Tokens {
        /// The number of tokens in a batch.
        tokens: u64,
        /// The number of frames, rows and columns of a patch, each 1 or more.
        patch: [u32; 3],
    },
}

impl Budget {
    /// The number of clips of `frames` frames of `size` (width, height) that fit.
    pub(crate) fn clips(self, frames: u32, (width, height): (u32, u32)) -> u32 {
        let (budget, clip) = match self {
            Budget::Frames(budget) => (budget, u64::from(frames)),
            Budget::Tokens { tokens, patch: [t, h, w] } => {
                let patches = [(frames, t), (height, h), (width, w)].map(|(all, patch)| u64::from(all.div_ceil(patch)));
                (tokens, patches.into_iter().fold(1, u64::saturating_mul))
            }
        };
        u32::try_from(budget / clip.max(1)).unwrap_or(u32::MAX)
    }
}

impl Batching {
    /// Whether clips go to buckets.
    pub(crate) fn divides(&self) -> bool {
        !self.buckets.is_empty() || !self.sizes.is_empty()
    }

    /// Returns an error that names the option if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let ascending = self.buckets.is_sorted_by(|a, b| a < b) && self.buckets.first() != Some(&0);
        require(ascending, "buckets", format_args!("{:?}", self.buckets), "ascending lengths of 1 or more")?;
        let fits = |&(w, h): &(u32, u32)| [w, h].iter().all(|side| (1..=MAX_SIDE).contains(side));
        require(self.sizes.iter().all(fits), "sizes", format_args!("{:?}", self.sizes), "sides of 1 to 65500")?;
        let number = self.buckets.len().max(1) * self.sizes.len().max(1);
        require(number <= 256, "buckets and sizes", number, "at most 256 combinations")?;
        match self.budget {
            Some(Budget::Tokens { patch, .. }) => {
                require(!patch.contains(&0), "patch", format_args!("{patch:?}"), "1 or more on each side")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_holds_whole_clips() {
        assert_eq!(Budget::Frames(64).clips(8, (1, 1)), 8);
        assert_eq!(Budget::Frames(63).clips(8, (1, 1)), 7);
        assert_eq!(Budget::Frames(7).clips(8, (1, 1)), 0);
        let tokens = Budget::Tokens { tokens: 1000, patch: [2, 16, 16] };
        assert_eq!(tokens.clips(7, (100, 64)), 1000 / (4 * 7 * 4), "incomplete patches count");
        assert_eq!(Budget::Frames(u64::MAX).clips(1, (1, 1)), u32::MAX);
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let none = Batching::default;
        none().check().unwrap();
        for (name, batching) in [
            ("buckets", Batching { buckets: vec![8, 8], ..none() }),
            ("buckets", Batching { buckets: vec![0, 8], ..none() }),
            ("sizes", Batching { sizes: vec![(0, 8)], ..none() }),
            ("patch", Batching { budget: Some(Budget::Tokens { tokens: 1, patch: [1, 0, 1] }), ..none() }),
        ] {
            assert!(batching.check().unwrap_err().to_string().contains(name), "{name}");
        }
    }
}
