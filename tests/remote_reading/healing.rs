//! Bytes that are flipped on the way, or in the object.

use fault_proxy::{Fault, Rule};
use vidrec::order::Order;
use vidrec::{Dataset, ErrorKind};

use crate::common::served::{Served, epoch};
use crate::common::sets;
use crate::common::{damage, names, options, says};
use crate::remote_reading::equal::of_order;

/// Each request once, at several bytes.
#[test]
fn a_flipped_byte_in_any_one_answer_is_healed_or_nothing_to_anyone() {
    let o = of_order(Order::Shuffled, options(6, (32, 24)));
    let served = Served::new(sets::small(&[20, 10]));
    let expected = epoch(&served.local(), &o, 0).unwrap();
    let describe = |set: &Dataset| set.clips().map(|clip| clip.unwrap().source().unwrap()).collect::<Vec<_>>();
    let sources = describe(&served.local());
    let (mut faults, mut tried) = (0, 0);
    for path in [".vidx", ".rec", "dataset.json"] {
        for nth in 1..12 {
            for at in [3, 700, 3000] {
                served.server.rules().clear();
                served.server.rules().add(Rule::new(Fault::FlippedByte { at }).path(path).nth(nth));
                served.server.reset_counts();
                let what = format!("byte {at} of answer {nth} of {path}");
                let set = match served.open() {
                    Ok(set) => set,
                    // In names and numbers of shards that prove to be others.
                    Err(e) if path == "dataset.json" => {
                        assert!(matches!(e.kind(), ErrorKind::Format | ErrorKind::Io | ErrorKind::Usage), "{e:#}");
                        continue;
                    }
                    Err(e) => panic!("{what}: {e:#}"),
                };
                match epoch(&set, &o, 0) {
                    Ok(found) => assert!(found == expected, "{what}"),
                    Err(e) if path == "dataset.json" => says(&what, &e, &["dataset.json"]),
                    Err(e) => panic!("{what}: {e:#}"),
                }
                if path != "dataset.json" {
                    assert_eq!(describe(&set), sources, "{what}");
                }
                faults += served.server.counts().faults;
                tried += 1;
            }
        }
    }
    assert!(faults > tried / 3, "{faults} of {tried}");
}

#[test]
fn damage_that_stays_is_an_error_with_its_place() {
    let served = Served::new(sets::small(&[20]));
    damage(&served.dir(), 11, 1);
    let local = served.local();
    let offset = local.clip(11).unwrap().frame(1).unwrap().offset();
    let set = served.open().unwrap();
    let e = epoch(&set, &of_order(Order::Sequential, options(4, (32, 24))), 0).unwrap_err();
    assert_eq!(
        (e.kind(), e.clip(), e.frame(), e.offset()),
        (ErrorKind::Format, Some(11), Some(1), Some(offset)),
        "{e:#}"
    );
    says("record", &e, &["set/shard-00000", ".rec", "CRC-32", "fetched twice"]);
    assert!(e.path().unwrap().to_str().unwrap().starts_with(&served.url()), "{e:#}");
    let e = set.clip(11).unwrap().frame(1).map(drop).unwrap_err();
    assert_eq!((e.clip(), e.frame()), (Some(11), Some(1)), "{e:#}");
    assert!(set.clip(11).unwrap().frame(0).is_ok());
}

/// In the table of clips, then in that of frames.
#[test]
fn damage_in_an_index_is_an_error_with_its_place() {
    for (word, what) in [("clip entry", "clip"), ("frame entry", "frame")] {
        let served = Served::new(sets::small(&[20]));
        let index = names::file(served.dir(), "shard-00000.vidx");
        let mut bytes = std::fs::read(&index).unwrap();
        // Near the middle of each table: frames come first.
        let at = if what == "frame" { 64 + 32 * 30 + 8 } else { find(&bytes, 20) };
        bytes[at] ^= 16;
        std::fs::write(&index, bytes).unwrap();
        let o = of_order(Order::Sequential, options(4, (32, 24)));
        let remote = served.open().and_then(|set| epoch(&set, &o, 0)).unwrap_err();
        let local = Dataset::open(served.dir()).and_then(|set| epoch(&set, &o, 0)).unwrap_err();
        assert_eq!((remote.kind(), remote.rule(), remote.clip()), (local.kind(), local.rule(), local.clip()), "{word}");
        assert_eq!((remote.offset(), remote.frame()), (local.offset(), local.frame()), "{remote:#}");
        says(what, &remote, &[word, ".vidx"]);
    }
}

/// A byte in the entry of the middle one of `clips` clips.
fn find(index: &[u8], clips: usize) -> usize {
    let frames = 3 * clips;
    let after_frames = 64 + 32 * frames;
    assert!(index.len() > after_frames + 80 * clips);
    after_frames.next_multiple_of(8) + 80 * (clips / 2) + 20
}

/// Damage to what every reader needs is an error at open, as it is on disk.
#[test]
fn damage_to_the_ends_of_files_is_an_error_at_open() {
    for name in ["shard-00000.rec", "shard-00000.vidx", "dataset.json"] {
        let served = Served::new(sets::small(&[20]));
        let path = names::file(served.dir(), name);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[20] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let (remote, local) = (served.open().unwrap_err(), Dataset::open(served.dir()).unwrap_err());
        assert_eq!((remote.kind(), remote.rule()), (local.kind(), local.rule()), "{remote:#}");
        says(name, &remote, &[path.file_name().unwrap().to_str().unwrap()]);
    }
}
