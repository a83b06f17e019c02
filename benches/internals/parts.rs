//! Parts of the loader by themselves: finding and decoding tiles, the pass from planes to a picture, the order.
//!
//! One frame of 340 by 256 pixels at quality 90, made from formulas, of which the middle is taken.

use std::hint::black_box;

use criterion::{Criterion, criterion_group};
use vidrec::Planes;
use vidrec::jpeg::Encoder;
use vidrec::order::Permutation;
use vidrec_core::loader::kernel::bench::KernelBench;
use vidrec_jpeg::bench::{JpegDecoder, TileBench};

/// Waves, edges and a little noise: about as many bytes as a frame of a video has.
fn frame() -> Vec<u8> {
    let mut picture = Planes::new(340, 256).unwrap();
    let mut state = 1u32;
    for (k, plane) in [&mut picture.y, &mut picture.cb, &mut picture.cr].into_iter().enumerate() {
        let row = if k == 0 { 340 } else { 170 };
        for (i, level) in plane.iter_mut().enumerate() {
            let (x, y) = (f64::from((i % row) as u32), f64::from((i / row) as u32));
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let edge = if (x / 37.0 + y / 23.0) as u32 & 1 == 0 { 25.0 } else { -25.0 };
            *level = (128.0 + 60.0 * (x / 17.0).sin() * (y / 13.0).cos() + edge + f64::from(state % 9)) as u8;
        }
    }
    let mut jpeg = Vec::new();
    Encoder::new(90).unwrap().encode(&picture, &mut jpeg).unwrap();
    jpeg
}

const MIDDLE: [u32; 4] = [58, 16, 224, 224];

fn tiles(c: &mut Criterion) {
    let jpeg = frame();
    let mut group = c.benchmark_group("tiles");
    let mut bench = TileBench::new(JpegDecoder::Auto).unwrap();
    group.bench_function("find", |b| b.iter(|| bench.find(black_box(&jpeg), MIDDLE).unwrap()));
    group.bench_function("cut", |b| b.iter(|| bench.cut(black_box(&jpeg), MIDDLE).unwrap()));
    for (name, choice) in [("own", JpegDecoder::Own), ("libjpeg-turbo", JpegDecoder::Turbo)] {
        let mut bench = TileBench::new(choice).unwrap();
        for step in [1, 2, 4, 8] {
            group.bench_function(format!("decode/{name}/1-{step}"), |b| {
                b.iter(|| bench.decode(black_box(&jpeg), MIDDLE, step).unwrap());
            });
        }
    }
    group.finish();
}

fn kernel(c: &mut Criterion) {
    let mut group = c.benchmark_group("kernel");
    for (name, crop, side) in [("enlarge", 170, 224), ("reduce", 250, 112)] {
        let mut bench = KernelBench::new(crop, side);
        for (i, machine) in KernelBench::machines().into_iter().enumerate() {
            group.bench_function(format!("{name}/{machine}/f32"), |b| b.iter(|| bench.f32(i)));
            group.bench_function(format!("{name}/{machine}/f16"), |b| b.iter(|| bench.f16(i)));
            group.bench_function(format!("{name}/{machine}/bf16"), |b| b.iter(|| bench.bf16(i)));
            group.bench_function(format!("{name}/{machine}/u8"), |b| b.iter(|| bench.u8(i)));
        }
    }
    group.finish();
}

fn order(c: &mut Criterion) {
    let permutation = Permutation::new(10_000_000, 1, 0);
    let mut at = 0;
    c.bench_function("order/permutation", |b| {
        b.iter(|| {
            at = (at + 1) % 10_000_000;
            permutation.get(black_box(at))
        });
    });
}

criterion_group!(benches, tiles, kernel, order);
