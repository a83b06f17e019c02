//! A process that is forked from one that reads.

use std::process::Stdio;

use vidrec::order::Order;
use vidrec::{Dataset, Loader};

use crate::common::until::until;
use crate::common::{options, own_process};
use crate::remote_reading::equal::of_order;
use crate::remote_reading::served::{Served, epoch, storage};
use crate::remote_reading::sets;

const LOCATIONS: &str = "VIDREC_TEST_FORK";

/// In a process of its own, because a fork of one with many threads may only do little.
#[test]
fn a_forked_process_reads_what_its_parent_opened() {
    let served = Served::new(sets::large(&[20, 20]));
    served.server.link().set_latency(std::time::Duration::from_millis(20));
    let locations = format!("{} {}", served.dir().display(), served.url());
    let mut helper = own_process::command(module_path!(), "helper");
    let mut helper = helper.env(LOCATIONS, locations).stdout(Stdio::null()).spawn().unwrap();
    until("the helper ends", || helper.try_wait().unwrap().is_some());
    assert!(helper.wait().unwrap().success());
}

/// Not a test by itself: it does nothing unless the one above starts it.
#[test]
fn helper() {
    let Ok(locations) = std::env::var(LOCATIONS) else { return };
    let (local, remote) = locations.split_once(' ').unwrap();
    let o = of_order(Order::Shuffled, options(4, (16, 16)));
    let expected = epoch(&Dataset::open(local).unwrap(), &o, 0).unwrap();
    let set = Dataset::open_with(remote, storage()).unwrap();
    let loader = Loader::new(&set, o.clone()).unwrap();
    let mut batches = loader.iter(0).unwrap();
    assert!(*batches.next().unwrap().unwrap() == expected[0]);
    // While requests are on their way.
    // SAFETY: the child uses memory of its own, which glibc keeps usable, and ends with `_exit`.
    match unsafe { libc::fork() } {
        0 => {
            let frames = |clip: u64| set.clip(clip)?.frames().try_for_each(|frame| frame?.check());
            let is_right = (0..set.len()).all(|clip| frames(clip).is_ok())
                && epoch(&set, &o, 0).is_ok_and(|found| found == expected);
            // SAFETY: always.
            unsafe { libc::_exit(i32::from(!is_right)) }
        }
        child => {
            assert!(child > 0);
            assert!(batches.map(|batch| batch.unwrap().into_batch()).eq(expected[1..].iter().cloned()));
            let mut status = -1;
            // SAFETY: `status` is an int.
            until("the child ends", || unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == child);
            assert_eq!(status, 0, "the child could not read");
        }
    }
}
