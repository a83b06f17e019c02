//! Packing videos.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use pyo3::prelude::*;
use vidrec::Error;
use vidrec::pack::{InputOptions, PackOptions, PictureOptions};

use crate::error::{raise, to_json, usage};
use crate::task;

/// The options as `vidrec/tools.py` gives them. Every key must be there; `None` is the library's default. Words are those
/// of the library.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    root: Option<PathBuf>,
    split: Option<String>,
    classes: Option<PathBuf>,
    whole_files: bool,
    shuffle_seed: Option<u64>,
    frames: Option<u32>,
    sample: Option<String>,
    short: Option<String>,
    seed: Option<u64>,
    draws: Option<u32>,
    pace: Option<String>,
    max_frames: Option<u32>,
    picture_rate: Option<String>,
    segment_clock: Option<String>,
    decode: Option<String>,
    size: Option<String>,
    quality: Option<u8>,
    optimize: bool,
    pass_through: bool,
    reduce_depth: bool,
    timeout: Option<f64>,
    max_pixels: Option<u64>,
    max_duration: Option<f64>,
    threads: Option<usize>,
    io_threads: Option<usize>,
    memory: Option<u64>,
    sharding: Option<String>,
    overwrite: bool,
    interrupted: Option<String>,
    retry_failed: bool,
    on_error: Option<String>,
    max_failures: Option<String>,
    commit_every: Option<f64>,
}

impl Options {
    fn into_pack_options(self) -> PyResult<PackOptions> {
        let mut options = PackOptions::default();
        let Options { root, split, classes, whole_files, shuffle_seed, optimize, pass_through, reduce_depth, .. } =
            self;
        options.input = InputOptions { root, split, classes, whole_files, shuffle_seed };
        options.pictures = PictureOptions { optimize, pass_through, reduce_depth, ..options.pictures };
        set(&mut options.frames.count, self.frames);
        set(&mut options.frames.rule, word(self.sample)?);
        set(&mut options.frames.short, word(self.short)?);
        set(&mut options.frames.seed, self.seed);
        set(&mut options.frames.draws, self.draws);
        options.frames.pace = word(self.pace)?;
        options.frames.max_frames = self.max_frames;
        options.frames.picture_rate = word(self.picture_rate)?;
        set(&mut options.frames.segment_clock, word(self.segment_clock)?);
        set(&mut options.frames.decode, word(self.decode)?);
        set(&mut options.pictures.size, word(self.size)?);
        set(&mut options.pictures.quality, self.quality);
        set(&mut options.limits.timeout, seconds("timeout", self.timeout)?);
        set(&mut options.limits.max_pixels, self.max_pixels);
        options.limits.max_duration = seconds("max_duration", self.max_duration)?;
        options.resources.threads = self.threads;
        set(&mut options.resources.io_threads, self.io_threads);
        options.resources.memory = self.memory;
        set(&mut options.run.sharding, word(self.sharding)?);
        options.run.overwrite = self.overwrite;
        set(&mut options.run.interrupted, word(self.interrupted)?);
        options.run.retry_failed = self.retry_failed;
        set(&mut options.run.on_error, word(self.on_error)?);
        options.run.max_failures = word(self.max_failures)?;
        set(&mut options.run.commit_every, seconds("commit_every", self.commit_every)?);
        Ok(options)
    }
}

fn set<T>(option: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *option = value;
    }
}

/// What a word of the library stands for.
fn word<T: FromStr<Err = Error>>(word: Option<String>) -> PyResult<Option<T>> {
    word.as_deref().map(str::parse).transpose().map_err(raise)
}

fn seconds(option: &str, seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let duration = seconds.map(Duration::try_from_secs_f64).transpose();
    duration.map_err(|e| usage(format!("{option}: {e}")))
}

/// The report, as JSON. `progress` is called with the videos done and their number. An exception from there or of a signal
/// handler stops the pack, which can then be resumed. `isolate`: what starts a process that calls [`serve`] with the same
/// options, to decode there.
#[pyfunction]
pub fn pack(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    out: PathBuf,
    options: Options,
    progress: Option<Bound<'_, PyAny>>,
    isolate: Option<Vec<OsString>>,
) -> PyResult<String> {
    let mut options = options.into_pack_options()?;
    options.resources.isolate = isolate;
    to_json(&task::run(py, progress.as_ref(), |tell| vidrec::pack::pack(&inputs, out, &options, tell))?)
}

/// Decodes for the run that started this process, until the run ends. Then the caller should end the process.
#[pyfunction]
pub fn serve(py: Python<'_>, options: Options) -> PyResult<()> {
    let options = options.into_pack_options()?;
    py.detach(|| vidrec::pack::serve(&options)).map_err(raise)
}
