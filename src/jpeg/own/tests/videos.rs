//! Frames of videos, as the packer stores them: our decoder takes all of them, and gives libjpeg-turbo's planes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::*;
use crate::Planes;
use crate::jpeg::Encoder;
use crate::video::{FrameSize, Video, VideoOptions};

const QUALITIES: [u8; 6] = [30, 60, 75, 90, 95, 100];

/// What was compared.
#[derive(Default)]
struct Counts {
    videos: AtomicU64,
    /// At each of two sizes.
    frames: AtomicU64,
    jpegs: AtomicU64,
    jpeg_bytes: AtomicU64,
    planes: AtomicU64,
    samples: AtomicU64,
}

/// Encodes and decodes, with the same instances for all frames of a video.
struct Bench<'a> {
    /// With the standard tables, and with the picture's own, for each quality.
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

    /// With quality and tables number `kind`, at full size and one smaller scale, for the fastest machine and one
    /// other.
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

/// The files of the test videos that `VIDREC_VIDEOS` names, or else some that `ffmpeg` makes in `made`. `None` where there
/// is no `ffmpeg` either.
fn videos(made: &Path) -> Option<Vec<PathBuf>> {
    let folder = std::env::var_os("VIDREC_VIDEOS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/videos")), PathBuf::from);
    if folder.join("MANIFEST.csv").exists() {
        let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
        return Some(files.filter(|file| file.file_type().is_file()).map(|file| file.into_path()).collect());
    }
    if !crate::skip::has_ffmpeg() {
        return None;
    }
    let make = |(name, source): (&str, &str)| {
        let path = made.join(name);
        let args = ["-v", "error", "-nostdin", "-f", "lavfi", "-i", source, "-c:v", "mpeg4", "-q:v", "2", "-t", "1"];
        assert!(std::process::Command::new("ffmpeg").args(args).arg(&path).status().unwrap().success());
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

/// With `VIDREC_SOAK=1` all frames of all videos: with all qualities at 256 pixels on the shorter side, and with one
/// after another at the video's own size, each with one kind of tables and the next frame with the other. Otherwise a
/// few frames of a few videos.
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
        for (size, qualities) in [(FrameSize::ShortSide(256), QUALITIES.len()), (FrameSize::Original, 1)] {
            let options = VideoOptions { size, ..VideoOptions::default() };
            // What is no video, or a broken one, is another test's.
            let Ok(video) = Video::open(path, &options) else { return };
            let choose = |t: &crate::video::Timeline| {
                Ok((0..t.frame_count()).step_by(if soak { 1 } else { t.pts.len() / 2 + 1 }).collect())
            };
            let done = video.sample_with(&choose, &mut |frame| {
                for i in 0..qualities {
                    let (round, quality) = (frame.source_index as usize / 6, (frame.source_index as usize + i) % 6);
                    let kind = 2 * quality + (round + quality) % 2;
                    bench.compare(&frame.image, kind, &format!("{name}, frame {}", frame.source_index));
                }
            });
            let Ok(done) = done else { return };
            counts.frames.fetch_add(done.frames.len() as u64, Relaxed);
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

/// From 16x16 to 1920x1080, mostly odd.
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
