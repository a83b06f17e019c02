//! Packing videos.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use pyo3::prelude::*;
use vidrec::Progress;
use vidrec::pack::{InputOptions, OnError, PackOptions};
use vidrec::video::{Decode, FrameSize};

use crate::error::{raise, to_json, usage};
use crate::task;

/// Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    root: Option<PathBuf>,
    split: Option<String>,
    classes: Option<PathBuf>,
    whole_files: bool,
    shuffle_seed: Option<u64>,
    frames: u32,
    sample: String,
    pace: Option<String>,
    max_frames: Option<u32>,
    draws: u32,
    short: String,
    short_side: Option<u32>,
    size: Option<(u32, u32)>,
    quality: u8,
    optimize: bool,
    decode_all: bool,
    pass_through: bool,
    picture_rate: Option<String>,
    segment_clock: String,
    seed: u64,
    threads: Option<usize>,
    stop_on_error: bool,
    overwrite: bool,
    timeout: f64,
}

impl Options {
    // Allowed: an option that is added to the library has its default here until it is added to `Options`.
    #[allow(clippy::needless_update)]
    fn into_pack_options(self) -> PyResult<PackOptions> {
        let size = match (self.size, self.short_side) {
            (Some((width, height)), _) => FrameSize::Exact { width, height },
            (None, Some(side)) => FrameSize::ShortSide(side),
            (None, None) => FrameSize::Original,
        };
        let timeout = Duration::try_from_secs_f64(self.timeout).map_err(|e| usage(format!("timeout: {e}")))?;
        let Options { root, split, classes, whole_files, shuffle_seed, .. } = self;
        Ok(PackOptions {
            input: InputOptions { root, split, classes, whole_files, shuffle_seed },
            frames: self.frames,
            rule: self.sample.parse().map_err(raise)?,
            short: self.short.parse().map_err(raise)?,
            size,
            pace: self.pace.as_deref().map(str::parse).transpose().map_err(raise)?,
            max_frames: self.max_frames,
            draws: self.draws,
            quality: self.quality,
            optimize: self.optimize,
            decode: if self.decode_all { Decode::All } else { Decode::Needed },
            pass_through: self.pass_through,
            picture_rate: self.picture_rate.as_deref().map(str::parse).transpose().map_err(raise)?,
            segment_clock: self.segment_clock.parse().map_err(raise)?,
            seed: self.seed,
            threads: self.threads,
            on_error: if self.stop_on_error { OnError::Stop } else { OnError::Skip },
            overwrite: self.overwrite,
            timeout,
            ..PackOptions::default()
        })
    }
}

/// The report, as JSON. `progress` is called with the videos done and their number. `isolate`: what starts a process that
/// calls [`serve`] with the same options, to decode there.
#[pyfunction]
pub fn pack(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    out: PathBuf,
    options: Options,
    progress: Option<Bound<'_, PyAny>>,
    isolate: Option<Vec<OsString>>,
) -> PyResult<String> {
    let cancel = Arc::new(AtomicBool::new(false));
    let options = PackOptions { isolate, cancel: Some(Arc::clone(&cancel)), ..options.into_pack_options()? };
    to_json(&task::run(py, progress.as_ref(), |tell| {
        vidrec::pack::pack(&inputs, out, &options, &mut |p| {
            let mut how_far = Progress::default();
            (how_far.done, how_far.total) = (p.videos, Some(p.total));
            cancel.fetch_or(tell(&how_far).is_break(), Relaxed);
        })
    })?)
}

/// Decodes for the run that started this process, until it ends.
#[pyfunction]
pub fn serve(py: Python<'_>, options: Options) -> PyResult<()> {
    let options = options.into_pack_options()?;
    py.detach(|| vidrec::pack::serve(&options)).map_err(raise)
}
