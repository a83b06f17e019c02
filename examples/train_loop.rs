//! A whole training loop on a packed data set: which way do things move?
//!
//!     cargo run --release --example train_loop                  # packs moving shapes for itself, left/right/up/down
//!     cargo run --release --example train_loop -- TRAIN [VAL]   # packed data sets of your own, with labels
//!
//! The model is a softmax regression on colors and motion in a grid of cells, so it needs no framework; put a network
//! in its place. Fails if the loss does not fall, and on the shapes if the motion is not learnt.

use std::path::Path;
use std::process::ExitCode;

use vidrec::jpeg::Encoder;
use vidrec::order::Order;
use vidrec::{
    Batch, ClipInfo, Crop, Dataset, Dtype, FrameData, Frames, Loader, LoaderOptions, Planes, Result, Writer,
    WriterOptions,
};

const EPOCHS: u64 = 12;
const LEARNING_RATE: f32 = 0.5;
const SIDE: usize = 64;
/// Cells along each side of a picture.
const GRID: usize = 2;
/// Red, green, blue, motion along x, motion along y.
const FEATURES: usize = GRID * GRID * 5;

fn main() -> ExitCode {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &paths[..] {
        [train] => train_and_test(train.as_ref(), train.as_ref()).map(|o| o.last_loss < o.first_loss),
        [train, val] => train_and_test(train.as_ref(), val.as_ref()).map(|o| o.last_loss < o.first_loss),
        [] => train_on_shapes().map(|o| o.last_loss < o.first_loss && o.accuracy > 0.9),
        _ => {
            eprintln!("usage: train_loop [TRAIN [VAL]]");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("nothing was learnt");
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

struct Outcome {
    first_loss: f32,
    last_loss: f32,
    accuracy: f32,
}

fn train_and_test(train: &Path, val: &Path) -> Result<Outcome> {
    let tested_on = if train == val { "training" } else { "held-out" };
    let (train, val) = (Dataset::open(train)?, Dataset::open(val)?);
    let side = SIDE as u32;
    let whole = Crop::center((side, side)).with_resize(Some((side, side)));
    let options =
        LoaderOptions { frames: Frames::uniform(8), crop: whole, dtype: Dtype::F32, ..LoaderOptions::default() };
    // A mirrored clip moves the other way, so there is no flip here: it would change the label.
    let crop = Crop::RandomResized { size: (side, side), scale: (0.6, 1.0), ratio: (0.8, 1.25) };
    let training = LoaderOptions { crop, order: Order::Shuffled, seed: 1, ..options.clone() };
    let train_loader = Loader::new(&train, training)?;
    let val_loader = Loader::new(&val, options)?;

    let mut model = Model::new(class_count(&train)?);
    let mut losses = Vec::new();
    for epoch in 0..EPOCHS {
        let mut mean = Mean::default();
        for batch in train_loader.iter(epoch)? {
            model.step(&*batch?, &mut mean);
        }
        println!("epoch {epoch:2}  loss {:.4}", mean.value());
        losses.push(mean.value());
    }
    let mut correct = Mean::default();
    for batch in val_loader.iter(0)? {
        let batch = batch?;
        examples(&batch).for_each(|(x, label)| correct.add(f32::from(model.best(&x) == label)));
    }
    println!("{tested_on} accuracy {:.1} % of {} clips", 100.0 * correct.value(), correct.count);
    Ok(Outcome { first_loss: losses[0], last_loss: losses[losses.len() - 1], accuracy: correct.value() })
}

fn class_count(set: &Dataset) -> Result<usize> {
    let mut count = set.classes().len();
    for clip in set.clips() {
        count = count.max(clip?.label().map_or(0, |label| label as usize + 1));
    }
    Ok(count)
}

#[derive(Default)]
struct Mean {
    sum: f32,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: f32) {
        self.sum += value;
        self.count += 1;
    }

    fn value(&self) -> f32 {
        self.sum / self.count.max(1) as f32
    }
}

/// Features and label of each clip of `batch` that has a label and counts.
fn examples(batch: &Batch) -> impl Iterator<Item = ([f32; FEATURES], usize)> {
    let samples = batch.f32().unwrap_or_default();
    let clips = samples.chunks_exact(samples.len() / batch.clips.len());
    let known = clips.zip(&batch.labels).zip(&batch.mask).filter(|(_, counts)| **counts);
    known.filter_map(|((clip, &label), _)| Some((features(clip), usize::try_from(label).ok()?)))
}

/// Mean color and motion of each cell of a clip of (T, C, H, W).
///
/// Motion is the normal flow of Horn and Schunck ("Determining Optical Flow", 1981): how the change in time goes with
/// the slope in space.
fn features(clip: &[f32]) -> [f32; FEATURES] {
    let pictures: Vec<&[f32]> = clip.chunks_exact(3 * SIDE * SIDE).collect();
    let gray = |t: usize, i: usize| (0..3).map(|c| pictures[t][c * SIDE * SIDE + i]).sum::<f32>() / 3.0;
    let cell_side = SIDE / GRID;
    std::array::from_fn(|feature| {
        let (cell, kind) = (feature / 5, feature % 5);
        let (mut sum, mut norm) = (0.0, 1e-3);
        for y in (cell / GRID * cell_side..).take(cell_side - 1) {
            for x in (cell % GRID * cell_side..).take(cell_side - 1) {
                let i = y * SIDE + x;
                if kind < 3 {
                    sum += pictures[0][kind * SIDE * SIDE + i];
                    norm += 1.0;
                    continue;
                }
                for t in 1..pictures.len() {
                    let slope = if kind == 3 { gray(t, i + 1) } else { gray(t, i + SIDE) } - gray(t, i);
                    let change = gray(t, i) - gray(t - 1, i);
                    sum -= slope * change;
                    norm += slope * slope + change * change;
                }
            }
        }
        sum / norm
    })
}

/// Softmax regression: one row of weights a class, the last of each being its bias.
struct Model {
    weights: Vec<[f32; FEATURES + 1]>,
}

impl Model {
    fn new(classes: usize) -> Self {
        Model { weights: vec![[0.0; FEATURES + 1]; classes] }
    }

    fn scores(&self, x: &[f32; FEATURES]) -> Vec<f32> {
        self.weights.iter().map(|row| x.iter().zip(row).map(|(x, w)| x * w).sum::<f32>() + row[FEATURES]).collect()
    }

    fn best(&self, x: &[f32; FEATURES]) -> usize {
        let scores = self.scores(x);
        (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0)
    }

    /// One step of gradient descent on the cross entropy of a batch.
    fn step(&mut self, batch: &Batch, loss: &mut Mean) {
        let rate = LEARNING_RATE / batch.clips.len() as f32;
        let mut steps = vec![[0.0; FEATURES + 1]; self.weights.len()];
        for (x, label) in examples(batch) {
            let scores = self.scores(&x);
            let top = scores.iter().copied().fold(f32::MIN, f32::max);
            let sum: f32 = scores.iter().map(|s| (s - top).exp()).sum();
            loss.add(sum.ln() - (scores[label] - top));
            for (class, step) in steps.iter_mut().enumerate() {
                let error = (scores[class] - top).exp() / sum - f32::from(class == label);
                step.iter_mut().zip(x.iter().chain(&[1.0])).for_each(|(step, x)| *step += rate * error * x);
            }
        }
        let all = self.weights.iter_mut().flatten().zip(steps.iter().flatten());
        all.for_each(|(weight, step)| *weight -= step);
    }
}

/// Packs clips of moving shapes into a temporary folder, and learns from them.
fn train_on_shapes() -> Result<Outcome> {
    let folder = std::env::temp_dir().join(format!("train_loop-{}", std::process::id()));
    let (train, val) = (folder.join("train"), folder.join("val"));
    let learned = pack_shapes(&train, 0..240)
        .and_then(|()| pack_shapes(&val, 240..320))
        .and_then(|()| train_and_test(&train, &val));
    let _ = std::fs::remove_dir_all(folder);
    learned
}

/// Clip `i` shows a shape of its own color, size and place that moves right, left, down or up: label `i % 4`.
fn pack_shapes(dir: &Path, clips: std::ops::Range<u32>) -> Result<()> {
    let mut writer = Writer::create(dir, WriterOptions::default())?;
    let mut encoder = Encoder::new(90)?;
    for i in clips {
        let mut jpegs = vec![Vec::new(); 8];
        for (t, jpeg) in jpegs.iter_mut().enumerate() {
            encoder.encode(&shape(i, t as i32)?, jpeg)?;
        }
        let info =
            ClipInfo { label: Some(i % 4), source: format!("shape-{i}"), width: 96, height: 80, ..ClipInfo::default() };
        let frames: Vec<_> = jpegs.iter().map(|jpeg| FrameData { jpeg, pts: 0, source_index: None }).collect();
        writer.append(&info, &frames)?;
    }
    writer.finish()?;
    Ok(())
}

fn shape(clip: u32, t: i32) -> Result<Planes> {
    // Different enough from clip to clip; any hash will do.
    let random = |k: u32| (clip * 8 + k).wrapping_mul(0x9E37_79B9).rotate_left(15).wrapping_mul(0x85EB_CA6B) >> 8;
    let draw = |k: u32, from: u32, to: u32| (from + random(k) % (to - from)) as i32;
    let speed = draw(0, 1, 4);
    let (dx, dy) = [(1, 0), (-1, 0), (0, 1), (0, -1)][clip as usize % 4];
    let (x, y) = (draw(1, 36, 60) + dx * speed * (t - 4), draw(2, 32, 48) + dy * speed * (t - 4));
    let (size, round) = (draw(3, 6, 14), random(4).is_multiple_of(2));
    let mut picture = Planes::new(96, 80)?;
    let inside = |px: i32, py: i32| {
        let (a, b) = (px - x, py - y);
        if round { a * a + b * b < size * size } else { a.abs().max(b.abs()) < size }
    };
    let (back, front) = (draw(5, 20, 100) as u8, draw(6, 150, 240) as u8);
    for (i, luma) in picture.y.iter_mut().enumerate() {
        *luma = if inside(i as i32 % 96, i as i32 / 96) { front } else { back };
    }
    picture.cb.fill(draw(7, 90, 160) as u8);
    Ok(picture)
}
