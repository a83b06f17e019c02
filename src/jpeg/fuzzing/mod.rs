//! What must hold for any bytes that are taken for a JPEG, and pictures changed at random to try it with: for the fuzz
//! targets in `fuzz/`, and for the test suite, which tries some.

mod baseline;
mod change;
mod decoders;
mod effort;
mod encoded;
mod generated;
mod segments;
mod wish;

#[cfg(test)]
pub(crate) use baseline::strictly_baseline;
pub use change::{changed, changed_again};
pub use decoders::{Verdict, decoders};
#[cfg(test)]
pub(crate) use decoders::{decoder, planes};
#[cfg(feature = "fuzzing")]
pub use effort::encoder;
pub use encoded::originals;
#[cfg(test)]
pub(crate) use encoded::{encoded, optimized, picture};
pub use generated::generated;
#[cfg(feature = "fuzzing")]
pub use segments::segments;
