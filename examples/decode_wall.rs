//! The wall that loaders of JPEGs run into: how many frames a second libjpeg-turbo decodes, whole and into memory that is
//! used again and again, with nothing else to do. No crop, no resize, no batch, no checksum.
//!
//!     cargo run --release --example decode_wall -- DATASET [--threads N] [--seconds S]
//!
//! It decodes to RGB as every other decoder does by default: accurate inverse DCT, smooth chroma upsampling.
//! The answer is one line of JSON.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use vidrec::Dataset;
use vidrec::jpeg::{Decoder, RgbPicture};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

struct Options {
    dataset: String,
    threads: usize,
    seconds: f64,
}

fn main() -> ExitCode {
    let Some(options) = options(std::env::args().skip(1)) else {
        eprintln!("usage: decode_wall DATASET [--threads N] [--seconds S]");
        return ExitCode::from(2);
    };
    match measure(&options) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("decode_wall: {e}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Option<Options> {
    let mut options = Options { dataset: String::new(), threads: 2, seconds: 5.0 };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => options.threads = arguments.next()?.parse().ok().filter(|&n| n > 0)?,
            "--seconds" => options.seconds = arguments.next()?.parse().ok().filter(|s| (0.0..=86_400.0).contains(s))?,
            _ if options.dataset.is_empty() && !argument.starts_with('-') => options.dataset = argument,
            _ => return None,
        }
    }
    (!options.dataset.is_empty()).then_some(options)
}

fn measure(options: &Options) -> Result<serde_json::Value> {
    let dataset = Dataset::open(&options.dataset)?;
    let clips = dataset.clips().collect::<vidrec::Result<Vec<_>>>()?;
    let frames = clips.iter().flat_map(|clip| clip.frames()).collect::<vidrec::Result<Vec<_>>>()?;
    if frames.is_empty() {
        return Err("the data set has no frames".into());
    }

    let (next, done, stop) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let decode_until_stopped = || -> vidrec::Result<()> {
        let (mut decoder, mut rgb) = (Decoder::new()?, RgbPicture::default());
        while !stop.load(Relaxed) {
            decoder.decode_picture_into(frames[next.fetch_add(1, Relaxed) % frames.len()].jpeg(), &mut rgb)?;
            done.fetch_add(1, Relaxed);
        }
        Ok(())
    };
    let (decoded, seconds, cpu) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.threads).map(|_| scope.spawn(decode_until_stopped)).collect();
        std::thread::sleep(Duration::from_secs_f64(options.seconds.min(1.0)));
        let (started, before, cpu_before) = (Instant::now(), done.load(Relaxed), cpu_seconds());
        std::thread::sleep(Duration::from_secs_f64(options.seconds));
        let (after, seconds, cpu_after) = (done.load(Relaxed), started.elapsed().as_secs_f64(), cpu_seconds());
        stop.store(true, Relaxed);
        for thread in threads {
            thread.join().expect("decoding does not panic")?;
        }
        Ok::<_, vidrec::Error>((
            after - before,
            seconds,
            cpu_before.zip(cpu_after).map(|(before, after)| after - before),
        ))
    })?;

    Ok(serde_json::json!({
        "frames_per_second": decoded as f64 / seconds,
        "cpu_seconds_per_1000_frames": cpu.map(|cpu| cpu / decoded as f64 * 1e3),
        "threads": options.threads,
        "seconds": seconds,
    }))
}

/// Processor time of this process so far, where Linux says so: fields 14 and 15 of proc(5), in hundredths of a second.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in parentheses and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}
