//! Fuzzes the readers of files, messages and answers, one at a time: `VIDREC_READER` names it.
#![no_main]

use std::sync::LazyLock;

#[path = "../readers.rs"]
#[allow(dead_code)]
mod readers;

static READER: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("VIDREC_READER").unwrap_or_default();
    let found = readers::ALL.iter().find(|(known, _)| *known == name);
    let names: Vec<_> = readers::ALL.iter().map(|(name, _)| *name).collect();
    found.unwrap_or_else(|| panic!("VIDREC_READER is none of {}", names.join(" "))).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| READER(bytes));
