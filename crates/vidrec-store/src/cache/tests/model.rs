//! Tests of one process: the cache behaves like a plain table.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use proptest::prelude::*;

use super::support::{bytes, fill, on_disk, on_disk_at_least, right_pages};
use crate::cache::claims::Claims;
use crate::cache::{PAGE_BYTES, PageCache};

const P: u64 = PAGE_BYTES;
/// Eleven pages. The last one is short.
const LENGTH: u64 = 10 * P + 100;

#[derive(Debug, Clone)]
enum Step {
    Claim(u8, Range<u64>),
    /// Stores the pages in this range that a user has claimed.
    Store(u8, Range<u64>),
    GiveUp(u8, Range<u64>),
    Forget(Range<u64>),
    Evict(u8, Range<u64>),
    Get(Range<u64>),
}

fn step() -> impl Strategy<Value = Step> {
    let range = || (0..LENGTH + P, 0..4 * P).prop_map(|(start, length)| start..start + length);
    prop_oneof![
        3 => (0..2u8, range()).prop_map(|(user, range)| Step::Claim(user, range)),
        3 => (0..2u8, range()).prop_map(|(user, range)| Step::Store(user, range)),
        1 => (0..2u8, range()).prop_map(|(user, range)| Step::GiveUp(user, range)),
        1 => range().prop_map(Step::Forget),
        2 => (0..2u8, range()).prop_map(|(user, range)| Step::Evict(user, range)),
        2 => range().prop_map(Step::Get),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    Absent,
    Vacant,
    Claimed { by: u8, was_vacant: bool },
    Present,
}

struct Model {
    pages: Vec<Page>,
    limit: usize,
}

impl Model {
    fn pages_of(range: &Range<u64>) -> Range<usize> {
        let is_touched = |page: &u64| range.start < LENGTH.min((page + 1) * P) && range.end > page * P;
        let touched: Vec<u64> = (0..11).filter(|page| !range.is_empty() && is_touched(page)).collect();
        touched.first().map_or(0..0, |&first| first as usize..first as usize + touched.len())
    }

    fn taken(&self) -> usize {
        self.pages.iter().filter(|&&page| page != Page::Absent).count()
    }

    fn claim(&mut self, by: u8, range: &Range<u64>) -> [Vec<usize>; 3] {
        let mut claims = [vec![], vec![], vec![]];
        for page in Self::pages_of(range) {
            let to = match self.pages[page] {
                Page::Present => continue,
                Page::Claimed { .. } => 1,
                Page::Absent if self.taken() == self.limit => 2,
                _ => 0,
            };
            if to == 0 {
                self.pages[page] = Page::Claimed { by, was_vacant: self.pages[page] == Page::Vacant };
            }
            claims[to].push(page);
        }
        claims
    }

    /// Removes the pages of a range that can be removed, and returns how many there were.
    fn evict(&mut self, range: &Range<u64>) -> usize {
        let touched = Self::pages_of(range);
        let is_present = |page: usize| self.pages.get(page) == Some(&Page::Present);
        let stays = |page: usize| {
            let (begin, end) = (page as u64 * P, (page as u64 + 1) * P);
            let is_shared = |bytes: bool, page: Option<usize>| bytes && page.is_some_and(is_present);
            let before = is_shared(begin < range.start, page.checked_sub(1));
            let after = is_shared(end > range.end.min(LENGTH), page.checked_add(1));
            before || after || page == 0 || page == 10 || !is_present(page)
        };
        let evicted: Vec<usize> = touched.filter(|&page| !stays(page)).collect();
        evicted.iter().for_each(|&page| self.pages[page] = Page::Absent);
        evicted.len()
    }

    /// The pages of a range that a user has claimed.
    fn claimed(&self, user: u8, range: &Range<u64>) -> Vec<usize> {
        let is_claimed = |&page: &usize| matches!(self.pages[page], Page::Claimed { by, .. } if by == user);
        Self::pages_of(range).filter(is_claimed).collect()
    }
}

fn pages(claims: &Claims) -> [Vec<usize>; 3] {
    [&claims.mine, &claims.others, &claims.full].map(|ranges| ranges.iter().flat_map(Model::pages_of).collect())
}

fn page_range(page: usize) -> Range<u64> {
    page as u64 * P..LENGTH.min((page as u64 + 1) * P)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Two users with slots of their own, as two processes would have.
    #[test]
    fn every_step_is_as_in_a_table(limit in 1..13usize, steps in prop::collection::vec(step(), 1..60)) {
        let _starts = crate::process_starts::none();
        let dir = tempfile::tempdir().unwrap();
        let caches = [0, 1].map(|_| PageCache::open(dir.path(), limit as u64 * P + 9).unwrap());
        let objects = [0, 1].map(|i: usize| caches[i].object("s3://b/o", "1", LENGTH).unwrap());
        let mut model = Model { pages: vec![Page::Absent; 11], limit };
        for step in steps {
            match step {
                Step::Claim(user, range) => {
                    let claims = objects[usize::from(user)].claim(range.clone());
                    prop_assert_eq!(pages(&claims), model.claim(user, &range));
                }
                Step::Store(user, range) => for page in model.claimed(user, &range) {
                    let range = page_range(page);
                    objects[usize::from(user)].store(range.start, &bytes(range)).unwrap();
                    model.pages[page] = Page::Present;
                },
                Step::GiveUp(user, range) => for page in model.claimed(user, &range) {
                    objects[usize::from(user)].give_up(page_range(page));
                    let Page::Claimed { was_vacant, .. } = model.pages[page] else { unreachable!() };
                    model.pages[page] = if was_vacant { Page::Vacant } else { Page::Absent };
                },
                Step::Forget(range) => {
                    objects[0].forget(range.clone());
                    for page in Model::pages_of(&range).filter(|&page| model.pages[page] == Page::Present).collect::<Vec<_>>() {
                        model.pages[page] = Page::Vacant;
                    }
                }
                Step::Evict(user, range) => {
                    let freed = objects[usize::from(user)].evict(&range);
                    // Some systems cannot remove pages from a file.
                    if freed > 0 || cfg!(target_os = "linux") {
                        prop_assert_eq!(freed, model.evict(&range) as u64 * P);
                    }
                }
                Step::Get(range) => {
                    let is_inside = range.end <= LENGTH;
                    let is_there = is_inside && Model::pages_of(&range).all(|page| model.pages[page] == Page::Present);
                    let expected = is_there.then(|| bytes(range.clone()));
                    prop_assert_eq!(objects[1].get(range), expected.as_deref());
                }
            }
            prop_assert_eq!(caches[0].taken(), model.taken() as u64 * P);
            prop_assert!(on_disk_at_least(dir.path()) <= caches[0].taken());
        }
        let present = model.pages.iter().filter(|&&page| page == Page::Present).count() as u64;
        drop((objects, caches));
        let cache = PageCache::open(dir.path(), 100 * P).unwrap();
        prop_assert_eq!(cache.taken(), present * P);
        prop_assert_eq!(right_pages(&cache.object("s3://b/o", "1", LENGTH).unwrap()), present);
        prop_assert!([present * P, (present + 1) * P].contains(&on_disk(dir.path())));
    }
}

#[test]
fn many_threads_fetch_each_page_once() {
    let _starts = crate::process_starts::none();
    let dir = tempfile::tempdir().unwrap();
    let cache = PageCache::open(dir.path(), 1 << 30).unwrap();
    let length = 300 * P + 1;
    let fetched = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..6u64 {
            let (cache, fetched) = (&cache, &fetched);
            scope.spawn(move || {
                let object = cache.object("s3://b/o", "1", length).unwrap();
                for i in 0..150u64 {
                    let start = (i * 7919 + thread * 104_729) % length;
                    let range = start..length.min(start + 3 * P);
                    while object.get(range.clone()).is_none() {
                        fetched.fetch_add(fill(&object, range.clone()), Relaxed);
                        object.wait(range.clone(), Duration::from_secs(60));
                    }
                    assert_eq!(object.get(range.clone()).unwrap(), bytes(range));
                }
                fetched.fetch_add(fill(&object, 0..length), Relaxed);
                object.wait(0..length, Duration::from_secs(60));
            });
        }
    });
    assert_eq!(fetched.load(Relaxed), length);
    assert_eq!(cache.taken(), 301 * P);
    assert_eq!(right_pages(&cache.object("s3://b/o", "1", length).unwrap()), 301);
}

#[test]
fn a_wait_ends_when_the_page_arrives_or_is_given_up_and_at_the_latest_in_time() {
    let _starts = crate::process_starts::none();
    let dir = tempfile::tempdir().unwrap();
    let caches = [0, 1].map(|_| PageCache::open(dir.path(), 1 << 20).unwrap());
    let [a, b] = [0, 1].map(|i: usize| caches[i].object("s3://b/o", "1", LENGTH).unwrap());
    assert_eq!(a.claim(0..2 * P).mine, [0..2 * P]);
    b.wait(0..1, Duration::from_millis(3));
    assert_eq!(b.claim(0..3 * P), Claims { mine: vec![2 * P..3 * P], others: vec![0..2 * P], full: vec![] });
    let long = Duration::from_secs(3600);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| b.wait(0..2 * P, long));
        let same_process = scope.spawn(|| a.wait(0..2 * P, long));
        a.store(0, &bytes(0..P)).unwrap();
        a.give_up(P..2 * P);
        waiting.join().unwrap();
        same_process.join().unwrap();
    });
    b.wait(LENGTH..u64::MAX, Duration::MAX);
    assert_eq!(b.get(0..P).unwrap(), bytes(0..P));
    assert_eq!(b.claim(0..2 * P).mine, [P..2 * P]);
    // Closing the object gives up its claims.
    drop((b, a));
    let a = caches[0].object("s3://b/o", "1", LENGTH).unwrap();
    assert_eq!((a.claim(0..3 * P).mine, caches[0].taken()), (vec![P..3 * P], 3 * P));
}

#[test]
fn what_was_not_claimed_is_not_stored() {
    let _starts = crate::process_starts::none();
    let dir = tempfile::tempdir().unwrap();
    let cache = PageCache::open(dir.path(), 1 << 20).unwrap();
    let object = cache.object("s3://b/o", "1", LENGTH).unwrap();
    assert!(object.store(0, &bytes(0..P)).unwrap_err().to_string().contains("not claimed"));
    object.claim(0..LENGTH);
    for (at, length) in [(1, P), (0, P - 1), (10 * P, 101), (10 * P, 99), (u64::MAX, 1), (11 * P, P)] {
        let e = object.store(at, &vec![0; length as usize]).unwrap_err();
        assert!(e.to_string().contains("not pages of the object"), "{at} {length} {e}");
    }
    object.store(0, &[]).unwrap();
    object.store(10 * P, &bytes(10 * P..LENGTH)).unwrap();
    assert_eq!(right_pages(&object), 1);
    assert_eq!(object.get(LENGTH..LENGTH), Some(&[][..]));
    let backwards = Range { start: 5, end: 4 };
    assert!(object.get(backwards).is_none() && object.get(0..u64::MAX).is_none());
    let empty = cache.object("s3://b/empty", "1", 0).unwrap();
    assert_eq!((empty.len(), empty.get(0..0), empty.claim(0..1)), (0, Some(&[][..]), Claims::default()));
}
