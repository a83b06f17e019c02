//! Tests frames of videos, as the packer stores them. Our decoder decodes all of them, and returns libjpeg-turbo's
//! planes.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::*;
use crate::Encoder;
use vidrec_format::planes::Planes;

const QUALITIES: [u8; 6] = [30, 60, 75, 90, 95, 100];

/// The numbers of comparisons.
#[derive(Default)]
struct Counts {
    videos: AtomicU64,
    /// The number at each of two sizes.
    frames: AtomicU64,
    jpegs: AtomicU64,
    jpeg_bytes: AtomicU64,
    planes: AtomicU64,
    samples: AtomicU64,
}

/// Encodes and decodes, with the same instances for all frames of a video.
struct Bench<'a> {
    /// One encoder with the standard tables and one with the picture's own, for each quality.
    encoders: Vec<[Encoder; 2]>,
    theirs: RegionDecoder,
    ours: Vec<(IdctMachine, RegionDecoder)>,
    jpeg: Vec<u8>,
    counts: &'a Counts,
}

impl<'a> Bench<'a> {
    fn new(counts: &'a Counts) -> Self {
        let encoder = |quality, optimize| {
            let mut encoder = Encoder::new(quality).unwrap();
            encoder.optimize_tables(optimize).unwrap();
            encoder
        };
        Bench {
            encoders: QUALITIES.map(|quality| [false, true].map(|optimize| encoder(quality, optimize))).into(),
            theirs: decoder(JpegDecoder::Turbo, IdctMachine::Portable),
            ours: IdctMachine::all().into_iter().map(|machine| (machine, decoder(JpegDecoder::Own, machine))).collect(),
            jpeg: Vec::new(),
            counts,
        }
    }

    /// Compares with quality and tables number `kind`, at full size and one smaller scale, on the fastest machine
    /// and one other.
    fn compare(&mut self, picture: &Planes, kind: usize, what: &str) {
        let Bench { encoders, theirs, ours, jpeg, counts } = self;
        encoders[kind / 2][kind % 2].encode(picture, jpeg).unwrap();
        let turn = counts.jpegs.fetch_add(1, Relaxed) as usize;
        counts.jpeg_bytes.fetch_add(jpeg.len() as u64, Relaxed);
        let region = Region::whole((picture.width(), picture.height()));
        let others = ours.len() - 1;
        for scale in [Scale::Full, Scale::ALL[1 + turn % 3]] {
            let expected = planes(theirs, jpeg, region, scale).unwrap();
            for i in [0, 1 + turn % others.max(1)] {
                let Some((machine, decoder)) = ours.get_mut(i) else { continue };
                let found = planes(decoder, jpeg, region, scale);
                let found = found.unwrap_or_else(|e| panic!("{what}, {kind} {scale:?} {machine:?} was declined: {e}"));
                assert!(found == expected, "{what}, {kind} {scale:?} {machine:?} differs");
                counts.planes.fetch_add(3, Relaxed);
                counts.samples.fetch_add(found.iter().map(|plane| plane.len() as u64).sum(), Relaxed);
            }
        }
    }
}

/// The files of the test videos in `VIDREC_VIDEOS`, or some that `ffmpeg` makes in `made`. `None` if there is no
/// `ffmpeg`.
fn videos(made: &Path) -> Option<Vec<PathBuf>> {
    if !crate::skip::has_ffmpeg() {
        return None;
    }
    let folder = std::env::var_os("VIDREC_VIDEOS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/videos")), PathBuf::from);
    if folder.join("MANIFEST.csv").exists() {
        let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
        return Some(files.filter(|file| file.file_type().is_file()).map(|file| file.into_path()).collect());
    }
    let make = |(name, source): (&str, &str)| {
        let path = made.join(name);
        let args = ["-v", "error", "-nostdin", "-f", "lavfi", "-i", source, "-c:v", "mpeg4", "-q:v", "2", "-t", "1"];
        assert!(Command::new("ffmpeg").args(args).arg(&path).status().unwrap().success());
        path
    };
    let sources = [
        ("pattern.mp4", "testsrc2=s=320x240:r=10"),
        ("fractal.mp4", "mandelbrot=s=640x360:r=10"),
        ("noise.mp4", "testsrc=s=360x640:r=10,noise=alls=20:all_seed=7:allf=t"),
        ("odd.mp4", "gradients=s=322x182:r=10:seed=2"),
    ];
    Some(sources.into_iter().map(make).collect())
}

/// Calls `each` with every `step`-th frame of a video and its number, until `most` were taken. `ffmpeg` decodes
/// the video, to `short_side` pixels on the shorter side if that is given. A file that is not a video has no
/// frames.
fn frames_of(
    path: &Path,
    short_side: Option<u32>,
    step: usize,
    most: usize,
    mut each: impl FnMut(usize, &Planes),
) -> usize {
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "quiet", "-nostdin", "-i"]).arg(path).args(["-map", "0:v:0"]);
    let thin = format!("select=not(mod(n\\,{step}))");
    let small = short_side.map(|side| format!(",scale='if(gt(iw,ih),-1,{side})':'if(gt(iw,ih),{side},-1)'"));
    command.args(["-vf", &format!("{thin}{}", small.unwrap_or_default()), "-fps_mode", "passthrough"]);
    command.args(["-frames:v", &most.to_string(), "-pix_fmt", "yuv420p", "-strict", "-1", "-f", "yuv4mpegpipe", "-"]);
    let mut ffmpeg = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(ffmpeg.stdout.take().unwrap());
    let mut header = Vec::new();
    out.read_until(b'\n', &mut header).unwrap();
    let header = String::from_utf8(header).unwrap();
    let side = |letter| header.split_whitespace().find_map(|word| word.strip_prefix(letter)?.parse::<u32>().ok());
    let mut taken = 0;
    if let (Some(width), Some(height)) = (side('W'), side('H')) {
        let mut picture = Planes::new(width, height).unwrap();
        while out.read_until(b'\n', &mut Vec::new()).unwrap() > 0 {
            for plane in [&mut picture.y, &mut picture.cb, &mut picture.cr] {
                out.read_exact(plane).unwrap();
            }
            each(taken * step, &picture);
            taken += 1;
        }
    }
    let _ = ffmpeg.wait();
    taken
}

/// With `VIDREC_SOAK=1`, this tests all frames of all videos. They are tested with all qualities at 256 pixels on
/// the shorter side, and with one quality after another at the video's own size. Each quality has one kind of
/// tables, and the next frame has the other. Otherwise, it tests a few frames of a few videos.
#[test]
fn frames_of_videos_give_libjpeg_turbos_planes() {
    let made = tempfile::tempdir().unwrap();
    let Some(files) = videos(made.path()) else { return };
    let soak = std::env::var_os("VIDREC_SOAK").is_some();
    let counts = Counts::default();
    let few = if soak || files[0].starts_with(made.path()) { 1 } else { 40 };
    let files: Vec<_> = files.iter().step_by(few).collect();
    files.par_iter().for_each(|path| {
        let name = path.display().to_string();
        let mut bench = Bench::new(&counts);
        for (short_side, qualities) in [(Some(256), QUALITIES.len()), (None, 1)] {
            let (step, most) = if soak { (1, 100_000) } else { (7, 2) };
            let frames = frames_of(path, short_side, step, most, |number, picture| {
                for i in 0..qualities {
                    let (round, quality) = (number / 6, (number + i) % 6);
                    let kind = 2 * quality + (round + quality) % 2;
                    bench.compare(picture, kind, &format!("{name}, frame {number}"));
                }
            });
            if frames == 0 {
                return;
            }
            counts.frames.fetch_add(frames as u64, Relaxed);
        }
        counts.videos.fetch_add(1, Relaxed);
        if soak {
            eprintln!("{name}");
        }
    });
    let Counts { videos, frames, jpegs, jpeg_bytes, planes, samples } = counts;
    println!(
        "{videos:?} of {} files: {frames:?} frames, {jpegs:?} JPEGs of {jpeg_bytes:?} bytes, none declined; \
         {planes:?} planes of {samples:?} samples compared",
        files.len()
    );
    assert!(videos.into_inner() > 0);
}

/// Sizes from 16x16 to 1920x1080, mostly odd.
#[test]
fn odd_sizes_give_libjpeg_turbos_planes() {
    let soak = std::env::var_os("VIDREC_SOAK").is_some();
    let counts = Counts::default();
    let mut bench = Bench::new(&counts);
    let small = [(16, 16), (17, 16), (16, 31), (33, 47), (99, 101), (129, 65)];
    let large = [(257, 256), (339, 255), (455, 341), (641, 359), (853, 479), (1279, 721), (1919, 1079), (1920, 1080)];
    for (i, &(width, height)) in small.iter().chain(large.iter().filter(|_| soak)).enumerate() {
        for kind in 0..2 * QUALITIES.len() {
            for noise in [3, 60] {
                bench.compare(&picture(width, height, noise + i as u32), kind, &format!("{width}x{height}"));
            }
        }
    }
    println!("{:?} JPEGs, {:?} planes of {:?} samples", counts.jpegs, counts.planes, counts.samples);
}
