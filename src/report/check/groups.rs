//! Groups clips that belong together, by a union-find.

use std::collections::BTreeMap;

/// Groups of numbers from 0. At first each number is a group.
#[derive(Debug)]
pub(super) struct Groups {
    /// A smaller number of the same group, or the number itself if it is the smallest.
    up: Vec<u32>,
}

impl Groups {
    pub fn new(count: u32) -> Self {
        Groups { up: (0..count).collect() }
    }

    /// Returns the smallest number of the group of `i`.
    pub fn first(&mut self, mut i: u32) -> u32 {
        while self.up[i as usize] != i {
            let next = self.up[self.up[i as usize] as usize];
            self.up[i as usize] = next;
            i = next;
        }
        i
    }

    /// Joins the groups of `a` and `b`.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.up[a.max(b) as usize] = a.min(b);
    }

    /// Returns the groups of several numbers, in order of their smallest number.
    pub fn several(mut self) -> Vec<Vec<u32>> {
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for i in 0..self.up.len() as u32 {
            let first = self.first(i);
            if first != i {
                groups.entry(first).or_insert_with(|| vec![first]).push(i);
            }
        }
        groups.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_that_are_connected() {
        let mut groups = Groups::new(8);
        for (a, b) in [(6, 7), (1, 6), (3, 2), (7, 1)] {
            groups.join(a, b);
        }
        assert_eq!((groups.first(7), groups.first(4)), (1, 4));
        assert_eq!(groups.several(), [vec![1, 6, 7], vec![2, 3]]);
    }
}
