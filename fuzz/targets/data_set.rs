//! Any bytes as index and record file: opened, read and verified.
#![no_main]

#[path = "../../tests/common/hostile.rs"]
#[allow(dead_code)]
mod hostile;

libfuzzer_sys::fuzz_target!(|input: &[u8]| hostile::data_set(input));
