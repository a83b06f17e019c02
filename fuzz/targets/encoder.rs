//! Fuzzes our own encoder with any picture, and both decoders with its JPEGs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vidrec_jpeg::fuzzing::encoder;

fuzz_target!(|input: &[u8]| encoder(input));
