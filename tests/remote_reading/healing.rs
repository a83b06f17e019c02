//! Bytes that are flipped on the way, or in the object.

use fault_proxy::{Fault, Rule};
use vidrec::order::Order;
use vidrec::{Dataset, Error, ErrorKind};

use crate::common::data_set_server::{Served, epoch};
use crate::common::sample_data_sets;
use crate::common::{names, options, says, sources};
use crate::remote_reading::equal::of_order;
use crate::remote_reading::tracks::with_tracks;

/// Each request once, at several bytes.
#[test]
fn a_flipped_byte_in_any_one_answer_is_healed_or_nothing_to_anyone() {
    let o = of_order(Order::Shuffled, options(6, (32, 24)));
    let served = Served::new(sample_data_sets::small(&[20, 10]));
    let expected = epoch(&served.local(), &o, 0).unwrap();
    let known = sources(&served.local());
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
                    assert_eq!(sources(&set), known, "{what}");
                }
                faults += served.server.counts().faults;
                tried += 1;
            }
        }
    }
    assert!(faults > tried / 3, "{faults} of {tried}");
}

/// At open or later: as of the local data set, with the location in place of the path.
#[test]
fn damage_to_anything_else_is_the_error_of_the_local_data_set() {
    let served = Served::new(sample_data_sets::tracked(&[9, 8]));
    let options = with_tracks(of_order(Order::Sequential, options(3, (24, 16))));
    let file = |name: &str| names::file(served.dir(), name);
    let numbers: Vec<u8> = sample_data_sets::sound(13).into_iter().flat_map(i16::to_le_bytes).collect();
    let tracks = std::fs::read(file("shard-00001.vtrk")).unwrap();
    let sound = tracks.windows(numbers.len()).position(|window| window == numbers).unwrap();
    let record = served.local().clip(4).unwrap().frame(1).unwrap().offset() as usize + 300;
    // In an index, three frames for each of nine clips come first.
    let clips = 64 + 32 * 27;
    for (name, at, words) in [
        ("shard-00000.vidx", 64 + 32 * 13 + 8, &["frame entry"][..]),
        ("shard-00000.vidx", clips + 80 * 4 + 20, &["clip entry"]),
        ("shard-00001.vtrk", sound + 5, &["\"sound\"", "CRC-32"]),
        ("shard-00001.vtrk", 9, &[]),
        ("shard-00001.vtrk", tracks.len() - 20, &[]),
        ("shard-00000.rec", record, &["CRC-32", "fetched twice"]),
        ("shard-00000.rec", 20, &[]),
        ("shard-00000.vidx", 20, &[]),
        ("dataset.json", 20, &[]),
    ] {
        let path = file(name);
        let whole = std::fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        let [local, remote] = [Dataset::open(served.dir()), served.open()]
            .map(|set| set.and_then(|set| epoch(&set, &options, 0)).unwrap_err());
        let place = |e: &Error| (e.kind(), e.rule().map(str::to_owned), e.clip(), e.frame(), e.offset());
        assert_eq!(place(&remote), place(&local), "{name}: {remote:#}");
        says(name, &remote, &[&[path.file_name().unwrap().to_str().unwrap()], words].concat());
        assert!(remote.path().unwrap().to_str().unwrap().starts_with(&served.url()), "{remote:#}");
        std::fs::write(&path, whole).unwrap();
    }
}
