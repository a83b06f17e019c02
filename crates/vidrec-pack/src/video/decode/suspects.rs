//! Finds the frames that come from packets at which FFmpeg logged an error.

use std::collections::BTreeSet;

use ffmpeg_next::{frame, picture};

/// The packets at which FFmpeg logged errors, identified by their times, which their frames share.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    /// The time of the packet that the decoder is working on.
    current: Option<i64>,
    /// The number of pictures that the decoder holds back.
    delay: u32,
    times: BTreeSet<i64>,
    /// The next `untimed` frames that others may refer to are suspects, and so is every frame before the last of
    /// them. This is set if an error was logged at a packet without a time (AVI, bare streams), because the frame
    /// of that packet cannot be identified.
    untimed: u32,
}

impl Suspects {
    /// Records that the decoder receives a packet with the time `pts` while it holds back `delay` pictures.
    pub fn begin(&mut self, pts: Option<i64>, delay: u32) {
        if self.delay == 0 {
            self.untimed = 0; // the frame of the error would have come out already
        }
        (self.current, self.delay) = (pts, delay);
    }

    /// Records that an error was logged.
    pub fn add(&mut self) {
        match self.current {
            Some(pts) => drop(self.times.insert(pts)),
            None => self.untimed = self.delay.saturating_add(1),
        }
    }

    /// Whether a frame that comes out is a suspect.
    pub fn has(&mut self, frame: &frame::Video) -> bool {
        self.is_suspect(frame.pts(), frame.kind() == picture::Type::B)
    }

    fn is_suspect(&mut self, pts: Option<i64>, is_b: bool) -> bool {
        let untimed = self.untimed > 0;
        self.untimed = self.untimed.saturating_sub(u32::from(!is_b));
        untimed || pts.is_some_and(|pts| self.times.contains(&pts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_known_by_their_time() {
        let mut suspects = Suspects::default();
        suspects.begin(Some(40), 2);
        suspects.add();
        suspects.begin(Some(20), 2);
        let mut is = |pts| suspects.is_suspect(Some(pts), false);
        assert_eq!([10, 20, 40, 50].map(&mut is), [false, false, true, false]);
    }

    /// The frames are coded as I0 P3 B1 B2 P6 and come out as I0 B1 B2 P3.
    #[test]
    fn without_times_all_that_may_be_it_are_suspected() {
        let mut suspects = Suspects::default();
        suspects.begin(None, 1);
        assert!(!suspects.is_suspect(None, false));
        suspects.begin(None, 1); // P3
        suspects.add();
        for (is_b, suspect) in [(false, true), (true, true), (true, true), (false, true), (true, false)] {
            assert_eq!(suspects.is_suspect(None, is_b), suspect);
            suspects.begin(None, 1);
        }
    }

    #[test]
    fn without_times_and_delay_a_refused_packet_spoils_no_other_frame() {
        let mut suspects = Suspects::default();
        suspects.begin(None, 0);
        suspects.add();
        suspects.begin(None, 0);
        assert!(!suspects.is_suspect(None, false));
        suspects.add();
        assert!(suspects.is_suspect(None, false));
    }
}
