//! Loading with no decoded frames in memory, with half of what is needed, and with all of it, in turn; and the first epoch.
//!
//! `cargo bench --no-default-features --bench decoded_cache -- SET [rounds]`

use std::fmt::Display;
use std::fs;

use vidrec::order::{LastBatch, Order};
use vidrec::{
    Augmentation, Crop, Dataset, DecodedCache, Dtype, Layout, Loader, LoaderOptions, Pictures, Result, Sampling,
};

/// Epochs after which random crops need hardly any tile for the first time.
const WARM: u64 = 20;

/// User and system time of this process in seconds.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name in parentheses; hundredths of a second.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// CPU seconds of an epoch, and its frames.
fn epoch(loader: &Loader, number: u64) -> Result<(f64, usize)> {
    let (before, mut frames) = (cpu(), 0);
    for batch in loader.iter(number)? {
        frames += batch?.params.iter().map(|params| params.frames.len()).sum::<usize>();
    }
    Ok((cpu() - before, frames))
}

fn options(crop: Crop, size: u32, dtype: Dtype, layout: Layout) -> LoaderOptions {
    let flip = if crop == Crop::Center { 0.0 } else { 0.5 };
    let (mean, std) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
    LoaderOptions {
        threads: Some(1),
        augmentation: Augmentation { crop, flip, ..Augmentation::default() },
        pictures: Pictures { size: (size, size), dtype, layout, mean, std, ..Pictures::default() },
        sampling: Sampling { order: Order::Shuffled, last: LastBatch::Wrap, ..Sampling::default() },
        ..LoaderOptions::default()
    }
}

/// Prints and returns microseconds a frame, over all epochs.
fn row(name: impl Display, epochs: &[(f64, usize)]) -> f64 {
    let (seconds, frames) = epochs.iter().fold((0.0, 0), |sum, epoch| (sum.0 + epoch.0, sum.1 + epoch.1));
    let mean = seconds / frames.max(1) as f64 * 1e6;
    println!("{name:<20} {mean:>8.1}");
    mean
}

fn measure(set: &Dataset, name: &str, options: &LoaderOptions, rounds: u64) -> Result<()> {
    let folders = ["whole", "half"].map(|_| tempfile::tempdir_in("/dev/shm").unwrap());
    let with = |bytes, at: usize| {
        let cache = DecodedCache { bytes, dir: Some(folders[at].path().to_owned()) };
        Loader::new(set, LoaderOptions { decoded_cache: Some(cache), ..options.clone() })
    };
    let plenty = 200_000 * set.frame_count() + (1 << 20);
    let mut first = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        // Each in memory that is new to it.
        first[0].push(epoch(&Loader::new(set, options.clone())?, round)?);
        first[1].push(epoch(&with(plenty, 0)?, round)?);
    }
    let (plain, whole) = (Loader::new(set, options.clone())?, with(plenty, 0)?);
    let warm = if options.augmentation.crop == Crop::Center { 1 } else { WARM };
    (0..warm).try_for_each(|number| epoch(&whole, number).map(drop))?;
    let taken = whole.stats().decoded_cache.map_or(0, |stats| stats.taken_bytes);
    let half = with(taken / 2, 1)?;
    (0..warm).try_for_each(|number| epoch(&half, number).map(drop))?;
    let mut later = [Vec::new(), Vec::new(), Vec::new()];
    for number in warm..warm + rounds {
        for (times, loader) in later.iter_mut().zip([&plain, &half, &whole]) {
            times.push(epoch(loader, number)?);
        }
    }
    println!("{name}: CPU microseconds a frame; {} bytes a frame are kept", taken / set.frame_count().max(1));
    let [without, filling] = first;
    row("first epoch, none", &without);
    row("first epoch, cache", &filling);
    let [none, some, all] = later;
    let (none, some, all) = (row("none", &none), row("half", &some), row("all", &all));
    println!("{:<20} {:>8.2} {:>8.2}", "none / half, all", none / some, none / all);
    Ok(())
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let Some(set) = args.next() else {
        println!("no data set is given: cargo bench --bench decoded_cache -- SET [rounds]");
        return Ok(());
    };
    let (set, rounds) = (Dataset::open(set)?, args.next().and_then(|text| text.parse().ok()).unwrap_or(5));
    let random = Crop::RANDOM_RESIZED;
    for (name, crop, size, dtype, layout) in [
        ("W1", random, 224, Dtype::F32, Layout::Btchw),
        ("W1u8", random, 224, Dtype::U8, Layout::Bthwc),
        ("W1-112", random, 112, Dtype::F32, Layout::Btchw),
        ("W2", Crop::Center, 224, Dtype::U8, Layout::Btchw),
    ] {
        measure(&set, name, &options(crop, size, dtype, layout), rounds)?;
    }
    Ok(())
}
