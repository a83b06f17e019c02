//! One measurement: open, load, count.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::time::{Duration, Instant};

use crate::{Batches, Dataset, JsonObject, Loader, LoaderOptions, LoaderStats, OpenOptions};
use serde::Serialize;

use super::args::Args;
use crate::cli::output;
use crate::cli::usage::{Usage, usage};

/// What was measured.
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
    /// Each of the first epochs by itself, where decoded frames are kept, and all others together: the last one as far as
    /// it was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<EpochReport>,
    /// The loader's own counters, from its beginning.
    pub stats: LoaderStats,
}

/// An epoch, or several that follow each other. No batch of the next one is made before all of its own have been taken.
#[derive(Serialize)]
pub struct EpochReport {
    /// The first one.
    pub epoch: u64,
    /// How many.
    pub epochs: u64,
    /// Frames in the batches that were made: all, but for an epoch that the end of the measurement cut short.
    pub frames: u64,
    pub seconds: f64,
    pub cpu_seconds_per_1000_frames: Option<f64>,
    /// Frames of which nothing had to be read.
    pub hits: u64,
    /// Bytes of the cache that were taken at the end, by all processes.
    pub taken_bytes: u64,
}

/// A line of the trace.
#[derive(Serialize)]
struct Line {
    epoch: u64,
    batch: u64,
    /// Since the measurement began.
    at_ms: f64,
    /// How long this batch was waited for.
    wait_ms: f64,
    /// Batches that were ready when it was taken.
    ready: u64,
}

/// When to stop.
#[derive(Clone, Copy)]
enum Until {
    Time(Duration),
    Batches(u64),
}

/// Measures with these options.
pub fn measure(args: &Args, loader_options: LoaderOptions) -> Result<Report, Box<dyn std::error::Error>> {
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
fn measure_batches(
    args: &Args,
    loader: &Loader,
    started: Instant,
    bytes_per_frame: f64,
) -> Result<Report, Box<dyn std::error::Error>> {
    let (before_first, cold_start) = (usage(), Instant::now());
    let keeps_decoded = loader.stats().decoded_cache.is_some();
    let by_epoch = keeps_decoded.then(|| ByEpoch::new(before_first, cold_start));
    let batches = if keeps_decoded { loader.iter(0)? } else { loader.iter(0..)? };
    let mut feed = Feed { batches, loader, trace: None, by_epoch, taken: 0, clips: 0, frames: 0 };
    feed.take()?;
    let first_batch_ms = started.elapsed().as_secs_f64() * 1e3;

    // The first batches are what is to be measured, cold or where a first epoch is not like the others.
    let (before, measured) = if args.cold || keeps_decoded {
        (before_first, cold_start)
    } else {
        feed.run(Until::Time(Duration::from_secs_f64(args.seconds.min(1.0))))?;
        (feed.taken, feed.clips, feed.frames) = (0, 0, 0);
        (usage(), Instant::now())
    };
    feed.trace = args.trace.as_ref().map(File::create).transpose()?.map(|file| (BufWriter::new(file), measured));
    feed.run(match args.epochs {
        Some(epochs) => Until::Batches(epochs * loader.batches_per_epoch()),
        None => Until::Time(Duration::from_secs_f64(args.seconds)),
    })?;
    let seconds = measured.elapsed().as_secs_f64();
    let after = usage();
    if let Some((mut trace, _)) = feed.trace.take() {
        trace.flush()?;
    }
    let (shape, clips, frames, taken) = (loader.shape(), feed.clips as f64, feed.frames as f64, feed.taken);
    let epochs = feed.end();
    let stats = loader.stats();
    let cpu = |before: Usage, after: Usage| (after.cpu_seconds - before.cpu_seconds) / frames * 1e3;
    Ok(Report {
        frames_per_second: frames / seconds,
        clips_per_second: clips / seconds,
        threads: loader.threads(),
        first_batch_ms,
        peak_rss_bytes: after.map(|u| u.peak_rss_bytes),
        cpu_seconds_per_1000_frames: before.zip(after).map(|(b, a)| cpu(b, a)),
        shape,
        bytes_per_frame,
        batches: taken,
        seconds,
        loader: loader.state(0, 0).options,
        epochs,
        stats,
    })
}

/// Makes sure that nothing of the data set is on this machine but its files.
fn cool(args: &Args, options: &OpenOptions) -> Result<(), Box<dyn std::error::Error>> {
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

impl EpochReport {
    /// Adds the epochs that followed.
    fn add(&mut self, next: &EpochReport) {
        let cpu = |report: &EpochReport| Some(report.cpu_seconds_per_1000_frames? * report.frames as f64);
        let both = cpu(self).zip(cpu(next)).map(|(a, b)| (a + b) / (self.frames + next.frames) as f64);
        self.cpu_seconds_per_1000_frames = both;
        self.epochs += next.epochs;
        self.frames += next.frames;
        self.seconds += next.seconds;
        self.hits += next.hits;
        self.taken_bytes = next.taken_bytes;
    }
}

/// Reports of epochs. A small data set has thousands in a minute, so those behind the first are one report.
const MOST_REPORTS: usize = 100;

/// Measures each epoch by itself.
struct ByEpoch {
    done: Vec<EpochReport>,
    /// The number of the epoch that is being measured.
    epoch: u64,
    /// What the loader had done before the epoch that is being measured.
    frames_before: u64,
    hits_before: u64,
    usage_before: Option<Usage>,
    began: Instant,
}

impl ByEpoch {
    fn new(usage: Option<Usage>, began: Instant) -> Self {
        ByEpoch { done: Vec::new(), epoch: 0, frames_before: 0, hits_before: 0, usage_before: usage, began }
    }

    /// All batches of the epoch that will be made have been made, and none of the next one.
    fn end(&mut self, loader: &Loader) {
        let (stats, usage, now) = (loader.stats(), usage(), Instant::now());
        let (frames, cache) = (stats.frames - self.frames_before, stats.decoded_cache.unwrap_or_default());
        let cpu = |before: Usage, after: Usage| (after.cpu_seconds - before.cpu_seconds) / frames as f64 * 1e3;
        if frames > 0 {
            self.add(EpochReport {
                epoch: self.epoch,
                epochs: 1,
                frames,
                seconds: (now - self.began).as_secs_f64(),
                cpu_seconds_per_1000_frames: self.usage_before.zip(usage).map(|(before, after)| cpu(before, after)),
                hits: cache.hits - self.hits_before,
                taken_bytes: cache.taken_bytes,
            });
        }
        self.epoch += 1;
        (self.frames_before, self.hits_before) = (stats.frames, cache.hits);
        (self.usage_before, self.began) = (usage, now);
    }

    fn add(&mut self, report: EpochReport) {
        match self.done.get_mut(MOST_REPORTS - 1) {
            Some(others) => others.add(&report),
            None => self.done.push(report),
        }
    }
}

/// Takes batch after batch and gives each back at once: a training step that takes no time.
struct Feed<'a> {
    batches: Batches,
    loader: &'a Loader,
    /// Where lines go, and since when they count time.
    trace: Option<(BufWriter<File>, Instant)>,
    /// Where each epoch is measured by itself. `batches` are then those of one.
    by_epoch: Option<ByEpoch>,
    taken: u64,
    clips: u64,
    /// Without those that pad a clip.
    frames: u64,
}

impl Feed<'_> {
    /// At least one batch, unless there were enough.
    fn run(&mut self, until: Until) -> Result<(), Box<dyn std::error::Error>> {
        let started = Instant::now();
        loop {
            if matches!(until, Until::Batches(batches) if self.taken >= batches) {
                return Ok(());
            }
            self.take()?;
            if matches!(until, Until::Time(time) if started.elapsed() >= time) {
                return Ok(());
            }
        }
    }

    /// Stops making batches, and says what each epoch was like.
    fn end(self) -> Vec<EpochReport> {
        let Feed { batches, by_epoch, loader, .. } = self;
        // Some are made ahead.
        drop(batches);
        by_epoch.map_or(Vec::new(), |mut by_epoch| {
            by_epoch.end(loader);
            by_epoch.done
        })
    }

    fn take(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        let asked = Instant::now();
        let ready = if self.trace.is_some() { self.loader.stats().ready } else { 0 };
        let mut next = self.batches.next();
        if let (None, Some(by_epoch)) = (&next, &mut self.by_epoch) {
            by_epoch.end(self.loader);
            self.batches = self.loader.iter(by_epoch.epoch)?;
            next = self.batches.next();
        }
        let batch = next.ok_or("the epochs are over")??;
        self.taken += 1;
        self.clips += batch.clips.len() as u64;
        let frames = batch.params.iter().map(|params| params.frames.len() as u64).sum::<u64>();
        self.frames += frames;
        if let Some((trace, since)) = &mut self.trace {
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            let (at_ms, wait_ms) = (ms(since.elapsed()), ms(asked.elapsed()));
            let line = Line { epoch: batch.epoch(), batch: batch.number(), at_ms, wait_ms, ready };
            serde_json::to_writer(&mut *trace, &line)?;
            trace.write_all(b"\n")?;
        }
        Ok(())
    }
}
