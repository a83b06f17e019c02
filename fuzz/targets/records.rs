//! Any bytes as records.
#![no_main]

#[path = "../../tests/common/hostile.rs"]
#[allow(dead_code)]
mod hostile;

libfuzzer_sys::fuzz_target!(|file: &[u8]| hostile::records(file));
