//! One measurement: open, load, count.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::{Batches, Dataset, JsonObject, Loader, LoaderOptions, LoaderStats, OpenOptions};
#[cfg(unix)]
use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeVal,
};
use serde::Serialize;

use super::args::Args;
use crate::cli::{Failure, output};

/// The result of a measurement.
#[derive(Serialize)]
pub struct Report {
    pub frames_per_second: f64,
    pub clips_per_second: f64,
    pub threads: usize,
    /// From before the data set is opened to the first batch.
    pub first_batch_ms: f64,
    /// Of this process so far. Includes the pages of mapped files; null where the system does not say.
    pub peak_rss_bytes: Option<u64>,
    pub cpu_seconds_per_1000_frames: Option<f64>,
    /// Of a batch, in the order of the layout.
    pub shape: [usize; 5],
    /// Of a decoded picture.
    pub bytes_per_frame: f64,
    pub batches: u64,
    pub seconds: f64,
    /// The options that decide what batches hold, as a saved state has them.
    pub loader: JsonObject,
    /// The loader's own counters, from its beginning.
    pub stats: LoaderStats,
}

/// When to stop.
#[derive(Clone, Copy)]
enum BenchLimit {
    Time(Duration),
    Batches(u64),
}

/// Measures with these options.
pub fn measure(args: &Args, loader_options: LoaderOptions) -> Result<Report, Failure> {
    let options = args.open_options()?;
    if args.cold {
        cool(args, &options)?;
    }
    let started = Instant::now();
    let dataset = Dataset::open_with(&args.dataset, options)?;
    let bytes_per_picture = bytes_per_picture(&loader_options);
    let loader = Loader::new(&dataset, loader_options)?;
    for warning in loader.warnings() {
        output::tell(warning);
    }
    measure_batches(args, &loader, started, bytes_per_picture)
}

fn bytes_per_picture(options: &LoaderOptions) -> f64 {
    let (width, height) = options.crop.size();
    f64::from(width) * f64::from(height) * (options.channels.count() * options.dtype.size()) as f64
}

/// Measures batches.
fn measure_batches(args: &Args, loader: &Loader, started: Instant, bytes_per_frame: f64) -> Result<Report, Failure> {
    let (mut before, mut measured) = (usage(), Instant::now());
    let mut feed = Feed { batches: loader.iter(0..)?, taken: 0, clips: 0, frames: 0 };
    feed.take()?;
    let first_batch_ms = started.elapsed().as_secs_f64() * 1e3;
    // The first batches are what is to be measured, cold or where a first epoch is not like the others.
    if !args.cold && loader.stats().decoded_cache.is_none() {
        feed.run(BenchLimit::Time(Duration::from_secs_f64(args.seconds.min(1.0))))?;
        (feed.taken, feed.clips, feed.frames) = (0, 0, 0);
        (before, measured) = (usage(), Instant::now());
    }
    feed.run(match args.epochs {
        Some(epochs) => BenchLimit::Batches(epochs * loader.batches_per_epoch()),
        None => BenchLimit::Time(Duration::from_secs_f64(args.seconds)),
    })?;
    let (seconds, after) = (measured.elapsed().as_secs_f64(), usage());
    let (clips, frames) = (feed.clips as f64, feed.frames as f64);
    Ok(Report {
        frames_per_second: frames / seconds,
        clips_per_second: clips / seconds,
        threads: loader.threads(),
        first_batch_ms,
        peak_rss_bytes: after.map(|(_, peak)| peak),
        cpu_seconds_per_1000_frames: before.zip(after).map(|((before, _), (after, _))| (after - before) / frames * 1e3),
        shape: loader.shape(),
        bytes_per_frame,
        batches: feed.taken,
        seconds,
        loader: loader.state(0, 0).options,
        stats: loader.stats(),
    })
}

/// The seconds of processor time of all threads, and the peak of resident memory in bytes with the pages of mapped files;
/// `None` if the operating system does not say.
#[cfg(unix)]
fn usage() -> Option<(f64, u64)> {
    let used = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Some((seconds(used.user_time()) + seconds(used.system_time()), u64::try_from(used.max_rss()).ok()? * unit))
}

#[cfg(not(unix))]
fn usage() -> Option<(f64, u64)> {
    None
}

/// Makes sure that nothing of the data set is on this machine but its files.
fn cool(args: &Args, options: &OpenOptions) -> Result<(), Failure> {
    if !crate::is_remote(&args.dataset) {
        let is_cool = Dataset::open_with(&args.dataset, options.clone())?.cool()?;
        return if is_cool { Ok(()) } else { Err("this system cannot drop pages from its cache (--cold)".into()) };
    }
    let Some(cache) = &options.storage.cache else { return Ok(()) };
    let is_empty = match cache.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(e) if e.kind() == ErrorKind::NotFound => true,
        Err(e) => return Err(format!("{}: {e}", cache.display()).into()),
    };
    if is_empty {
        return Ok(());
    }
    let what = "the cache is not empty, so the measurement would not begin cold (--cold)";
    Err(format!("{}: {what}; give a new folder, or no cache", cache.display()).into())
}

/// Takes batch after batch and gives each back at once: a training step that takes no time.
struct Feed {
    batches: Batches,
    taken: u64,
    clips: u64,
    /// Without those that pad a clip.
    frames: u64,
}

impl Feed {
    /// At least one batch, unless there were enough.
    fn run(&mut self, until: BenchLimit) -> Result<(), Failure> {
        let started = Instant::now();
        loop {
            if matches!(until, BenchLimit::Batches(batches) if self.taken >= batches) {
                return Ok(());
            }
            self.take()?;
            if matches!(until, BenchLimit::Time(time) if started.elapsed() >= time) {
                return Ok(());
            }
        }
    }

    fn take(&mut self) -> Result<(), Failure> {
        let batch = self.batches.next().ok_or("the epochs are over")??;
        self.taken += 1;
        self.clips += batch.clips.len() as u64;
        self.frames += batch.params.iter().map(|params| params.frames.len() as u64).sum::<u64>();
        Ok(())
    }
}
