//! Objects that are replaced while a data set is open.

use fault_proxy::{Etags, Fault, Rule};
use vidrec::order::Order;
use vidrec::{Loader, LoaderOptions};

use crate::common::data_set_server::{Served, epoch};
use crate::common::sample_data_sets;
use crate::common::{names, options, says};
use crate::remote_reading::equal::of_order;

/// The record file gets another version with other bytes where no clip of these is.
fn replace(served: &Served, more: &[u8]) {
    let path = names::file(served.dir(), "shard-00000.rec");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    bytes.extend_from_slice(more);
    let new = served.folder.path().join("new");
    std::fs::write(&new, bytes).unwrap();
    std::fs::rename(new, path).unwrap();
}

fn shuffled() -> LoaderOptions {
    of_order(Order::Shuffled, options(4, (32, 24)))
}

#[test]
fn a_replaced_object_is_an_error_that_says_so() {
    for etags in [Etags::Strong, Etags::Weak] {
        let served = Served::by(sample_data_sets::small(&[40]), |origin| origin.etags(etags));
        let set = served.open().unwrap();
        let expected = epoch(&served.local(), &shuffled(), 0).unwrap();
        let loader = Loader::new(&set, shuffled()).unwrap();
        assert!(loader.batch(0, 0).unwrap() == expected[0]);
        replace(&served, b"");
        says("replaced", &loader.batch(0, 1).unwrap_err(), &["was replaced", ".rec", "open the data set again"]);
        let e = epoch(&set, &shuffled(), 0).unwrap_err();
        says("replaced", &e, &["was replaced", ".rec", "open the data set again"]);
        assert!(e.clip().is_some(), "{e:#}");
    }
}

#[test]
fn another_length_is_another_version_where_there_are_no_tags() {
    let served = Served::by(sample_data_sets::small(&[40]), |origin| origin.etags(Etags::None));
    let set = served.open().unwrap();
    replace(&served, b"more");
    says("longer", &epoch(&set, &shuffled(), 0).unwrap_err(), &["was replaced", "open the data set again"]);
}

/// The first bytes of an object and what comes after them are of one version, although the first answer breaks off.
#[test]
fn an_object_that_is_replaced_while_it_is_opened_is_of_one_version() {
    let served = Served::new(sample_data_sets::small(&[40]));
    let index = names::file(served.dir(), "shard-00000.vidx");
    served.server.rules().add(Rule::new(Fault::Short { after: 2000 }).path(".vidx").nth(1));
    let set = served.open().unwrap();
    let log = served.log(".vidx");
    // The second answer must have the tag of the first one.
    assert!(log.len() > 1 && log[1].1.asked(std::fs::metadata(index).unwrap().len()).start == 2000, "{log:?}");
    assert_eq!(set.clip(39).unwrap().source().unwrap(), "videos/39.mp4");
}
