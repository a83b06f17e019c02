//! Batches that never change: what loaders of all kinds give of a data set that is committed, against a table that is, too.

use std::fs;
use std::path::Path;

use vidrec::Dataset;

#[allow(dead_code)]
#[path = "../../examples/batch_digests.rs"]
pub mod batch_digests;

#[test]
fn batches_are_what_they_have_always_been() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let table = fs::read_to_string(corpus.join("batches.txt")).unwrap();
    let dataset = Dataset::open(corpus.join("clips")).unwrap();
    let comments = table.lines().filter(|line| line.starts_with('#')).map(str::to_owned);
    let now: Vec<String> = comments
        .chain(batch_digests::options_in(&table).map(|options| batch_digests::line(&dataset, options)))
        .collect();
    if std::env::var_os("VIDREC_UPDATE").is_some() {
        fs::write(corpus.join("batches.txt"), now.join("\n") + "\n").unwrap();
        return;
    }
    let differ: Vec<_> = table.lines().zip(&now).filter(|(before, now)| before != now).collect();
    assert!(differ.is_empty(), "before and now: options | what is drawn | values\n{differ:#?}");
}
