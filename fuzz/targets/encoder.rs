//! What our own encoder makes of any picture, and what both decoders make of that.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vidrec_jpeg::fuzzing::encoder;

fuzz_target!(|input: &[u8]| encoder(input));
