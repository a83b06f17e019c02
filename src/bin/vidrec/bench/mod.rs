//! `vidrec bench`: how fast does the loader feed a training loop from this data set, on this machine?

mod loading;
mod measure;
mod tune;

use std::path::PathBuf;

use loading::Loading;
use measure::{Report, measure};

use crate::output::bytes;
use crate::{Outcome, Run, output};

/// Measure the loader on a data set: shuffled batches, as a training loop takes them.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    #[command(flatten)]
    loading: Loading,
    /// Threads that decode. [default: one for each core, up to 8]
    #[arg(long, value_parser = crate::threads::parse)]
    threads: Option<usize>,
    /// How long to measure, after a second of warming up.
    #[arg(long, default_value_t = 5.0, value_parser = parse_seconds)]
    seconds: f64,
    /// Measure this many epochs, however long they take.
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    epochs: Option<u64>,
    /// Begin with the files out of the system's cache, and without warming up; --epochs 1 reads each clip but once.
    #[arg(long)]
    cold: bool,
    /// Write a JSON line for each batch: when it came, how long it was waited for, how many were ready.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Measure with several numbers of threads and say which is best.
    #[arg(long, conflicts_with_all = ["threads", "trace"])]
    tune: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|s| (0.0..=86_400.0).contains(s)).ok_or_else(|| "expected 0 to 86400 seconds".into())
}

pub fn run(args: &Args) -> Run {
    if args.tune {
        output::print(args.json, &tune::tune(args)?, tune::render)?;
    } else {
        output::print(args.json, &measure(args, args.threads)?, render)?;
    }
    Ok(Outcome::Done)
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
