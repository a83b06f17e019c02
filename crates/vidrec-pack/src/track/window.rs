//! The part of a video that a clip covers, in nanoseconds.

/// The frames of a video, and the part of it that a clip covers. Times are on the clock of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// The time of each frame of the video.
    pub frames: Vec<i64>,
    /// The time at which the last frame ends.
    pub end: i64,
    /// The segment, if the clip covers one.
    pub segment: Option<Span>,
    /// The ordinals of the frames in the segment, ascending. Without a segment, all frames.
    pub inside: Vec<usize>,
    /// The clip's frames, as ordinals of the video.
    pub chosen: Vec<usize>,
    /// The offset from this clock to the clip's clock, which is that of its pts.
    pub to_clip: i64,
}

/// The time from `start` to `end`. An open end is `i64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: i64,
    pub end: i64,
    /// Whether the span begins where the video does, and so includes everything before its start.
    pub from_first: bool,
}

impl Window {
    /// Returns the start and end of the video.
    pub fn video(&self) -> (i64, i64) {
        (self.frames.first().copied().unwrap_or(0), self.end)
    }

    /// Returns the start and end of the part that the clip covers.
    pub fn part(&self) -> (i64, i64) {
        let (first, end) = self.video();
        match self.segment {
            None => (first, end),
            Some(segment) => (segment.start.max(first), segment.end.min(end)),
        }
    }

    /// Returns the time of 0 on the clock of a track that counts from the segment.
    pub fn segment_start(&self) -> i64 {
        self.segment.map_or(0, |segment| segment.start)
    }

    /// Returns which of some ascending times are in the segment. They are compared in whole microseconds, as
    /// frames are.
    pub fn cut(&self, count: usize, time: impl Fn(usize) -> i64) -> std::ops::Range<usize> {
        let Some(segment) = self.segment else { return 0..count };
        let us = |ns: i64| (i128::from(ns) + 500).div_euclid(1000);
        let before = |i: usize| !segment.from_first && us(time(i)) < us(segment.start);
        let in_front = |i: usize| segment.end == i64::MAX || us(time(i)) < us(segment.end);
        let first = partition(count, before);
        first..partition(count, in_front).max(first)
    }
}

/// Returns the first number below `count` for which `is` is false, if it is true for all numbers before.
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
