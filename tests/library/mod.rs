//! The library from outside: data sets, what is made of them, what damage does to them, and the JPEG codec.

#[cfg(target_os = "linux")]
mod cut_files;
mod dataset;
mod disk;
mod edit;
mod hostile;
#[cfg(feature = "cli")]
mod importers;
mod jpeg;
mod repair;
mod stats;
mod track_stats;
mod tracks;
