//! What verifying a data set on a server costs, and what it says of damage there and on the way.

use std::fs;
use std::path::Path;

use fault_proxy::{Fault, Rule};
use sha2::{Digest, Sha256};
use vidrec::{Storage, VerifyOptions, VerifyReport, no_progress, verify};

use crate::common::damage;
use crate::common::data_set_server::{Served, storage};
use crate::common::sample_data_sets;

fn report(served: &Served, deep: bool) -> VerifyReport {
    verify(served.url(), VerifyOptions { deep, storage: storage() }, &mut no_progress).unwrap()
}

/// Bytes of all files of the data set.
fn all_bytes(served: &Served) -> u64 {
    fs::read_dir(served.dir()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn each_file_is_downloaded_once() {
    // Of 20 MB: more than is decoded at a time.
    let served = Served::new(sample_data_sets::large(&[150, 380]));
    for deep in [false, true] {
        served.server.reset_counts();
        let found = report(&served, deep);
        assert!(found.ok && found.frames == 4 * 530, "{found:?}");
        let (came, all) = (served.server.counts().body_bytes, all_bytes(&served));
        assert!(came * 100 <= all * 105, "deep {deep}: {came} bytes of {all}");
    }
}

#[test]
fn damage_is_found_as_in_local_files_and_what_is_damaged_on_the_way_is_not() {
    let served = Served::new(sample_data_sets::small(&[20]));
    list_a_failure(&served.dir());
    let answers = (1..5).flat_map(|nth| [(".rec", nth), (".vidx", nth)]).chain([("failures-", 1)]);
    for (path, nth) in answers {
        served.server.rules().clear();
        served.server.reset_counts();
        served.server.rules().add(Rule::new(Fault::FlippedByte { at: 3000 }).path(path).nth(nth));
        let found = report(&served, true);
        assert!(found.ok && served.server.counts().faults == 1, "answer {nth} of {path}: {found:?}");
    }
    served.server.rules().clear();
    damage(&served.dir(), 11, 1);
    let kinds = |report: VerifyReport| {
        report.problems.into_iter().map(|p| (p.kind, p.clip, p.frame)).filter(|(kind, ..)| kind != "jpeg-decode")
    };
    let options = VerifyOptions { deep: true, storage: Storage::default() };
    let local = kinds(verify(served.dir(), options, &mut no_progress).unwrap());
    assert!(kinds(report(&served, true)).eq(local));
}

/// As a pack lists a video that it could not read.
fn list_a_failure(dir: &Path) {
    let line = b"{\"item\":20,\"source\":\"videos/20.mp4\",\"stage\":\"open\",\"error\":\"no video\"}\n";
    let sha256: String = Sha256::digest(line).iter().map(|byte| format!("{byte:02x}")).collect();
    let file = format!("failures-{}.jsonl", &sha256[..12]);
    fs::write(dir.join(&file), line).unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("dataset.json")).unwrap()).unwrap();
    json["failures"] = serde_json::json!({"file": file, "count": 1, "sha256": sha256});
    fs::write(dir.join("dataset.json"), json.to_string()).unwrap();
}
