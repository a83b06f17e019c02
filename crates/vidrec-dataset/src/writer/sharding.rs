//! How clips are spread over shards, and where a shard ends.

use std::fmt;
use std::str::FromStr;

use vidrec_format::byte_size::parse_bytes;
use vidrec_format::error::{Error, Result};

/// How the clips of a data set are spread over its shards, always in order. All draws of a video are in one shard.
///
/// In text (`FromStr`, `Display`, serde): the number of shards, such as `16`, or the most bytes of each, such as `1GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharding {
    /// One shard with all clips. The default.
    #[default]
    One,
    /// This many shards. Each has the same number of videos or one more. There are fewer shards if all videos of a
    /// shard fail, or if there are fewer videos than shards.
    Count(u32),
    /// A shard ends before the video that would make its record file longer than this many bytes. A longer video has
    /// a shard of its own.
    Bytes(u64),
}

/// The state of the shard being written that decides where it ends.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenShard {
    /// The position of the last video that produced a clip, in this shard or an earlier one.
    pub last: Option<u64>,
    /// Bytes of the record file so far.
    pub bytes: u64,
}

impl Sharding {
    /// # Errors
    ///
    /// The number of shards or of bytes is 0.
    #[doc(hidden)]
    pub fn check(self) -> Result<()> {
        match self {
            Sharding::Count(0) => Err(Error::usage("a data set needs at least one shard")),
            Sharding::Bytes(0) => Err(Error::usage("a shard needs at least one byte")),
            _ => Ok(()),
        }
    }

    /// Whether the open shard ends before the video at position `video` of `videos`, whose records have `bytes`
    /// bytes.
    #[doc(hidden)]
    pub fn ends_before(self, video: u64, videos: u64, open: OpenShard, bytes: u64) -> bool {
        match self {
            Sharding::One => false,
            Sharding::Count(shards) => {
                let shard_of = |video: u64| u128::from(video) * u128::from(shards) / u128::from(videos.max(1));
                open.last.is_some_and(|last| shard_of(last) != shard_of(video))
            }
            Sharding::Bytes(most) => open.bytes > 0 && open.bytes.saturating_add(bytes) > most,
        }
    }
}

impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sharding::One => f.write_str("1"),
            Sharding::Count(n) => write!(f, "{n}"),
            Sharding::Bytes(n) => write!(f, "{n}B"),
        }
    }
}

impl FromStr for Sharding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let sharding = match text.parse() {
            Ok(1) => Some(Sharding::One),
            Ok(0) => None,
            Ok(n) => Some(Sharding::Count(n)),
            Err(_) if is_number => None,
            Err(_) => parse_bytes(text).ok().map(Sharding::Bytes),
        };
        let expected = "a number of shards such as 16, or the size of a shard such as 1GiB";
        sharding.ok_or_else(|| Error::usage("not a number or size of shards").expected(expected).found(text))
    }
}

vidrec_format::words::serde_by_text!(Sharding);

#[cfg(test)]
mod tests {
    use super::*;

    /// The first videos of all shards except the first, if every video produces clips.
    fn starts(sharding: Sharding, sizes: &[u64]) -> Vec<usize> {
        let mut open = OpenShard::default();
        let mut starts = Vec::new();
        for (i, &size) in sizes.iter().enumerate() {
            if sharding.ends_before(i as u64, sizes.len() as u64, open, size) {
                starts.push(i);
                open.bytes = 0;
            }
            open = OpenShard { last: Some(i as u64), bytes: open.bytes.saturating_add(size) };
        }
        starts
    }

    #[test]
    fn shards_are_balanced() {
        assert_eq!(starts(Sharding::One, &[9; 10]), [0; 0]);
        assert_eq!(starts(Sharding::Count(3), &[9; 10]), [4, 7]);
        assert_eq!(starts(Sharding::Count(3), &[9; 9]), [3, 6]);
        assert_eq!(starts(Sharding::Count(5), &[9; 2]), [1], "never more shards than videos");
        assert_eq!(starts(Sharding::Count(5), &[]), [0; 0]);
        let huge = |video| {
            let open = OpenShard { last: Some(video - 1), bytes: 1 };
            Sharding::Count(u32::MAX).ends_before(video, u64::MAX, open, 0)
        };
        assert!(!huge(u64::MAX / 2), "the product of both does not overflow");
    }

    #[test]
    fn shards_stay_below_a_size() {
        assert_eq!(starts(Sharding::Bytes(20), &[9; 5]), [2, 4]);
        assert_eq!(starts(Sharding::Bytes(5), &[9; 3]), [1, 2], "a longer video is alone");
        assert_eq!(starts(Sharding::Bytes(u64::MAX), &[u64::MAX, u64::MAX]), [0; 0]);
    }

    #[test]
    fn every_word_reads_back_as_itself() {
        for sharding in [Sharding::One, Sharding::Count(3), Sharding::Bytes(1 << 40)] {
            assert_eq!(sharding.to_string().parse::<Sharding>().unwrap(), sharding);
        }
        assert_eq!("1GiB".parse::<Sharding>().unwrap(), Sharding::Bytes(1 << 30));
        for text in ["", "two", "0", "0B", "-1", "1.5GiB", "4294967296"] {
            assert!(text.parse::<Sharding>().unwrap_err().to_string().contains("such as 16"), "{text}");
        }
    }
}
