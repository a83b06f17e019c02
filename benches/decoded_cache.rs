//! Loading with no decoded frames in memory, with half of what is needed, and with all of it, in turn; the first epoch; and
//! processes that share a cache.
//!
//! `cargo bench --no-default-features --bench decoded_cache -- SET [rounds] [folder in memory] [workload]`
//!
//! The last line of each workload is its row in `benches/results/decoded-cache.json`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use vidrec::order::{LastBatch, Order};
use vidrec::{Crop, Dataset, DecodedCache, Dtype, Layout, Loader, LoaderOptions, Normalize, Result};

/// Epochs after which random crops need hardly any tile for the first time.
const WARM: u64 = 20;
/// Epochs of each process that shares a cache.
const SHARED: u64 = 12;

/// An epoch.
#[derive(Clone, Copy, Default)]
struct Epoch {
    /// CPU microseconds a frame.
    cost: f64,
    /// The share of frames of which nothing was decoded.
    hits: f64,
}

/// Loads an epoch. Nothing of the next one is made ahead.
fn epoch(loader: &Loader, number: u64) -> Result<Epoch> {
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let cpu = || {
        let used = getrusage(UsageWho::RUSAGE_SELF).unwrap();
        seconds(used.user_time()) + seconds(used.system_time())
    };
    let hits = || loader.stats().decoded_cache.map_or(0, |stats| stats.hits);
    let (before, hits_before, mut frames) = (cpu(), hits(), 0);
    for batch in loader.iter(number)? {
        frames += batch?.params.iter().map(|params| params.frames.len()).sum::<usize>();
    }
    let frames = frames.max(1) as f64;
    Ok(Epoch { cost: (cpu() - before) / frames * 1e6, hits: (hits() - hits_before) as f64 / frames })
}

/// The pictures that are loaded.
#[derive(Clone, Copy)]
struct Workload {
    name: &'static str,
    /// Whether crops are random, or in the middle.
    is_random: bool,
    size: u32,
    dtype: Dtype,
    layout: Layout,
}

const W1: Workload = Workload { name: "W1", is_random: true, size: 224, dtype: Dtype::F32, layout: Layout::Btchw };
const WORKLOADS: [Workload; 4] = [
    W1,
    Workload { name: "W1u8", dtype: Dtype::U8, layout: Layout::Bthwc, ..W1 },
    Workload { name: "W1-112", size: 112, ..W1 },
    Workload { name: "W2", is_random: false, dtype: Dtype::U8, ..W1 },
];

impl Workload {
    fn options(&self, cache: Option<DecodedCache>) -> LoaderOptions {
        let Workload { is_random, size, dtype, layout, .. } = *self;
        let size = (size, size);
        let (crop, flip) = if is_random { (Crop::random_resized(size), 0.5) } else { (Crop::center(size), 0.0) };
        let normalize = Some(Normalize::IMAGENET).filter(|_| dtype != Dtype::U8);
        LoaderOptions {
            threads: Some(1),
            crop,
            flip,
            dtype,
            layout,
            normalize,
            order: Order::Shuffled,
            last: LastBatch::Wrap,
            decoded_cache: cache,
            ..LoaderOptions::default()
        }
    }

    fn loader(&self, set: &Dataset, cache: Option<DecodedCache>) -> Result<Loader> {
        Loader::new(set, self.options(cache))
    }

    /// Whole frames, at the scale of the largest crops and unscaled.
    fn fill(&self, set: &Dataset, cache: &DecodedCache) -> Result<()> {
        for side in [self.size, 224] {
            let (scale, ratio) = ((1.0, 1.0), (0.01, 100.0));
            let crop = Crop::RandomResized { size: (side, side), scale, ratio };
            let options = LoaderOptions { crop, ..self.options(Some(cache.clone())) };
            epoch(&Loader::new(set, options)?, 0)?;
        }
        Ok(())
    }
}

/// Prints and returns the fastest.
fn row(name: &str, epochs: &[Epoch]) -> f64 {
    let least = epochs.iter().map(|epoch| epoch.cost).fold(f64::INFINITY, f64::min);
    let hits = epochs.last().map_or(0.0, |epoch| epoch.hits);
    println!("{name:<20} {least:>8.1} {:>8.1} %", hits * 100.0);
    least
}

fn measure(set: &Dataset, dir: &Path, load: &Workload, rounds: u64) -> Result<()> {
    let folder = || tempfile::tempdir_in(dir).expect("a folder in memory");
    let plenty = 250_000 * set.frame_count() + (1 << 20);
    let cache = |size, folder: &Path| DecodedCache { size, dir: Some(folder.to_owned()) };
    let mut first = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for (times, keeps) in first.iter_mut().zip([false, true]) {
            let folder = folder();
            let with = Some(cache(plenty, folder.path()));
            // The memory of a cache that was there just before: on a virtual machine, the host would first have to find other.
            epoch(&load.loader(set, with.clone())?, round)?;
            times.push(epoch(&load.loader(set, with.filter(|_| keeps))?, round)?);
        }
    }
    let folders = [folder(), folder()];
    let all = cache(plenty, folders[0].path());
    let whole = load.loader(set, Some(all.clone()))?;
    load.fill(set, &all)?;
    let taken = whole.stats().decoded_cache.map_or(0, |stats| stats.taken_bytes);
    let half = load.loader(set, Some(cache(taken / 2, folders[1].path())))?;
    let plain = load.loader(set, None)?;
    (0..WARM).try_for_each(|number| epoch(&half, number).map(drop))?;
    (0..2).try_for_each(|number| epoch(&whole, number).map(drop))?;
    let mut later = [Vec::new(), Vec::new(), Vec::new()];
    for number in WARM..WARM + rounds {
        for (times, loader) in later.iter_mut().zip([&plain, &half, &whole]) {
            times.push(epoch(loader, number)?);
        }
    }
    println!("{}: CPU microseconds a frame, frames that were there", load.name);
    let [without, filling] = first;
    let (without, filling) = (row("first epoch, none", &without), row("first epoch, cache", &filling));
    let [none, some, all] = later;
    let (none, some, all) = (row("none", &none), row("half", &some), row("all", &all));
    println!("{:<20} {:>8.3} {:>8.2} {:>8.2}", "first, half, all", filling / without, none / some, none / all);
    let costs = [without, filling, none, some, all].map(|cost| (cost * 10.0).round() / 10.0);
    println!("    {},", serde_json::json!({"name": load.name, "values": costs}));
    Ok(())
}

/// Processes that load W1 with one cache, each with a seed of its own, and begin with nothing.
fn share(set: &Path, dir: &Path, processes: u64) -> Result<()> {
    let folder = tempfile::tempdir_in(dir).expect("a folder in memory");
    let program = std::env::current_exe().expect("this program");
    let child = |seed: u64| {
        let mut command = Command::new(&program);
        command.arg("--shared").args([set, folder.path()]).arg(seed.to_string()).stdout(Stdio::piped());
        command.spawn().expect("a process")
    };
    let children: Vec<_> = (0..processes).map(child).collect();
    println!("{processes} processes with W1 on one cache: CPU microseconds a frame of the first epoch, of the fastest");
    for child in children {
        print!("{}", String::from_utf8_lossy(&child.wait_with_output().expect("its output").stdout));
    }
    Ok(())
}

/// One of them.
fn shared(set: &Dataset, dir: PathBuf, seed: u64) -> Result<()> {
    let cache = DecodedCache { size: 250_000 * set.frame_count() + (1 << 20), dir: Some(dir) };
    let loader = Loader::new(set, LoaderOptions { seed, ..W1.options(Some(cache)) })?;
    let epochs = (0..SHARED).map(|number| epoch(&loader, number)).collect::<Result<Vec<_>>>()?;
    let least = epochs.iter().map(|epoch| epoch.cost).fold(f64::INFINITY, f64::min);
    println!(
        "{:>8.1} {:>8.1} {:>8.1} % {:>8.1} %",
        epochs[0].cost,
        least,
        epochs[0].hits * 100.0,
        epochs[11].hits * 100.0
    );
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, set, dir, seed] = &args[..]
        && flag == "--shared"
    {
        return shared(&Dataset::open(set)?, dir.into(), seed.parse().unwrap_or(0));
    }
    let Some(path) = args.first() else {
        println!(
            "no data set is given: cargo bench --bench decoded_cache -- SET [rounds] [folder in memory] [workload]"
        );
        return Ok(());
    };
    let rounds = args.get(1).and_then(|text| text.parse().ok()).unwrap_or(5);
    let dir = Path::new(args.get(2).map_or("/dev/shm", String::as_str));
    let set = Dataset::open(path)?;
    let only = args.get(3);
    for load in WORKLOADS.iter().filter(|load| only.is_none_or(|only| only == load.name)) {
        measure(&set, dir, load, rounds)?;
    }
    if only.is_some() {
        return Ok(());
    }
    [1, 2, 4].into_iter().try_for_each(|processes| share(Path::new(path), dir, processes))
}
