//! Packs to a store that are killed at any moment. `VIDREC_SOAK=1` tries a hundred moments instead of some.

use std::fs;

use crate::common::ffmpeg_videos;
use crate::common::until::until;
use crate::remote_writing::store::{Store, same};

const OPTIONS: &str = "--shards 3 -j 1 -n 4";

fn moments() -> u64 {
    if std::env::var_os("VIDREC_SOAK").is_some() { 100 } else { 3 }
}

/// Small videos in `in`.
pub fn make_videos(store: &Store, count: u32) {
    fs::create_dir(store.path("in")).unwrap();
    let first = store.path("in/0000.mp4");
    ffmpeg_videos::make("-f lavfi -i testsrc2=size=64x48:rate=10:duration=1 -c:v mpeg4", &first);
    for i in 1..count {
        fs::copy(&first, store.path(&format!("in/{i:04}.mp4"))).unwrap();
    }
}

#[test]
fn a_killed_pack_is_resumed() {
    let store = Store::new();
    make_videos(&store, 30);
    let pack = |out: &str| format!("pack in -o {out} {OPTIONS}");
    store.ends(0, &pack("local"));
    store.ends(0, &pack("s3://bucket/train"));
    let requests = store.server.counts().requests;
    same("not killed", &store.objects("train"), &store.files("local"));
    let mut killed = 0;
    for moment in 0..moments() {
        store.clear();
        let mut child = store.command(&pack("s3://bucket/train")).spawn().unwrap();
        let request = requests * (moment * 2 + 1) / (moments() * 2);
        until("it has come so far", || {
            store.server.counts().requests >= request || child.try_wait().unwrap().is_some()
        });
        child.kill().unwrap();
        child.wait().unwrap();
        killed += u32::from(!store.objects("train").contains_key("dataset.json"));
        // Where it was published, it says so, and removes what was left of the work.
        store.ends(0, &format!("{} --if-exists resume", pack("s3://bucket/train")));
        store.has_no_scratch(&format!("moment {moment}"));
        same(&format!("moment {moment}"), &store.objects("train"), &store.files("local"));
    }
    assert!(killed > 0, "none was killed before its end");
}

#[test]
fn a_finished_pack_says_that_it_is_and_another_one_is_refused() {
    let store = Store::new();
    make_videos(&store, 4);
    fs::write(store.path("in/broken.mp4"), b"<html>404</html>").unwrap();
    for shards in ["1", "2"] {
        store.clear();
        let pack = |more: &str| format!("pack in -o s3://bucket/train --shards {shards} {more}");
        store.ends(3, &pack("-n 4"));
        let objects = store.objects("train");
        let run = store.run(&pack("-n 4"));
        let said = String::from_utf8(run.stdout).unwrap();
        assert!(run.status.code() == Some(3) && said.contains("is finished, with 4 clips"), "{shards}: {said}");
        assert!(store.ends(1, &pack("-n 3")).contains("another data set here"));
        same(shards, &store.objects("train"), &objects);
        store.has_no_scratch(shards);
    }
}

#[test]
fn other_settings_do_not_resume_what_is_in_the_bucket() {
    use fault_proxy::{Fault, Rule};
    let store = Store::new();
    make_videos(&store, 3);
    store.server.rules().add(Rule::new(Fault::Forbidden).method("PUT").path("shard-00002"));
    let pack = |options: &str| format!("pack in -o s3://bucket/train --shards 3 -j 1 {options}");
    let said = store.ends(1, &pack("-n 4"));
    assert!(said.contains("2 of 3 videos are safely on disk") && said.contains("--if-exists resume"), "{said}");
    store.server.rules().clear();
    let said = store.ends(1, &pack("-n 4"));
    assert!(said.contains("interrupted pack, with 2 of 3 videos done"), "{said}");
    let said = store.ends(1, &pack("-n 3 --if-exists resume"));
    assert!(said.contains("the setting \"frames\" changed since it began"), "{said}");
    store.ends(0, &pack("-n 3 --if-exists replace"));
    store.ends(0, "pack in -o local -n 3 --shards 3");
    same("restarted", &store.objects("train"), &store.files("local"));
    store.has_no_scratch("restarted");
}
