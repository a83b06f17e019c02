//! Prints a SHA-256 of an epoch's batches for each of many settings of the loader: order, crop, type, frames, decoder.
//!
//!     cargo run --release --example batch_digests -- DATASET...
//!
//! Two versions of vidrec give the same batches if they print the same lines; `scripts/same_bytes.sh` compares them.

use std::process::ExitCode;

use sha2::{Digest, Sha256};
use vidrec::order::Order;
use vidrec::{ColorJitter, Crop, Dataset, Frames, Loader, LoaderOptions, Result, Temporal};

fn main() -> ExitCode {
    let sets: Vec<String> = std::env::args().skip(1).collect();
    if sets.is_empty() {
        eprintln!("usage: batch_digests DATASET...");
        return ExitCode::from(2);
    }
    for set in sets {
        if let Err(e) = print_digests(&set) {
            eprintln!("batch_digests: {set}: {e:#}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn print_digests(set: &str) -> Result<()> {
    let dataset = Dataset::open(set)?;
    for (name, options) in settings()? {
        // A set whose clips are too short for a setting, or differ in length, refuses it: that stays the same, too.
        let digest = match Loader::new(&dataset, options) {
            Ok(loader) => digest(&loader)?,
            Err(e) => format!("refused: {e}"),
        };
        println!("{set} {name}: {digest}");
    }
    Ok(())
}

fn digest(loader: &Loader) -> Result<String> {
    let mut digest = Sha256::new();
    for batch in loader.iter(1..3)? {
        let batch = batch?;
        digest.update(format!("{:?} {:?} {:?}", batch.shape(), batch.labels, batch.clips));
        digest.update(batch.data.bytes());
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// How one word changes the settings.
type Change = fn(&mut LoaderOptions, &str) -> Result<()>;

/// Each option that changes the batches, with the words that it takes.
const CHANGES: &[(&str, &[&str], Change)] = &[
    ("order", &["sequential", "shuffled", "blocks", "homes"], |o, word| word.parse().map(|to| o.sampling.order = to)),
    ("crop", Crop::WORDS, |o, word| {
        o.augmentation.flip = 0.5;
        word.parse().map(|to| o.augmentation.crop = to)
    }),
    ("dtype", &["uint8", "float16", "bfloat16", "float32"], |o, word| {
        (o.pictures.mean, o.pictures.std) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
        word.parse().map(|to| o.pictures.dtype = to)
    }),
    ("channels", &["rgb", "gray", "ycbcr"], |o, word| word.parse().map(|to| o.pictures.channels = to)),
    ("layout", &["BTCHW", "BCTHW", "BTHWC"], |o, word| word.parse().map(|to| o.pictures.layout = to)),
    ("decoder", &["auto", "turbo"], |o, word| {
        o.augmentation.crop = Crop::RANDOM_RESIZED;
        word.parse().map(|to| o.pictures.decoder = to)
    }),
    ("temporal", Temporal::WORDS, |o, word| word.parse().map(|to| o.temporal = to)),
    ("last, on rank 1 of 2,", &["drop", "pad", "wrap"], |o, word| {
        (o.sampling.rank, o.sampling.world_size) = (1, 2);
        word.parse().map(|to| o.sampling.last = to)
    }),
];

/// The default, one setting for each word of [`CHANGES`], and those that are no words.
fn settings() -> Result<Vec<(String, LoaderOptions)>> {
    let mut all = vec![("default".to_owned(), default())];
    for (option, words, change) in CHANGES {
        for word in *words {
            let mut options = default();
            change(&mut options, word)?;
            all.push((format!("{option} {word}"), options));
        }
    }
    let mut given = default();
    given.sampling.order = Order::Given([3, 1, 2, 1, 0].into());
    all.push(("order given".into(), given));
    for (width, height) in [(32, 32), (112, 112), (224, 224)] {
        let mut options = default();
        options.pictures.size = (width, height);
        all.push((format!("size {width}x{height}"), options));
    }
    let mut colors = default();
    colors.augmentation.color = ColorJitter { brightness: 0.4, contrast: 0.4, saturation: 0.4, grayscale: 0.2 };
    all.push(("colors".into(), colors));
    Ok(all)
}

fn default() -> LoaderOptions {
    let mut options = LoaderOptions { batch_size: 5, seed: 7, ..LoaderOptions::default() };
    (options.frames, options.pictures.size) = (Frames::Fixed(4), (96, 80));
    options
}
