//! `vidrec bench`: how fast does the loader feed a training loop from this data set, on this machine?

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;
use vidrec::order::{LastBatch, Order};
use vidrec::{Batch, Crop, Dataset, Dtype, Layout, Loader, LoaderOptions};

use crate::output::bytes;
use crate::usage::{Usage, usage};
use crate::{Outcome, Run, output};

/// Measure the loader on a data set: shuffled batches, as a training loop takes them.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Clips in a batch.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: u32,
    /// Frames to take of each clip. [default: all]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// Part of the frame to take, one draw a clip.
    #[arg(long, value_enum, default_value_t = CropArg::RandomResized)]
    crop: CropArg,
    /// Width and height of the pictures.
    #[arg(long, default_value_t = 224, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    size: u32,
    /// Type of the numbers; f32 is normalised.
    #[arg(long, value_enum, default_value_t = DtypeArg::F32)]
    dtype: DtypeArg,
    /// Order of dimensions.
    #[arg(long, value_enum, default_value_t = LayoutArg::Btchw)]
    layout: LayoutArg,
    /// Threads that decode. [default: one for each core, up to 8]
    #[arg(long, value_parser = parse_threads)]
    threads: Option<usize>,
    /// How long to measure, after a second of warming up.
    #[arg(long, default_value_t = 5.0, value_parser = parse_seconds)]
    seconds: f64,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CropArg {
    Center,
    Random,
    RandomResized,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DtypeArg {
    U8,
    F32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LayoutArg {
    Btchw,
    Bthwc,
}

fn parse_threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| (1..=1024).contains(&n)).ok_or_else(|| "expected 1 to 1024".into())
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|s| (0.0..=86_400.0).contains(s)).ok_or_else(|| "expected 0 to 86400 seconds".into())
}

#[derive(Serialize)]
struct Report {
    frames_per_second: f64,
    clips_per_second: f64,
    threads: usize,
    /// From before the data set is opened to the first batch.
    first_batch_ms: f64,
    /// Includes the pages of the mapped files; null where the system does not say.
    peak_rss_bytes: Option<u64>,
    cpu_seconds_per_1000_frames: Option<f64>,
    /// Of a batch, in the order of the layout.
    shape: [usize; 5],
    batches: u64,
    seconds: f64,
}

impl Args {
    fn options(&self) -> LoaderOptions {
        LoaderOptions {
            batch_size: self.batch,
            frames: self.frames,
            size: (self.size, self.size),
            crop: match self.crop {
                CropArg::Center => Crop::Center,
                CropArg::Random => Crop::Random,
                CropArg::RandomResized => Crop::RANDOM_RESIZED,
            },
            flip: if self.crop == CropArg::Center { 0.0 } else { 0.5 },
            dtype: if self.dtype == DtypeArg::U8 { Dtype::U8 } else { Dtype::F32 },
            layout: if self.layout == LayoutArg::Btchw { Layout::Btchw } else { Layout::Bthwc },
            mean: [0.485, 0.456, 0.406],
            std: [0.229, 0.224, 0.225],
            order: Order::Shuffled,
            last: LastBatch::Wrap,
            threads: self.threads,
            ..LoaderOptions::default()
        }
    }
}

pub fn run(args: &Args) -> Run {
    let started = Instant::now();
    let dataset = Dataset::open(&args.dataset)?;
    if dataset.is_empty() {
        return Err("the data set has no clips".into());
    }
    let loader = Loader::new(&dataset, args.options())?;
    let mut feed = Feed { loader: &loader, next: 0, batch: loader.batch(0, 0)? };
    let first_batch_ms = started.elapsed().as_secs_f64() * 1e3;
    feed.run_for(Duration::from_secs_f64(args.seconds.min(1.0)))?;

    let before = usage();
    let measured = Instant::now();
    let batches = feed.run_for(Duration::from_secs_f64(args.seconds))?;
    let seconds = measured.elapsed().as_secs_f64();
    let after = usage();

    let shape = feed.batch.shape();
    let clips = (batches * u64::from(args.batch)) as f64;
    let frames = clips * shape[1] as f64;
    let cpu = |before: Usage, after: Usage| (after.cpu_seconds - before.cpu_seconds) / frames * 1e3;
    let report = Report {
        frames_per_second: frames / seconds,
        clips_per_second: clips / seconds,
        threads: loader.threads(),
        first_batch_ms,
        peak_rss_bytes: after.map(|u| u.peak_rss_bytes),
        cpu_seconds_per_1000_frames: before.zip(after).map(|(b, a)| cpu(b, a)),
        shape,
        batches,
        seconds,
    };
    output::print(args.json, &report, render)?;
    Ok(Outcome::Done)
}

/// Takes batch after batch, epoch after epoch, into the same memory.
struct Feed<'a> {
    loader: &'a Loader,
    next: u64,
    batch: Batch,
}

impl Feed<'_> {
    /// Runs for some time, at least one batch; returns the number of batches.
    fn run_for(&mut self, time: Duration) -> vidrec::Result<u64> {
        let (started, first) = (Instant::now(), self.next);
        loop {
            let per_epoch = self.loader.batches_per_epoch();
            self.loader.fill(self.next / per_epoch, self.next % per_epoch, &mut self.batch)?;
            self.next += 1;
            if started.elapsed() >= time {
                return Ok(self.next - first);
            }
        }
    }
}

fn render(r: &Report) -> String {
    let mut text = format!(
        "{:.0} frames/s, {:.1} clips/s with {} threads; batches of {:?}\nfirst batch after {:.1} ms",
        r.frames_per_second, r.clips_per_second, r.threads, r.shape, r.first_batch_ms,
    );
    if let Some(cpu) = r.cpu_seconds_per_1000_frames {
        text += &format!("; {cpu:.3} CPU seconds for 1000 frames");
    }
    if let Some(rss) = r.peak_rss_bytes {
        text += &format!("; at most {} of memory, mapped files included", bytes(rss));
    }
    text + "\n"
}
