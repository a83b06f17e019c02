//! Properties that must hold for any bytes that are taken for a JPEG, and randomly changed pictures to check them
//! with. The fuzz targets in `fuzz/` use these, and the test suite tries some.

mod baseline;
mod change;
mod decoders;
mod effort;
mod encoded;
mod generated;
mod segments;
mod wish;

pub use change::{changed, changed_again};
pub use decoders::{Verdict, decoders};
#[cfg(test)]
pub(crate) use decoders::{decoder, planes};
#[cfg(vidrec_internals)]
pub use effort::encoder;
pub use encoded::originals;
#[cfg(test)]
pub(crate) use encoded::{encoded, optimized, picture};
pub use generated::generated;
#[cfg(vidrec_internals)]
pub use segments::segments;
