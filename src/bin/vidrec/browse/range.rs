//! Ranges of bytes in requests, as RFC 9110 has them in section 14.

use std::ops::Range;

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Asked {
    /// The whole file: there is no range, or one that nobody has to understand.
    Whole,
    /// These bytes.
    Part(Range<u64>),
    /// Bytes that the file does not have.
    Beyond,
}

impl Asked {
    /// What the header `Range` asks for of a file of this length. Several ranges at once are not served.
    pub fn of(header: Option<&str>, length: u64) -> Self {
        let Some((first, last)) = header.and_then(|text| text.trim().strip_prefix("bytes=")?.split_once('-')) else {
            return Asked::Whole;
        };
        match (number(first), number(last)) {
            (Some(first), _) if last.is_empty() => part(first, u64::MAX, length),
            (Some(first), Some(last)) if first <= last => part(first, last, length),
            (None, Some(last)) if first.is_empty() => match last.min(length) {
                0 => Asked::Beyond,
                last => Asked::Part(length - last..length),
            },
            _ => Asked::Whole,
        }
    }
}

fn part(first: u64, last: u64, length: u64) -> Asked {
    if first >= length { Asked::Beyond } else { Asked::Part(first..last.saturating_add(1).min(length)) }
}

fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_standard() {
        let of = |text| Asked::of(Some(text), 10);
        assert_eq!(
            (Asked::of(None, 10), of("bytes=2-4"), of("bytes=0-")),
            (Asked::Whole, Asked::Part(2..5), Asked::Part(0..10))
        );
        assert_eq!(
            (of("bytes=9-99"), of("bytes=-3"), of("bytes=-99")),
            (Asked::Part(9..10), Asked::Part(7..10), Asked::Part(0..10))
        );
        assert_eq!(
            (of("bytes=10-"), of("bytes=-0"), Asked::of(Some("bytes=0-0"), 0)),
            (Asked::Beyond, Asked::Beyond, Asked::Beyond)
        );
        assert_eq!(of("bytes=3-99999999999999999999999"), Asked::Part(3..10));
        for odd in ["bytes=4-2", "bytes=a-b", "bytes=1-2,4-5", "bytes=--1", "bytes=+1-2", "bytes=-", "lines=1-2", ""] {
            assert_eq!(of(odd), Asked::Whole, "{odd}");
        }
    }
}
