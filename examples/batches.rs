//! Writes the batches of an epoch, in order, as raw bytes: 8 bits a sample, (batch, frames, channels, height, width),
//! RGB, whole pictures.
//!
//!     cargo run --release --example batches -- DATASET BATCH OUT.bin

use std::process::ExitCode;

use vidrec::{Crop, Dataset, Frames, Loader, LoaderOptions};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dataset, batch, out] = &arguments[..] else {
        eprintln!("usage: batches DATASET BATCH OUT.bin");
        return ExitCode::from(2);
    };
    match write(dataset, batch, out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("batches: {e}");
            ExitCode::FAILURE
        }
    }
}

fn write(dataset: &str, batch: &str, out: &str) -> Result<()> {
    let dataset = Dataset::open(dataset)?;
    let first = dataset.clip(0)?;
    let options = LoaderOptions {
        batch_size: batch.parse()?,
        frames: Frames::uniform(first.frame_count()),
        crop: Crop::center((first.width(), first.height())),
        ..LoaderOptions::default()
    };
    let loader = Loader::new(&dataset, options)?;
    let mut bytes = Vec::new();
    for batch in loader.iter(0)? {
        bytes.extend_from_slice(batch?.u8().ok_or("not 8 bits a sample")?);
    }
    Ok(std::fs::write(out, bytes)?)
}
