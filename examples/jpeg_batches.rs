//! Measures the cost of a frame that stays a JPEG, beside the loader's own decoder: batches of both kinds of the same
//! samples, in turn.
//!
//!     cargo run --release --example jpeg_batches -- DATASET [--threads N] [--rounds R]
//!
//! Random resized crops to 224, shuffled. It prints a row of `benches/results/jpeg-batches.json` for each kind: bytes and microseconds
//! of processor time of a frame in the fastest of the rounds, which other work on the machine disturbs the least.

use std::process::ExitCode;

use vidrec::order::Order;
use vidrec::{Batch, Crop, Dataset, Dtype, Loader, LoaderOptions};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Epochs of a round: of JPEGs, more, because clocks of processes are coarse.
const EPOCHS: [(&str, u64); 3] = [("JPEG", 40), ("uint8", 3), ("float32", 3)];

fn main() -> ExitCode {
    let Some((dataset, threads, rounds)) = options(std::env::args().skip(1)) else {
        eprintln!("usage: jpeg_batches DATASET [--threads N] [--rounds R]");
        return ExitCode::from(2);
    };
    match measure(&dataset, threads, rounds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("jpeg_batches: {e}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Option<(String, usize, u64)> {
    let (mut dataset, mut threads, mut rounds) = (None, 1, 5);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => threads = arguments.next()?.parse().ok().filter(|&n| n > 0)?,
            "--rounds" => rounds = arguments.next()?.parse().ok().filter(|&n| n > 0)?,
            _ if dataset.is_none() && !argument.starts_with('-') => dataset = Some(argument),
            _ => return None,
        }
    }
    dataset.map(|dataset| (dataset, threads, rounds))
}

fn measure(dataset: &str, threads: usize, rounds: u64) -> Result<()> {
    let dataset = Dataset::open(dataset)?;
    let loader = |dtype| {
        let options = LoaderOptions {
            threads: Some(threads),
            crop: Crop::random_resized((224, 224)),
            flip: 0.5,
            dtype,
            order: Order::Shuffled,
            ..LoaderOptions::default()
        };
        Loader::new(&dataset, options)
    };
    let (bytes, floats) = (loader(Dtype::U8)?, loader(Dtype::F32)?);
    let mut fastest = [f64::INFINITY; 3];
    let mut held = [0.0; 3];
    for round in 0..rounds {
        for (kind, (name, epochs)) in EPOCHS.into_iter().enumerate() {
            let before = cpu_seconds().ok_or("this system does not tell processor time as Linux does")?;
            let mut total = Total::default();
            for epoch in round * epochs..(round + 1) * epochs {
                match name {
                    "JPEG" => {
                        bytes.iter_jpegs(epoch)?.try_for_each(|b| b.map(|b| total.add(&b.facts, b.data.len())))?
                    }
                    "uint8" => bytes.iter(epoch)?.try_for_each(|b| b.map(|b| total.add(&b, b.data.bytes().len())))?,
                    _ => floats.iter(epoch)?.try_for_each(|b| b.map(|b| total.add(&b, b.data.bytes().len())))?,
                }
            }
            let after = cpu_seconds().unwrap_or(before);
            fastest[kind] = fastest[kind].min((after - before) / total.frames * 1e6);
            held[kind] = total.bytes / total.frames;
        }
    }
    for (kind, (name, _)) in EPOCHS.into_iter().enumerate() {
        let values = serde_json::json!([held[kind].round() as u64, (fastest[kind] * 10.0).round() / 10.0]);
        println!("    {},", serde_json::json!({"name": name, "values": values}));
    }
    Ok(())
}

/// The contents of batches.
#[derive(Default)]
struct Total {
    frames: f64,
    bytes: f64,
}

impl Total {
    fn add(&mut self, batch: &Batch, bytes: usize) {
        self.frames += batch.frame_mask.len() as f64;
        self.bytes += bytes as f64;
    }
}

/// Processor time of this process so far, where Linux says so: fields 14 and 15 of proc(5), in hundredths of a second.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in parentheses and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}
