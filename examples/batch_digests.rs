//! Prints what two epochs of a loader give, as digests, for each line of options in a table: first of all that is drawn (order,
//! frames, crops, flips, colors, labels, masks), then of all values (pixels, tracks, attributes).
//!
//!     cargo run --release --example batch_digests -- tests/corpus/batches.txt DATASET...
//!
//! Two versions of vidrec give the same batches if they print the same lines; `scripts/same_bytes.sh` compares them, and
//! `tests/loader/frozen.rs` compares those of `tests/corpus/clips` with the table.

use std::process::ExitCode;

use sha2::{Digest, Sha256};
use vidrec::{Batch, Dataset, Loader, LoaderOptions, Mix, MixOptions, Result, TrackNumber, TrackType};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(table), sets) = (arguments.next(), arguments.collect::<Vec<_>>()) else {
        eprintln!("usage: batch_digests TABLE DATASET...");
        return ExitCode::from(2);
    };
    match print(&table, &sets) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("batch_digests: {e}");
            ExitCode::FAILURE
        }
    }
}

fn print(table: &str, sets: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let table = std::fs::read_to_string(table)?;
    for set in sets {
        let dataset = Dataset::open(set)?;
        for options in options_in(&table) {
            println!("{set} {}", line(&dataset, options));
        }
    }
    Ok(())
}

/// The first column of each line: options as JSON, after `mix` those of a loader of a mix.
pub fn options_in(table: &str) -> impl Iterator<Item = &str> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(" | ").next().unwrap_or_default())
}

/// A line of the table as it is now. Clips may be too short for options: being refused is part of what stays the same.
pub fn line(dataset: &Dataset, options: &str) -> String {
    match digests(dataset, options) {
        Ok([draws, values]) => format!("{options} | {draws} | {values}"),
        Err(_) => format!("{options} | refused"),
    }
}

fn digests(dataset: &Dataset, options: &str) -> Result<[String; 2]> {
    let loader = match options.strip_prefix("mix ") {
        Some(options) => Loader::mix(&mix(dataset)?, parsed(options)?)?,
        None => Loader::new(dataset, parsed(options)?)?,
    };
    let (mut draws, mut values) = (Sha256::new(), Sha256::new());
    for batch in loader.iter(1..3)? {
        let batch = batch?;
        draws.update(drawn(&batch));
        values.update(batch.data.bytes());
        let tracks: Vec<_> = batch.tracks.iter().map(|(name, track)| (name, TrackBatch::of(track))).collect();
        values.update(format!("{:?} {:?}", batch.fields, tracks));
    }
    Ok([draws, values].map(|digest| digest.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()))
}

fn parsed(options: &str) -> Result<LoaderOptions> {
    serde_json::from_str(options).map_err(|e| vidrec::Error::usage(format!("{options}: {e}")))
}

/// The data set twice, of which one is taken twice as often.
fn mix(dataset: &Dataset) -> Result<Mix> {
    let sources = [("often", dataset.clone(), 2.0), ("rarely", dataset.clone(), 1.0)];
    Mix::new(sources, MixOptions { samples_per_epoch: Some(20), window: 5, ..MixOptions::default() })
}

/// A track of numbers, as its digest has it.
#[derive(Debug)]
#[allow(dead_code, reason = "it is printed")]
struct TrackBatch<'a> {
    values: Values<'a>,
    shape: &'a [usize],
    mask: &'a [bool],
    mask_shape: &'a [usize],
    times: &'a [Vec<(f64, f64)>],
    dims: &'a [u32],
}

#[derive(Debug)]
#[allow(dead_code, reason = "it is printed")]
enum Values<'a> {
    F16(&'a [vidrec::f16]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    Bool(&'a [u8]),
    Texts(&'a [Vec<String>]),
}

impl<'a> TrackBatch<'a> {
    fn of(track: &'a vidrec::TrackBatch) -> Self {
        let vidrec::TrackBatch { shape, mask, mask_shape, times, dims, .. } = track;
        let values = match track.kind {
            TrackType::F16 => Values::F16(numbers(track)),
            TrackType::F32 => Values::F32(numbers(track)),
            TrackType::F64 => Values::F64(numbers(track)),
            TrackType::I16 => Values::I16(numbers(track)),
            TrackType::I32 => Values::I32(numbers(track)),
            TrackType::I64 => Values::I64(numbers(track)),
            TrackType::U8 => Values::U8(numbers(track)),
            TrackType::U16 => Values::U16(numbers(track)),
            TrackType::Bool => Values::Bool(numbers(track)),
            TrackType::Utf8 => Values::Texts(&track.texts),
        };
        TrackBatch { values, shape, mask, mask_shape, times, dims }
    }
}

fn numbers<T: TrackNumber>(track: &vidrec::TrackBatch) -> &[T] {
    track.numbers().expect("numbers of their type")
}

/// All that is drawn, without names of fields and types, which may change.
fn drawn(batch: &Batch) -> String {
    // Of samples with several cameras, the frames that the first one shows.
    let places = (batch.times.len() / batch.params.len().max(1)).max(1);
    let cameras = (batch.frame_mask.len() / batch.times.len().max(1)).max(1);
    let frame_mask: Vec<bool> = batch.frame_mask.chunks(places).step_by(cameras).flatten().copied().collect();
    let mut times = batch.times.chunks(places);
    let params = batch.params.iter().map(|p| {
        let times: Vec<f64> = times.next().into_iter().flatten().copied().flatten().collect();
        let c = &p.color;
        let color = format!(
            "{} {} {} {:?} {}",
            c.brightness,
            c.contrast,
            c.saturation,
            c.order.map(|step| format!("{step:?}").to_lowercase()),
            c.grayscale
        );
        let of_frames = format!("{:?} {times:?} {:?} {:?}", p.frames, p.window, p.instead_of);
        format!("{} {} {} {of_frames} {color}", p.sample, p.view, p.flip)
    });
    let params: Vec<String> = params.collect();
    let Batch { labels, clips, source_ids, mask, camera_mask, clips_on_all_ranks, .. } = batch;
    let shape = batch.shape();
    format!(
        "{shape:?} {labels:?} {clips:?} {source_ids:?} {mask:?} {frame_mask:?} {camera_mask:?} {clips_on_all_ranks} {params:?}"
    )
}
