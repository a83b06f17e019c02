//! The known next uses of clips, and the idle clip that is used last.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;

/// There is no known use.
pub(super) const NEVER: u64 = u64::MAX;

/// The uses of clips in order, each with a number. They are the uses of planned batches that are not done, and
/// later uses.
#[derive(Debug, Default)]
pub(super) struct Foresight {
    uses: VecDeque<Use>,
    /// The first use that is not done. `planned` is the first use that is not planned.
    done: u64,
    planned: u64,
    /// The last known use of each clip.
    last: HashMap<u64, u64>,
    /// The idle clips, by their next use. A clip is idle if it was used and no planned batch needs it.
    idle: BTreeSet<(u64, u64)>,
}

#[derive(Debug)]
struct Use {
    clip: u64,
    /// The next use of the same clip.
    next: u64,
}

impl Foresight {
    /// The known uses that are not planned: the first of them, and the one after the last.
    pub fn known(&self) -> Range<u64> {
        self.planned..self.done + self.uses.len() as u64
    }

    /// Adds a use of `clip` after the last known use.
    pub fn see(&mut self, clip: u64) {
        let at = self.known().end;
        if let Some(before) = self.last.insert(clip, at) {
            match before.checked_sub(self.done).and_then(|before| self.uses.get_mut(before as usize)) {
                Some(before) => before.next = at,
                // The clip may be idle, or evicted.
                None if self.idle.remove(&(NEVER, clip)) => _ = self.idle.insert((at, clip)),
                None => {}
            }
        }
        self.uses.push_back(Use { clip, next: NEVER });
    }

    /// Marks the uses before `end` as planned. Returns the next use of each clip whose uses became planned.
    pub fn plan(&mut self, end: u64) -> HashMap<u64, u64> {
        let begin = (self.planned - self.done) as usize;
        let planned = self.uses.range(begin..(end - self.done) as usize);
        let mut next_uses = HashMap::new();
        for (at, one) in (self.planned..).zip(planned) {
            self.idle.remove(&(at, one.clip));
            next_uses.insert(one.clip, one.next);
        }
        self.planned = end;
        next_uses
    }

    /// Marks the batches with the uses before `end` as done.
    pub fn finish(&mut self, end: u64) {
        while self.done < end.min(self.planned) {
            let Some(one) = self.uses.pop_front() else { return };
            self.done += 1;
            // Otherwise, another planned batch needs the clip.
            if one.next >= self.planned {
                self.idle.insert((one.next, one.clip));
            }
        }
    }

    /// Removes and returns the idle clip that is used last, if its use is later than `next`.
    pub fn farthest(&mut self, next: u64) -> Option<u64> {
        let &(farthest, clip) = self.idle.last()?;
        if farthest <= next {
            return None;
        }
        self.idle.pop_last();
        Some(clip)
    }

    /// Forgets all uses, but keeps the clips. New uses count from now on.
    pub fn restart(&mut self) {
        self.finish(self.planned);
        let at = self.known().end + 1;
        let clips = std::mem::take(&mut self.idle).into_iter().map(|(_, clip)| clip);
        self.idle = clips.map(|clip| (NEVER, clip)).collect();
        self.last = self.idle.iter().map(|&(_, clip)| (clip, 0)).collect();
        self.uses.clear();
        (self.done, self.planned) = (at, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(clips: &[u64]) -> Foresight {
        let mut foresight = Foresight::default();
        clips.iter().for_each(|&clip| foresight.see(clip));
        foresight
    }

    #[test]
    fn the_clip_that_is_used_last_goes_first_and_none_that_a_planned_batch_needs() {
        let mut foresight = of(&[7, 8, 9, 7, 9, 8, 8]);
        assert_eq!(foresight.plan(3), HashMap::from([(7, 3), (8, 5), (9, 4)]));
        assert_eq!(foresight.farthest(0), None, "none is done");
        foresight.finish(2);
        assert_eq!(foresight.farthest(5), None, "8 is used no later");
        assert_eq!(foresight.plan(4), HashMap::from([(7, NEVER)]));
        assert_eq!([foresight.farthest(4), foresight.farthest(0)], [Some(8), None]);
        foresight.finish(4);
        assert_eq!([foresight.farthest(0), foresight.farthest(0), foresight.farthest(0)], [Some(7), Some(9), None]);
        assert_eq!(foresight.known(), 4..7);
    }

    #[test]
    fn a_use_that_becomes_known_late_counts() {
        let mut foresight = of(&[7, 8]);
        foresight.plan(2);
        foresight.finish(2);
        foresight.see(7);
        assert_eq!([foresight.farthest(2), foresight.farthest(2), foresight.farthest(1)], [Some(8), None, Some(7)]);
    }

    #[test]
    fn after_a_restart_the_clips_are_known_and_their_uses_are_not() {
        let mut foresight = of(&[7, 8, 9, 9, 8]);
        foresight.plan(3);
        foresight.restart();
        [8, 7].into_iter().for_each(|clip| foresight.see(clip));
        let known = foresight.known();
        assert_eq!(known.end - known.start, 2);
        assert_eq!(foresight.farthest(0), Some(9));
        assert_eq!(foresight.plan(known.start + 1), HashMap::from([(8, NEVER)]));
        assert_eq!([foresight.farthest(0), foresight.farthest(0)], [Some(7), None]);
    }
}
