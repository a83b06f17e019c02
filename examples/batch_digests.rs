//! Prints a SHA-256 of an epoch's batches for each of many settings of the loader: order, crop, type, frames, decoder.
//!
//!     cargo run --release --example batch_digests -- DATASET...
//!
//! Two versions of vidrec give the same batches if they print the same lines; `scripts/same_bytes.sh` compares them.

use std::process::ExitCode;

use sha2::{Digest, Sha256};
use vidrec::order::Order;
use vidrec::{Augmentation, ColorJitter, Crop, Dataset, Frames, Loader, LoaderOptions, Result};

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

/// The default, and one setting for each thing that changes the batches.
fn settings() -> Result<Vec<(String, LoaderOptions)>> {
    let default = || {
        let mut options = LoaderOptions { batch_size: 5, seed: 7, ..LoaderOptions::default() };
        (options.frames, options.pictures.size) = (Frames::Fixed(4), (96, 80));
        options
    };
    let mut all = vec![("default".to_owned(), default())];
    let mut add = |name: String, change: &dyn Fn(&mut LoaderOptions) -> Result<()>| {
        let mut options = default();
        change(&mut options)?;
        all.push((name, options));
        Result::Ok(())
    };
    for word in ["sequential", "shuffled", "blocks", "homes"] {
        add(format!("order {word}"), &|o| Ok(o.sampling.order = word.parse()?))?;
    }
    add("order given".into(), &|o| Ok(o.sampling.order = Order::Given([3, 1, 2, 1, 0].into())))?;
    for word in Crop::WORDS {
        add(format!("crop {word}"), &|o| {
            Ok(o.augmentation = Augmentation { crop: word.parse()?, flip: 0.5, ..o.augmentation })
        })?;
    }
    for word in ["uint8", "float16", "bfloat16", "float32"] {
        add(format!("dtype {word}"), &|o| {
            (o.pictures.mean, o.pictures.std) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
            Ok(o.pictures.dtype = word.parse()?)
        })?;
    }
    for word in ["rgb", "gray", "ycbcr"] {
        add(format!("channels {word}"), &|o| Ok(o.pictures.channels = word.parse()?))?;
    }
    for word in ["BTCHW", "BCTHW", "BTHWC"] {
        add(format!("layout {word}"), &|o| Ok(o.pictures.layout = word.parse()?))?;
    }
    for word in ["auto", "turbo"] {
        add(format!("decoder {word}"), &|o| {
            o.augmentation.crop = Crop::RANDOM_RESIZED;
            Ok(o.pictures.decoder = word.parse()?)
        })?;
    }
    for word in ["uniform", "random-segments", "clip", "clip-center", "views", "dense"] {
        add(format!("temporal {word}"), &|o| Ok(o.temporal = word.parse()?))?;
    }
    for word in ["drop", "pad", "wrap"] {
        add(format!("last {word}, rank 1 of 2"), &|o| {
            (o.sampling.rank, o.sampling.world_size) = (1, 2);
            Ok(o.sampling.last = word.parse()?)
        })?;
    }
    for size in [(32, 32), (112, 112), (224, 224)] {
        add(format!("size {}x{}", size.0, size.1), &|o| Ok(o.pictures.size = size))?;
    }
    let color = ColorJitter { brightness: 0.4, contrast: 0.4, saturation: 0.4, grayscale: 0.2 };
    add("colors".into(), &|o| Ok(o.augmentation.color = color))?;
    Ok(all)
}
