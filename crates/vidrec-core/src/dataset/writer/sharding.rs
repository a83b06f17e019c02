//! Rules by which clips are spread over shards.

use std::fmt;
use std::str::FromStr;

use crate::byte_size::parse_bytes;
use vidrec_format::{Error, Result};

/// A rule by which the clips of a data set are spread over its shards, always in order. All draws of a video are in one shard.
///
/// In text (`FromStr`, `Display`, serde): the number of shards, such as `16`, `each:1000` for shards of 1,000 videos, or
/// the most bytes of each, such as `1GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharding {
    /// This many shards. Each has the same number of videos or one more. There are fewer shards if there are fewer videos.
    Count(u32),
    /// As many shards as it takes for each to have at most this many videos.
    Each(u64),
    /// As many shards as it takes for the record file of each to have at most this many bytes, or one video. A pack goes by
    /// an estimate.
    Bytes(u64),
}

/// The state of the shard being written that decides where it ends.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OpenShard {
    /// The number of videos before the next one.
    pub videos: u64,
    /// Bytes of the record file so far.
    pub bytes: u64,
}

impl Sharding {
    /// # Errors
    ///
    /// The number of shards, of videos or of bytes is 0.
    #[doc(hidden)]
    pub fn check(self) -> Result<()> {
        match self {
            Sharding::Count(0) | Sharding::Each(0) | Sharding::Bytes(0) => {
                Err(Error::usage("a data set needs at least one shard, and a shard at least one video and one byte"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the open shard ends before the next one of `videos`, whose records have `bytes` bytes.
    pub(crate) fn ends_before(self, videos: u64, open: OpenShard, bytes: u64) -> bool {
        let shards = match self {
            Sharding::Bytes(most) => return open.bytes > 0 && open.bytes.saturating_add(bytes) > most,
            Sharding::Count(shards) => shards.into(),
            Sharding::Each(each) => videos.div_ceil(each.max(1)),
        };
        open.videos > 0 && shard_of(open.videos, videos, shards) != shard_of(open.videos - 1, videos, shards)
    }
}

/// The shard of a video if that many videos are spread over that many shards.
fn shard_of(video: u64, videos: u64, shards: u64) -> u128 {
    u128::from(video) * u128::from(shards) / u128::from(videos.max(1))
}

/// The first video of a shard if that many videos are spread over that many shards.
#[doc(hidden)]
pub fn first_video(shard: u64, videos: u64, shards: u64) -> u64 {
    let first = (u128::from(shard) * u128::from(videos)).div_ceil(u128::from(shards.max(1)));
    u64::try_from(first).unwrap_or(u64::MAX)
}

impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sharding::Count(n) => write!(f, "{n}"),
            Sharding::Each(n) => write!(f, "each:{n}"),
            Sharding::Bytes(n) => write!(f, "{n}B"),
        }
    }
}

impl FromStr for Sharding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let sharding = match (text.strip_prefix("each:"), text.parse()) {
            (Some(each), _) => each.parse().ok().map(Sharding::Each),
            (_, Ok(n)) => Some(Sharding::Count(n)),
            (_, Err(_)) if is_number => None,
            _ => parse_bytes(text).ok().map(Sharding::Bytes),
        };
        let expected =
            "a number of shards such as 16, each:1000 for 1,000 videos in each, or the size of a shard such as 1GiB";
        let sharding = sharding.filter(|sharding| sharding.check().is_ok());
        sharding.ok_or_else(|| Error::usage("not a number or size of shards").expected(expected).found(text))
    }
}

vidrec_format::words::serde_by_text!(Sharding);

#[cfg(test)]
mod tests {
    use super::*;

    /// The first videos of all shards except the first.
    fn starts(sharding: Sharding, sizes: &[u64]) -> Vec<u64> {
        let mut open = OpenShard::default();
        let (mut starts, videos) = (Vec::new(), sizes.len() as u64);
        for &size in sizes {
            if sharding.ends_before(videos, open, size) {
                starts.push(open.videos);
                open.bytes = 0;
            }
            open = OpenShard { videos: open.videos + 1, bytes: open.bytes.saturating_add(size) };
        }
        starts
    }

    #[test]
    fn shards_are_balanced() {
        assert_eq!(starts(Sharding::Count(1), &[9; 10]), [0; 0]);
        assert_eq!(starts(Sharding::Count(3), &[9; 10]), [4, 7]);
        assert_eq!(starts(Sharding::Count(3), &[9; 9]), [3, 6]);
        assert_eq!(starts(Sharding::Each(4), &[9; 10]), [4, 7]);
        assert_eq!(starts(Sharding::Each(10), &[9; 10]), [0; 0]);
        assert_eq!(starts(Sharding::Count(5), &[9; 2]), [1], "never more shards than videos");
        assert_eq!(starts(Sharding::Count(5), &[]), [0; 0]);
        for (videos, shards) in [(1, 1), (10, 3), (9, 3), (1000, 7), (7, 7)] {
            let first: Vec<u64> = (1..shards).map(|shard| first_video(shard, videos, shards)).collect();
            assert_eq!(
                starts(Sharding::Count(shards as u32), &vec![1; videos as usize]),
                first,
                "{videos} in {shards}"
            );
        }
        assert_eq!(first_video(u64::MAX, u64::MAX, u64::MAX), u64::MAX, "the product does not overflow");
    }

    #[test]
    fn shards_stay_below_a_size() {
        assert_eq!(starts(Sharding::Bytes(20), &[9; 5]), [2, 4]);
        assert_eq!(starts(Sharding::Bytes(5), &[9; 3]), [1, 2], "a longer video is alone");
        assert_eq!(starts(Sharding::Bytes(u64::MAX), &[u64::MAX, u64::MAX]), [0; 0]);
    }

    #[test]
    fn every_word_reads_back_as_itself() {
        for sharding in [Sharding::Count(3), Sharding::Each(7), Sharding::Bytes(1 << 40)] {
            assert_eq!(sharding.to_string().parse::<Sharding>().unwrap(), sharding);
        }
        assert_eq!("1GiB".parse::<Sharding>().unwrap(), Sharding::Bytes(1 << 30));
        for text in ["", "two", "0", "0B", "each:0", "each:", "-1", "1.5GiB", "4294967296"] {
            assert!(text.parse::<Sharding>().unwrap_err().to_string().contains("such as 16"), "{text}");
        }
    }
}
