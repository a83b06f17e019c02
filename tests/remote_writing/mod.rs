//! Data sets that are written to a store that fails as told (`tests/proxy`), by the program and by the library. Real
//! servers are in `tests/remote`.

mod equal;
mod faults;
mod kills;
mod parts_of_objects;
mod publishers;
mod refusals;
mod resuming;
#[cfg(unix)]
mod silent;
mod store;
