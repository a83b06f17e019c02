//! The part of a video that a clip is of, in nanoseconds.

/// The frames of a video, and the part of it that a clip is of. Times are on the clock that segments are on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// The time of each frame of the video.
    pub frames: Vec<i64>,
    /// When the last frame ends.
    pub end: i64,
    /// The segment, if the clip is of one.
    pub segment: Option<Span>,
    /// Which frames are in it: their ordinals, ascending; all without a segment.
    pub inside: Vec<usize>,
    /// The clip's frames, as ordinals of the video.
    pub chosen: Vec<usize>,
    /// What to add for the clip's clock, which is that of its pts.
    pub to_clip: i64,
}

/// A time and a later one. An end that is open is `i64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: i64,
    pub end: i64,
    /// Whether it begins where the video does, and so has what is before its start.
    pub from_first: bool,
}

impl Window {
    /// Where the video begins and ends.
    pub fn video(&self) -> (i64, i64) {
        (self.frames.first().copied().unwrap_or(0), self.end)
    }

    /// Where what the clip is of begins and ends.
    pub fn part(&self) -> (i64, i64) {
        let (first, end) = self.video();
        match self.segment {
            None => (first, end),
            Some(segment) => (segment.start.max(first), segment.end.min(end)),
        }
    }

    /// When 0 is on the clock of a track that counts from the segment.
    pub fn segment_start(&self) -> i64 {
        self.segment.map_or(0, |segment| segment.start)
    }

    /// Which of some times, which do not decrease, are in the segment. Compared in whole microseconds, as frames are.
    pub fn cut(&self, count: usize, time: impl Fn(usize) -> i64) -> std::ops::Range<usize> {
        let Some(segment) = self.segment else { return 0..count };
        let us = |ns: i64| (i128::from(ns) + 500).div_euclid(1000);
        let before = |i: usize| !segment.from_first && us(time(i)) < us(segment.start);
        let in_front = |i: usize| segment.end == i64::MAX || us(time(i)) < us(segment.end);
        let first = partition(count, before);
        first..partition(count, in_front).max(first)
    }
}

/// The first number below `count` for which this is false, where it is true for all before it.
fn partition(count: usize, is: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_its_start_and_not_its_end() {
        let segment = |start, end, from_first| Window {
            frames: vec![0, 40],
            end: 80_000,
            segment: Some(Span { start, end, from_first }),
            inside: vec![],
            chosen: vec![],
            to_clip: 0,
        };
        let times = [-1000, 0, 1000, 2000, 3000];
        let cut = |window: Window| window.cut(times.len(), |i| times[i]);
        assert_eq!(cut(segment(1000, 3000, false)), 2..4);
        assert_eq!(cut(segment(0, 3000, true)), 0..4, "what is before 0 is in it");
        assert_eq!(cut(segment(1000, i64::MAX, false)), 2..5);
        assert_eq!(cut(segment(9000, 9001, false)), 5..5);
    }
}
