//! Data sets on a server that fails as told (`tests/proxy`), read through the public interface: batches, faults, wrong
//! locations, requests, bytes, memory. Real servers are in `tests/remote`.

mod counts;
mod decoded;
mod equal;
#[cfg(unix)]
mod healing;
mod hostile;
mod hub;
mod locations;
mod memory;
mod mix;
mod outage;
mod passing;
mod redirects;
mod replaced;
mod stopping;
mod tracks;
mod verifying;
