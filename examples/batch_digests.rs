//! Prints a SHA-256 of an epoch's batches for each of many settings of the loader: order, crop, type, frames, decoder.
//!
//!     cargo run --release --example batch_digests -- DATASET...
//!
//! Two versions of vidrec give the same batches if they print the same lines; `scripts/same_bytes.sh` compares them.

use std::process::ExitCode;

use sha2::{Digest, Sha256};
use vidrec::order::Order;
use vidrec::{ColorJitter, Crop, Dataset, Dtype, Frames, Last, Loader, LoaderOptions, Normalize, Result, Start};

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

/// Width and height of the pictures.
const SIZE: (u32, u32) = (96, 80);

/// Each option that changes the batches, with the words that it takes.
const CHANGES: &[(&str, &[&str], Change)] = &[
    ("order", &["sequential", "shuffled", "blocks", "homes"], |o, word| {
        o.order = order(word);
        Ok(())
    }),
    (
        "crop",
        &["center", "random", "random-resized", "multi-scale", "multi-scale-fixed", "cover", "cover-random", "three"],
        |o, word| {
            (o.flip, o.crop) = (0.5, crop(word));
            Ok(())
        },
    ),
    ("dtype", &["uint8", "float16", "bfloat16", "float32"], |o, word| {
        o.dtype = word.parse()?;
        o.normalize = Some(Normalize::IMAGENET).filter(|_| o.dtype != Dtype::U8);
        Ok(())
    }),
    ("channels", &["rgb", "gray", "ycbcr"], |o, word| word.parse().map(|to| o.channels = to)),
    ("layout", &["BTCHW", "BCTHW", "BTHWC"], |o, word| word.parse().map(|to| o.layout = to)),
    ("decoder", &["auto", "turbo"], |o, word| {
        o.crop = Crop::random_resized(SIZE);
        word.parse().map(|to| o.decoder = to)
    }),
    ("temporal", &["uniform", "random-segments", "clip", "clip-center", "views", "dense"], |o, word| {
        o.frames = frames(word, 4);
        Ok(())
    }),
    ("last, on rank 1 of 2,", &["keep", "drop", "pad", "wrap"], |o, word| {
        o.rank = (1, 2);
        word.parse().map(|to| o.last = to)
    }),
];

fn order(word: &str) -> Order {
    match word {
        "shuffled" => Order::Shuffled,
        "blocks" => Order::Blocks { block: 64, window: 8 },
        "homes" => Order::Homes { homes: None, exchange: 1.0, block: 64, window: 8 },
        _ => Order::Sequential,
    }
}

fn crop(word: &str) -> Crop {
    match word {
        "random" => Crop::random(SIZE),
        "random-resized" => Crop::random_resized(SIZE),
        "multi-scale" => Crop::multi_scale(SIZE, false),
        "multi-scale-fixed" => Crop::multi_scale(SIZE, true),
        "cover" => Crop::cover(SIZE, false),
        "cover-random" => Crop::cover(SIZE, true),
        "three" => Crop::three(SIZE),
        _ => Crop::center(SIZE),
    }
}

fn frames(word: &str, count: u32) -> Frames {
    match word {
        "random-segments" => Frames::random(count),
        "clip" => Frames::run(count),
        "clip-center" => Frames::run(count).with_at(Start::Center),
        "views" => Frames::views(10, count),
        "dense" => Frames::windows(count),
        _ => Frames::uniform(count),
    }
}

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
    let given = LoaderOptions { order: Order::Given([3, 1, 2, 1, 0].into()), ..default() };
    all.push(("order given".into(), given));
    for size in [(32, 32), (112, 112), (224, 224)] {
        let (width, height) = size;
        all.push((format!("size {width}x{height}"), LoaderOptions { crop: Crop::center(size), ..default() }));
    }
    let color = ColorJitter { brightness: 0.4, contrast: 0.4, saturation: 0.4, grayscale: 0.2 };
    all.push(("colors".into(), LoaderOptions { color, ..default() }));
    Ok(all)
}

fn default() -> LoaderOptions {
    LoaderOptions {
        batch_size: 5,
        seed: 7,
        frames: Frames::uniform(4),
        crop: Crop::center(SIZE),
        // Older versions have no smaller batches.
        last: Last::Pad,
        ..LoaderOptions::default()
    }
}
