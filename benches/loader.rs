//! JPEG codec and loader: frames a second, as `criterion` counts elements.
//!
//!     cargo bench --no-default-features --bench loader
//!
//! On pictures made from formulas; with the path of a data set in `VIDREC_SET`, the loader on its first clips.
//! `loader/whole-decode` is the bar: libjpeg-turbo decodes the same frames to RGB, whole, on as many threads, and nothing
//! is made of them.

use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vidrec::jpeg::{Decoder, Encoder, RgbPicture};
use vidrec::order::Order;
use vidrec::{ClipInfo, Crop, Dataset, Dtype, FrameData, Frames, Loader, LoaderOptions, Planes, Writer, WriterOptions};

const WIDTH: u32 = 340;
const HEIGHT: u32 = 256;
const CLIPS: u32 = 16;
const FRAMES: u32 = 8;

/// Waves, edges and a little noise.
fn picture(seed: u32) -> Planes {
    let mut picture = Planes::new(WIDTH, HEIGHT).unwrap();
    let chroma_width = picture.chroma_width();
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    let mut level = |i: usize, row: u32, phase: f64| {
        let (x, y) = (f64::from(i as u32 % row), f64::from(i as u32 / row));
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let edge = if (x / 37.0 + y / 23.0 + f64::from(seed)) as u32 & 1 == 0 { 25.0 } else { -25.0 };
        (128.0 + 60.0 * (x / 17.0 + phase).sin() * (y / 13.0).cos() + edge + f64::from(state % 9)) as u8
    };
    picture.y.iter_mut().enumerate().for_each(|(i, v)| *v = level(i, WIDTH, f64::from(seed)));
    picture.cb.iter_mut().enumerate().for_each(|(i, v)| *v = level(i, chroma_width, 1.0));
    picture.cr.iter_mut().enumerate().for_each(|(i, v)| *v = level(i, chroma_width, 2.0));
    picture
}

fn encode(picture: &Planes) -> Vec<u8> {
    let mut jpeg = Vec::new();
    Encoder::new(90).unwrap().encode(picture, &mut jpeg).unwrap();
    jpeg
}

fn codec(c: &mut Criterion) {
    let picture = picture(1);
    let jpeg = encode(&picture);
    let mut group = c.benchmark_group("jpeg");
    group.throughput(Throughput::Elements(1));

    let (mut encoder, mut out) = (Encoder::new(90).unwrap(), Vec::new());
    group.bench_function("encode/340x256", |b| b.iter(|| encoder.encode(black_box(&picture), &mut out).unwrap()));
    assert_eq!(out, jpeg);

    let (mut decoder, mut planes) = (Decoder::new().unwrap(), Planes::new(WIDTH, HEIGHT).unwrap());
    group.bench_function("decode-planes/340x256", |b| {
        b.iter(|| decoder.decode_planes(black_box(&jpeg), &mut planes).unwrap());
    });
    let mean_error = picture.y.iter().zip(&planes.y).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>();
    assert!(mean_error < 4 * picture.y.len() as u64, "decoded what was encoded");

    let mut rgb = vec![0; (WIDTH * HEIGHT * 3) as usize];
    group.bench_function("decode-rgb/340x256", |b| {
        b.iter(|| decoder.decode_rgb(black_box(&jpeg), &mut rgb, WIDTH as usize * 3).unwrap());
    });
    assert!(rgb.iter().any(|&v| v != 0));
    group.finish();
}

/// The data set that `VIDREC_SET` names, or one written to `dir`.
fn set(dir: &Path) -> Dataset {
    if let Some(path) = std::env::var_os("VIDREC_SET") {
        return Dataset::open(Path::new(&path)).unwrap();
    }
    let mut writer = Writer::create(dir, WriterOptions::default()).unwrap();
    for clip in 0..CLIPS {
        let jpegs: Vec<_> = (0..FRAMES).map(|t| encode(&picture(clip * FRAMES + t))).collect();
        let frames: Vec<_> = jpegs.iter().map(|jpeg| FrameData { jpeg, pts: 0, source_index: None }).collect();
        let info = ClipInfo { label: Some(clip), width: WIDTH, height: HEIGHT, ..ClipInfo::default() };
        writer.append(&info, &frames).unwrap();
    }
    writer.finish().unwrap();
    Dataset::open(dir).unwrap()
}

/// Decodes the first frames of the first clips to RGB, on `threads` threads.
fn whole_decode(set: &Dataset, threads: usize) {
    let next = AtomicU64::new(0);
    let work = || {
        let (mut decoder, mut rgb) = (Decoder::new().unwrap(), RgbPicture::default());
        loop {
            let clip = next.fetch_add(1, Ordering::Relaxed);
            if clip >= u64::from(CLIPS) {
                return;
            }
            let clip = set.clip(clip % set.len()).unwrap();
            for t in 0..FRAMES {
                let frame = clip.frame(t % clip.frame_count()).unwrap();
                decoder.decode_picture_into(frame.jpeg(), &mut rgb).unwrap();
            }
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}

fn loader(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let set = set(&folder.path().join("set"));
    let mut group = c.benchmark_group("loader");
    group.throughput(Throughput::Elements(u64::from(CLIPS * FRAMES)));
    let threads = Loader::new(&set, LoaderOptions { frames: Frames::uniform(FRAMES), ..LoaderOptions::default() })
        .unwrap()
        .threads();
    group.bench_function("whole-decode", |b| b.iter(|| whole_decode(&set, threads)));
    for (name, crop, dtype) in [
        ("center/224/u8", Crop::center((224, 224)), Dtype::U8),
        ("random/224/f32", Crop::random((224, 224)), Dtype::F32),
        ("random-resized/224/u8", Crop::random_resized((224, 224)), Dtype::U8),
        ("random-resized/224/f32", Crop::random_resized((224, 224)), Dtype::F32),
        ("random-resized/112/f32", Crop::random_resized((112, 112)), Dtype::F32),
    ] {
        let options = LoaderOptions {
            frames: Frames::uniform(FRAMES),
            batch_size: CLIPS,
            crop,
            flip: 0.5,
            dtype,
            order: Order::Shuffled,
            ..LoaderOptions::default()
        };
        let (side, _) = options.crop.size();
        let loader = Loader::new(&set, options).unwrap();
        // A batch of the loader's own has aligned memory, as that of a training loop.
        let (mut memory, mut epoch) = (loader.batch(0, 0).unwrap(), 0);
        group.bench_function(name, |b| {
            b.iter(|| {
                loader.batch_into(epoch, 0, memory.data.bytes_mut()).unwrap();
                epoch += 1;
            });
        });
        assert_eq!(memory.shape(), [CLIPS as usize, FRAMES as usize, 3, side as usize, side as usize]);
        assert!(memory.data == loader.batch(epoch - 1, 0).unwrap().data);
    }
    group.finish();
}

criterion_group!(benches, codec, loader);
criterion_main!(benches);
