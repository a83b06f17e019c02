//! Compares the kernel with the plain definition, with itself on every machine, and with a resized RGB decode.

use half::{bf16, f16};
use proptest::prelude::*;

use super::isa::Machine;
use super::*;
use vidrec_format::random::Random;
use vidrec_jpeg::Pixels;
use vidrec_jpeg::Planes;
use vidrec_jpeg::{DecodedPart, Decoder, Encoder, RegionDecoder, Scale};

/// All of `length` pixels from `start` on, as `out` pixels.
fn whole(start: u32, length: u32, out: u32) -> Span {
    Span { bounds: (start, start + length), start: start.into(), scale: f64::from(length) / f64::from(out) }
}

fn target(size: (u32, u32)) -> PictureSpec {
    let (mean, std, matrix) = ([0.0; 3], [1.0; 3], ColorMatrix::IDENTITY);
    PictureSpec { size, channels: Channels::Rgb, mean, std, matrix, reducing_gap: REDUCING_GAP }
}

/// Three planes of noise: full size, or the last two at half size.
fn noise((width, height): (u32, u32), half: bool, seed: u64) -> ([Vec<u8>; 3], [usize; 3]) {
    let mut random = Random::new(seed, &[]);
    let (half_width, half_height) = if half { (width.div_ceil(2), height.div_ceil(2)) } else { (width, height) };
    let sides = [(width, height), (half_width, half_height), (half_width, half_height)];
    let planes = sides.map(|(w, h)| (0..w * h).map(|_| random.next_u32() as u8).collect());
    (planes, sides.map(|(w, _)| w as usize))
}

/// The picture of `tables` on one machine, in pixels of its channels.
fn run_tables<S: SampleType>(machine: Machine, tables: &Kernel, planes: &[Vec<u8>; 3], pitches: [usize; 3]) -> Vec<S> {
    let mut out = vec![S::default(); tables.size.0 as usize * tables.size.1 as usize * tables.channels];
    let frame = DecodedPart { planes: planes.each_ref().map(Vec::as_slice), pitches, origin: (0, 0) };
    pass::run(machine, tables, &frame, &mut Scratch::default(), PictureBuffer::Pixels(&mut out));
    out
}

/// The weights of the samples of a plane, one for each `step` pixels, for pixel `i`: the plain definition.
fn naive_weights(span: &Span, step: u32, i: u32) -> Vec<(usize, f64)> {
    let (scale, low, high) = (span.scale / f64::from(step), span.bounds.0 / step, span.bounds.1.div_ceil(step));
    let reach = scale.max(1.0);
    let center = span.start / f64::from(step) + (f64::from(i) + 0.5) * scale;
    let center = center.clamp(f64::from(low) + 0.5, f64::from(high) - 0.5);
    let raw = (low..high).map(|x| (x as usize, (1.0 - (f64::from(x) + 0.5 - center).abs() / reach).max(0.0)));
    let raw: Vec<_> = raw.filter(|(_, weight)| *weight > 0.0).collect();
    let sum: f64 = raw.iter().map(|(_, weight)| weight).sum();
    raw.into_iter().map(|(x, weight)| (x, weight / sum)).collect()
}

/// One plane of the picture by the plain definition, in double precision.
fn naive_plane(view: &View, step: u32, (width, height): (u32, u32), plane: &[f64], pitch: usize) -> Vec<f64> {
    let columns: Vec<_> =
        (0..width).map(|x| naive_weights(&view.x, step, if view.flip { width - 1 - x } else { x })).collect();
    let mut out = Vec::new();
    for y in 0..height {
        let rows = naive_weights(&view.y, step, y);
        for column in &columns {
            let row = |y: usize| column.iter().map(|&(x, w)| w * plane[y * pitch + x]).sum::<f64>();
            out.push(rows.iter().map(|&(y, w)| w * row(y)).sum());
        }
    }
    out
}

/// Smooth upsampling of a plane of half size to this width and height, without rounding.
fn naive_upsample(half: &[f64], width: usize, height: usize) -> Vec<f64> {
    let (half_width, half_height) = (width.div_ceil(2), height.div_ceil(2));
    let next =
        |x: usize, len: usize| if x.is_multiple_of(2) { (x / 2).saturating_sub(1) } else { (x / 2 + 1).min(len - 1) };
    let across =
        |y: usize, x: usize| 0.75 * half[y * half_width + x / 2] + 0.25 * half[y * half_width + next(x, half_width)];
    let pixel = |y: usize, x: usize| 0.75 * across(y / 2, x) + 0.25 * across(next(y, half_height), x);
    (0..height).flat_map(|y| (0..width).map(move |x| (y, x))).map(|(y, x)| pixel(y, x)).collect()
}

fn ycc_to_rgb([y, cb, cr]: [f64; 3]) -> [f64; 3] {
    let (cb, cr) = (cb - 128.0, cr - 128.0);
    [y + 1.402 * cr, y - 0.344136286 * cb - 0.714136286 * cr, y + 1.772 * cb]
}

/// Unclamped RGB levels, from three planes of which the last two may have half the size.
fn naive_rgb(view: &View, size: (u32, u32), planes: &[Vec<u8>; 3], pitches: [usize; 3], step: u32) -> Vec<f64> {
    let ycc = pitches[1] != pitches[0] || planes[1].len() != planes[0].len();
    let (width, height) = (pitches[0], planes[0].len() / pitches[0]);
    let plane = |k: usize| {
        let plane: Vec<f64> = planes[k].iter().map(|&v| v.into()).collect();
        let full = if ycc && k > 0 { naive_upsample(&plane, width, height) } else { plane };
        naive_plane(view, step, size, &full, width)
    };
    let (a, b, c) = (plane(0), plane(1), plane(2));
    let pixels = a.iter().zip(&b).zip(&c).map(|((&a, &b), &c)| [a, b, c]);
    if ycc { pixels.flat_map(ycc_to_rgb).collect() } else { pixels.flatten().collect() }
}

/// Views of a frame: all of some area, as a picture of some size.
fn views() -> impl Strategy<Value = ((u32, u32), (u32, u32), View)> {
    let side = || prop_oneof![1u32..5, 1u32..60, 60u32..400];
    let out = || prop_oneof![1u32..3, 1u32..40, 30u32..70];
    ((side(), side()), (out(), out()), any::<(u32, u32, u32, u32)>(), any::<bool>()).prop_map(
        |(frame, size, (x, y, w, h), flip)| {
            let (x, y) = (x % frame.0, y % frame.1);
            let (w, h) = (1 + w % (frame.0 - x), 1 + h % (frame.1 - y));
            (frame, size, View { x: whole(x, w, size.0), y: whole(y, h, size.1), flip })
        },
    )
}

/// The maximum difference of a plane's levels from the plain definition. It is half a unit of weight (2^-14
/// across, 2^-14 down) for each step of at most 255 between samples, plus half a unit of 1/128 for each row.
fn plane_bound(taps: usize) -> f64 {
    0.02 * taps as f64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn pictures_are_those_of_the_plain_definition((frame, size, view) in views(), seed: u64, rgb: bool) {
        let pixels = if rgb { Pixels::Other } else { Pixels::Ycc420 };
        let tables = Kernel::new(&target(size), &view, frame, pixels);
        if !rgb && (tables.exact.is_some() || tables.form == DecodedForm::Rgb) {
            return Ok(());
        }
        // Planes of noise stand for planes of any scale, with as many samples as the scaled decode has.
        let step = tables.first.step;
        let samples = (frame.0.div_ceil(step), frame.1.div_ceil(step));
        let (planes, pitches) = noise(samples, !rgb, seed);
        // A picture of one pixel has planes of one size, so their kind is unknown.
        if !rgb && samples == (1, 1) {
            return Ok(());
        }
        let expected = naive_rgb(&view, size, &planes, pitches, step);
        let taps = tables.first.columns.axis.taps + tables.first.rows.taps() + 2;
        // An error of a plane affects a channel by at most 1 + 1.772 times that error.
        let bound = 2.8 * plane_bound(taps) + 0.01;
        let floats: Vec<f32> = run_tables(Machine::best(), &tables, &planes, pitches);
        let bytes: Vec<u8> = run_tables(Machine::best(), &tables, &planes, pitches);
        for ((exact, float), byte) in expected.iter().zip(floats).zip(bytes) {
            let exact = exact.clamp(0.0, 255.0);
            prop_assert!((exact - f64::from(float) * 255.0).abs() < bound, "{} {} {}", exact, float * 255.0, bound);
            prop_assert!((exact - f64::from(byte)).abs() < 0.5 + bound, "{} {} {}", exact, byte, bound);
        }
    }

    #[test]
    fn every_machine_gives_the_same_bits((frame, size, view) in views(), seed: u64, rgb: bool, gray: bool) {
        let pixels = if rgb { Pixels::Other } else { Pixels::Ycc420 };
        let rows = [[0.9, 0.2, -0.1], [0.1, 1.1, 0.0], [0.0, -0.3, 1.3]];
        let matrix = ColorMatrix { rows, offset: [5.0, -7.0, 0.5] };
        let channels = if gray { Channels::Gray } else { Channels::Rgb };
        let (mean, std) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
        let target = PictureSpec { matrix, channels, mean, std, ..target(size) };
        let tables = Kernel::new(&target, &view, frame, pixels);
        let rgb = tables.form == DecodedForm::Rgb;
        let step = tables.first.step;
        let (planes, pitches) = noise((frame.0.div_ceil(step), frame.1.div_ceil(step)), !rgb, seed);
        fn bits<S: SampleType>(tables: &Kernel, planes: &[Vec<u8>; 3], pitches: [usize; 3], bits: impl Fn(&S) -> u32) {
            let run =
                |machine| -> Vec<u32> { run_tables(machine, tables, planes, pitches).iter().map(&bits).collect() };
            let expected = run(Machine::Portable);
            Machine::all().into_iter().for_each(|machine| assert!(run(machine) == expected, "{machine:?}"));
        }
        bits::<u8>(&tables, &planes, pitches, |&v| v.into());
        bits::<f32>(&tables, &planes, pitches, |v| v.to_bits());
        bits::<f16>(&tables, &planes, pitches, |v| v.to_bits().into());
        bits::<bf16>(&tables, &planes, pitches, |v| v.to_bits().into());
    }

    #[test]
    fn layouts_are_transposes_and_a_flip_is_the_mirror((frame, size, view) in views(), seed: u64) {
        let (planes, pitches) = noise(frame, false, seed);
        let run = |view: &View| -> Vec<f32> {
            let tables = Kernel::new(&target(size), view, frame, Pixels::Other);
            run_tables(Machine::best(), &tables, &planes, pitches)
        };
        let (pixels, mirrored) = (run(&view), run(&View { flip: !view.flip, ..view }));
        let mut out = vec![0f32; pixels.len()];
        let frame = DecodedPart { planes: planes.each_ref().map(Vec::as_slice), pitches, origin: (0, 0) };
        let whole = (pitches[0] as u32, planes[0].len() as u32 / pitches[0] as u32);
        let tables = Kernel::new(&target(size), &view, whole, Pixels::Other);
        pass::run(Machine::best(), &tables, &frame, &mut Scratch::default(), PictureBuffer::planes(&mut out));
        let (w, h) = (size.0 as usize, size.1 as usize);
        for (y, x, c) in (0..h).flat_map(|y| (0..w).flat_map(move |x| (0..3).map(move |c| (y, x, c)))) {
            prop_assert_eq!(out[(c * h + y) * w + x].to_bits(), pixels[(y * w + x) * 3 + c].to_bits());
            prop_assert_eq!(mirrored[(y * w + w - 1 - x) * 3 + c].to_bits(), pixels[(y * w + x) * 3 + c].to_bits());
        }
    }
}

/// libjpeg-turbo decodes the whole JPEG to RGB. The kernel gets only the planes that it asks for.
#[test]
fn a_picture_that_is_cut_out_has_libjpegs_own_levels_on_every_machine() {
    let mut decoder = RegionDecoder::new().unwrap();
    for frame in [(1, 1), (4, 9), (5, 1), (5, 7), (33, 35), (97, 61), (160, 48)] {
        let mut jpeg = Vec::new();
        let mut picture = Planes::new(frame.0, frame.1).unwrap();
        let (noise, _) = noise(frame, true, 3);
        [picture.y, picture.cb, picture.cr] = noise;
        Encoder::new(97).unwrap().encode(&picture, &mut jpeg).unwrap();
        let rgb = Decoder::new().unwrap().decode_picture(&jpeg).unwrap().pixels;
        let mut random = Random::new(4, &[frame.0.into()]);
        for case in 0..40 {
            let mut draw = |below: u32| random.below(below.into()) as u32;
            let (x, y) = (draw(frame.0), draw(frame.1));
            let (x, y) = if case < 4 { (x * (case & 1), y * (case >> 1)) } else { (x, y) };
            let size = (1 + draw(frame.0 - x), 1 + draw(frame.1 - y));
            let view = View { x: whole(x, size.0, size.0), y: whole(y, size.1, size.1), flip: case % 3 == 0 };
            let tables = Kernel::new(&target(size), &view, frame, Pixels::Ycc420);
            assert_eq!(tables.exact.is_some(), frame.0 > 4);
            if tables.exact.is_none() {
                continue;
            }
            let mut planes = [const { Vec::new() }; 3];
            let cut = decoder.planes(&jpeg, tables.region, Scale::Full, &mut planes).unwrap();
            let pitch = cut.luma_pitch(Scale::Full);
            let decoded = DecodedPart {
                planes: planes.each_ref().map(Vec::as_slice),
                pitches: [pitch, pitch / 2, pitch / 2],
                origin: (cut.region.x, cut.region.y),
            };
            for machine in Machine::all() {
                let mut out = vec![0u8; (size.0 * size.1 * 3) as usize];
                pass::run(machine, &tables, &decoded, &mut Scratch::default(), PictureBuffer::Pixels(&mut out));
                for (i, pixel) in out.as_chunks::<3>().0.iter().enumerate() {
                    let (px, py) = (i as u32 % size.0, i as u32 / size.0);
                    let px = if view.flip { size.0 - 1 - px } else { px };
                    let at = ((y + py) * frame.0 + x + px) as usize * 3;
                    assert_eq!(pixel, &rgb[at..at + 3], "{frame:?} {x},{y} {size:?} {machine:?} pixel {i}");
                }
                // Planes of bytes need no other step.
                let mut planes = vec![0u8; out.len()];
                pass::run(machine, &tables, &decoded, &mut Scratch::default(), PictureBuffer::planes(&mut planes));
                let pixels = out.len() / 3;
                let same = (0..out.len()).all(|i| out[i] == planes[i % 3 * pixels + i / 3]);
                assert!(same, "{frame:?} {x},{y} {size:?} {machine:?}, in planes");
            }
        }
    }
}

/// Pillow rounds to bytes between its two passes and the kernel does not, so levels may differ by one.
#[test]
fn resized_rgb_is_pillows_but_for_its_rounding_in_between() {
    let open = |name: String| {
        let path = format!("{}/../../tests/data/jpeg/{name}", env!("CARGO_MANIFEST_DIR"));
        image::load_from_memory(&std::fs::read(path).unwrap()).unwrap().into_rgb8()
    };
    let source = open("s420.png".into());
    let planes = [0, 1, 2].map(|c| source.pixels().map(|pixel| pixel[c]).collect());
    for size in [(24, 16), (80, 70)] {
        let view = View { x: whole(0, 53, size.0), y: whole(0, 37, size.1), flip: false };
        let tables = Kernel::new(&target(size), &view, (53, 37), Pixels::Other);
        let ours: Vec<u8> = run_tables(Machine::best(), &tables, &planes, [53; 3]);
        let pillow = open(format!("s420-{}x{}.png", size.0, size.1));
        let worst = ours.iter().zip(pillow.as_raw()).map(|(&a, &b)| a.abs_diff(b)).max();
        assert!(worst <= Some(1), "{size:?}: {worst:?}");
    }
}

/// A sum in 1/128 of a level does not have room for the roundings of this many rows.
#[test]
fn thousands_of_rows_into_one_do_not_overflow() {
    for (rows, level) in [(600, 255), (5000, 255), (5000, 254), (5000, 4)] {
        let mut plane = vec![level; rows * 3];
        plane[..3].fill(0);
        let planes = [plane.clone(), plane.clone(), plane];
        for out in 1..4 {
            let view = View { x: whole(0, 3, 1), y: whole(0, rows as u32, out), flip: false };
            let tables = Kernel::new(&target((1, out)), &view, (3, rows as u32), Pixels::Other);
            let expected = naive_rgb(&view, (1, out), &planes, [3; 3], 1);
            for machine in Machine::all() {
                let floats: Vec<f32> = run_tables(machine, &tables, &planes, [3; 3]);
                for (exact, float) in expected.iter().zip(floats) {
                    assert!(
                        (exact - f64::from(float) * 255.0).abs() < 0.004 * rows as f64,
                        "{machine:?} {exact} {float}"
                    );
                }
            }
        }
    }
}

/// Stores that go past the caches are aligned. Batches need not be.
#[test]
fn a_slot_may_begin_anywhere_and_nothing_beside_it_changes() {
    let size = (37, 5);
    let view = View { x: whole(0, 20, size.0), y: whole(0, 20, size.1), flip: false };
    let tables = Kernel::new(&target(size), &view, (20, 20), Pixels::Other);
    let (planes, pitches) = noise((20, 20), false, 1);
    let frame = DecodedPart { planes: planes.each_ref().map(Vec::as_slice), pitches, origin: (0, 0) };
    let length = 37 * 5 * 3;
    let mut expected = vec![0f32; length];
    pass::run(Machine::Portable, &tables, &frame, &mut Scratch::default(), PictureBuffer::planes(&mut expected));
    for machine in Machine::all() {
        for offset in 0..33 {
            let mut out = vec![-7f32; length + 40];
            let slot = PictureBuffer::planes(&mut out[offset..offset + length]);
            pass::run(machine, &tables, &frame, &mut Scratch::default(), slot);
            assert!(out[offset..offset + length] == expected, "{machine:?} {offset}");
            assert!(out[..offset].iter().chain(&out[offset + length..]).all(|&v| v == -7.0), "{machine:?} {offset}");
        }
    }
}

#[test]
fn a_gray_picture_is_luma_and_needs_no_chroma() {
    let view = View { x: whole(0, 20, 20), y: whole(0, 20, 20), flip: false };
    let gray = PictureSpec { channels: Channels::Gray, ..target((20, 20)) };
    let tables = Kernel::new(&gray, &view, (20, 20), Pixels::Ycc420);
    assert_eq!((tables.planes, tables.form), (1, DecodedForm::Planes(Scale::Full)));
    let (mut planes, pitches) = noise((20, 20), true, 1);
    planes[1].clear();
    planes[2].clear();
    assert_eq!(run_tables::<u8>(Machine::best(), &tables, &planes, pitches), planes[0]);
    // Brightness and saturation do not change that.
    let saturation = |s: f32| {
        let luma = [0.299, 0.587, 0.114];
        std::array::from_fn(|i| std::array::from_fn(|j| luma[j] * (1.0 - s) + if i == j { s } else { 0.0 }))
    };
    let matrix = ColorMatrix { rows: saturation(0.3), offset: [10.0; 3] };
    assert_eq!(Kernel::new(&PictureSpec { matrix, ..gray }, &view, (20, 20), Pixels::Ycc420).planes, 1);
}

#[test]
fn ycbcr_pictures_are_the_planes_resampled() {
    let view = View { x: whole(0, 40, 20), y: whole(0, 40, 20), flip: false };
    let tables = Kernel::new(
        &PictureSpec { channels: Channels::YCbCr, reducing_gap: 1.0, ..target((20, 20)) },
        &view,
        (40, 40),
        Pixels::Ycc420,
    );
    assert_eq!(tables.form, DecodedForm::Planes(Scale::Half));
    let mut planes = noise((20, 20), true, 2).0;
    planes[1].fill(77);
    planes[2].fill(200);
    let out: Vec<u8> = run_tables(Machine::best(), &tables, &planes, [20, 10, 10]);
    for (pixel, &luma) in out.as_chunks().0.iter().zip(&planes[0]) {
        assert_eq!(*pixel, [luma, 77, 200]);
    }
}

/// A picture with the spectrum of a natural one (amplitude falls as 1/frequency), soft edges and moderate colors.
fn natural((width, height): (u32, u32), seed: u64) -> Planes {
    let mut random = Random::new(seed, &[]);
    let waves: Vec<[f64; 6]> = (0..60)
        .map(|_| {
            let frequency = 0.01 * (1.0 / 0.01f64).powf(random.unit() * 0.85);
            let angle = random.unit() * std::f64::consts::TAU;
            let phases = [0; 3].map(|_| random.unit() * std::f64::consts::TAU);
            [
                frequency * angle.cos(),
                frequency * angle.sin(),
                0.25 / frequency.powf(0.9),
                phases[0],
                phases[1],
                phases[2],
            ]
        })
        .collect();
    let level = |x: f64, y: f64, k: usize| {
        let sum: f64 = waves.iter().map(|w| w[2] * (w[0] * x + w[1] * y + w[3 + k]).sin()).sum();
        let edge = 30.0 * ((x * 0.7 + y * 0.3) / 40.0).sin().signum() * ((y - x * 0.2) / 55.0).sin().signum();
        let gain = if k == 0 { 1.0 } else { 0.35 };
        (128.0 + gain * (sum + edge)).clamp(16.0, 235.0) as u8
    };
    let mut picture = Planes::new(width, height).unwrap();
    let chroma_width = picture.chroma_width() as usize;
    let at = |i: usize, row: usize, step: f64| ((i % row) as f64 * step, (i / row) as f64 * step);
    picture.y.iter_mut().enumerate().for_each(|(i, v)| {
        let (x, y) = at(i, width as usize, 1.0);
        *v = level(x, y, 0);
    });
    for (k, plane) in [&mut picture.cb, &mut picture.cr].into_iter().enumerate() {
        plane.iter_mut().enumerate().for_each(|(i, v)| {
            let (x, y) = at(i, chroma_width, 2.0);
            *v = level(x, y, 1 + k);
        });
    }
    picture
}

/// The PSNR in dB and the maximum difference between the picture through planes and the exactly resized RGB
/// decode.
fn against_rgb(frame: (u32, u32), view: &View, target: &PictureSpec) -> (f64, f64) {
    let mut jpeg = Vec::new();
    Encoder::new(90).unwrap().encode(&natural(frame, 5), &mut jpeg).unwrap();
    let rgb = Decoder::new().unwrap().decode_picture(&jpeg).unwrap().pixels;
    let planes = [0, 1, 2].map(|c| rgb.iter().skip(c).step_by(3).copied().collect());
    let expected = naive_rgb(view, target.size, &planes, [frame.0 as usize; 3], 1);
    let kernel = Kernel::new(target, view, frame, Pixels::Ycc420);
    let (DecodedForm::Planes(scale), region) = (kernel.form, kernel.region) else { panic!("planes") };
    let mut planes = [const { Vec::new() }; 3];
    let cut = RegionDecoder::new().unwrap().planes(&jpeg, region, scale, &mut planes).unwrap();
    let pitch = cut.luma_pitch(scale);
    let decoded = DecodedPart {
        planes: planes.each_ref().map(Vec::as_slice),
        pitches: [pitch, pitch / 2, pitch / 2],
        origin: (cut.region.x, cut.region.y),
    };
    let mut out = vec![0f32; expected.len()];
    pass::run(Machine::best(), &kernel, &decoded, &mut Scratch::default(), PictureBuffer::Pixels(&mut out));
    let errors = expected.iter().zip(&out).map(|(a, b)| (a - f64::from(*b) * 255.0).abs());
    let squares: f64 = errors.clone().map(|e| e * e).sum();
    (10.0 * (255f64.powi(2) * out.len() as f64 / squares).log10(), errors.fold(0.0, f64::max))
}

/// Frames, the part of them, the picture, and what is least in dB. The numbers are those at [`REDUCING_GAP`], and its effect
/// on 256 pixels that become 112.
#[test]
fn a_resized_picture_is_near_the_resized_rgb_decode() {
    let all = |(width, height)| (0, 0, width, height);
    for (frame, (x, y, w, h), size, gap, scale, least) in [
        ((340, 256), (58, 16, 224, 224), (112, 112), f64::INFINITY, Scale::Full, 57.0),
        ((340, 256), (31, 17, 201, 143), (224, 224), f64::INFINITY, Scale::Full, 57.0),
        ((341, 255), (99, 9, 97, 111), (224, 224), f64::INFINITY, Scale::Full, 57.0),
        ((256, 256), all((256, 256)), (112, 112), REDUCING_GAP, Scale::Half, 45.0),
        ((340, 256), all((340, 256)), (112, 112), 2.0, Scale::Full, 62.0),
        ((960, 540), all((960, 540)), (112, 112), 1.0, Scale::Quarter, 43.0),
        ((1080, 1080), all((1080, 1080)), (112, 112), 1.0, Scale::Eighth, 37.5),
    ] {
        let view = View { x: whole(x, w, size.0), y: whole(y, h, size.1), flip: false };
        assert_eq!(tables::scale(&view, gap), scale);
        let (psnr, worst) = against_rgb(frame, &view, &PictureSpec { reducing_gap: gap, ..target(size) });
        println!("{frame:?} {scale:?}: {psnr:.1} dB");
        assert!(psnr > least, "{frame:?} {scale:?}: {psnr:.1} dB");
        assert!(gap.is_finite() || worst < 2.0, "{frame:?} {size:?}: {worst:.1}");
    }
}
