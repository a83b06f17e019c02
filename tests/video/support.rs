//! Making clips, asking `ffmpeg` and `ffprobe`, and comparing pictures.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use vidrec::Planes;
use vidrec::video::{FrameSize, SampledVideo, VideoError, VideoOptions, sample};

use crate::common::ffmpeg_videos;
use crate::common::skip::{has_ffmpeg, skip};

/// A folder with clips that goes away with the test; `None` where there is no `ffmpeg`.
pub fn clips() -> Option<Clips> {
    has_ffmpeg().then(|| Clips { dir: tempfile::tempdir().unwrap() })
}

pub struct Clips {
    pub dir: tempfile::TempDir,
}

impl Clips {
    /// Runs `ffmpeg ARGS NAME` in the folder; the arguments are given as one string.
    pub fn make(&self, name: &str, args: &str) -> PathBuf {
        let out = self.dir.path().join(name);
        ffmpeg_videos::make_in(self.dir.path(), &args.split_whitespace().collect::<Vec<_>>(), &out).unwrap();
        out
    }

    /// Whether this `ffmpeg` has an encoder; if not, the test is skipped.
    pub fn can_encode(&self, codec: &str) -> bool {
        static ENCODERS: LazyLock<String> = LazyLock::new(|| {
            let run = Command::new("ffmpeg").args(["-v", "error", "-encoders"]).output().unwrap();
            String::from_utf8(run.stdout).unwrap()
        });
        let found = ENCODERS.lines().any(|line| line.split_whitespace().nth(1) == Some(codec));
        if !found {
            skip(&format!("this ffmpeg has no {codec}"));
        }
        found
    }

    pub fn write(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> PathBuf {
        let out = self.dir.path().join(name.as_ref());
        std::fs::write(&out, bytes).unwrap();
        out
    }
}

pub fn options(size: FrameSize) -> VideoOptions {
    // Formats of 16 bits are compared too.
    VideoOptions { size, reduce_depth: true, ..VideoOptions::default() }
}

/// Numbers below others, all over the place (xorshift64: Marsaglia, 2003).
pub fn random(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    }
}

/// All frames.
pub fn all(path: &Path, size: FrameSize) -> Result<SampledVideo, VideoError> {
    sample(path, &options(size), &|t| Ok((0..t.frame_count()).collect()))
}

/// `count` frames spread over the video.
pub fn some(path: &Path, size: FrameSize, count: u32) -> Result<SampledVideo, VideoError> {
    sample(path, &options(size), &|t| Ok((0..count).map(|i| spread(i, count, t.frame_count())).collect()))
}

fn spread(i: u32, count: u32, n: u32) -> u32 {
    u32::try_from((u64::from(i) * 2 + 1) * u64::from(n) / (u64::from(count) * 2)).unwrap()
}

/// The times that `ffprobe` gives for all frames of the first real video stream, in the stream's time base.
pub fn probe_times(path: &Path) -> Vec<i64> {
    // Side data of a frame adds lines that are no numbers.
    let frames = ffmpeg_videos::probe(path, "frame=best_effort_timestamp");
    frames.iter().filter_map(|fields| fields[0].parse().ok()).collect()
}

/// Presentation and decoding time of each packet of the first video stream, in the file's order.
pub fn packet_times(path: &Path) -> Vec<(i64, i64)> {
    let numbers = |fields: &Vec<String>| Some((fields.first()?.parse().ok()?, fields.get(1)?.parse().ok()?));
    ffmpeg_videos::probe(path, "packet=pts,dts").iter().filter_map(numbers).collect()
}

/// The lowest PSNR, in dB over R, G and B, of the video's frames against the `ffmpeg` program's own pictures at the same
/// size: autorotated, scaled with the same filter, chroma position as vidrec reports it.
pub fn psnr(path: &Path, video: &SampledVideo) -> f64 {
    psnrs(path, std::slice::from_ref(video))[0]
}

/// [`psnr`] of one file in several sizes. To start ffmpeg takes longer than to decode a short clip, so it runs once.
pub fn psnrs(path: &Path, videos: &[SampledVideo]) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let out = |i: usize| folder.path().join(i.to_string());
    let inputs: String = (0..videos.len()).map(|i| format!("[i{i}]")).collect();
    let scaled: String =
        videos.iter().enumerate().map(|(i, video)| format!(";[i{i}]{}[o{i}]", scaled(video))).collect();
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-nostdin", "-i"]).arg(format!("file:{}", path.to_str().unwrap()));
    command.args(["-filter_complex", &format!("[0:V:0]split={}{inputs}{scaled}", videos.len())]);
    for (i, video) in videos.iter().enumerate() {
        // After the last of them, nothing more is decoded.
        let frames = video.frames.len().to_string();
        command.args(["-map", &format!("[o{i}]"), "-vsync", "passthrough", "-frames:v", &frames]);
        command.args(["-f", "rawvideo", "-pix_fmt", "rgb24"]).arg(out(i));
    }
    let run = command.output().unwrap();
    let worst = |(i, video): (usize, &SampledVideo)| {
        let (first, theirs) = (&video.frames[0].image, fs::read(out(i)).unwrap_or_default());
        let size = first.width() as usize * first.height() as usize * 3;
        let errors = String::from_utf8_lossy(&run.stderr);
        assert_eq!(theirs.len(), size * video.frames.len(), "{}: {errors}", path.display());
        let of = |(frame, theirs): (&vidrec::video::SampledFrame, &[u8])| decibels(&rgb(&frame.image), theirs);
        video.frames.iter().zip(theirs.chunks_exact(size)).map(of).fold(f64::INFINITY, f64::min)
    };
    videos.iter().enumerate().map(worst).collect()
}

/// The filters that choose the frames of a video and scale them to its size.
fn scaled(video: &SampledVideo) -> String {
    let first = &video.frames[0].image;
    let (w, h) = (first.width(), first.height());
    let wanted: Vec<_> = video.frames.iter().map(|f| format!("eq(n\\,{})", f.source_index)).collect();
    let (x, y) = match video.facts.chroma_location.as_str() {
        "left" => (0, 128),
        "topleft" => (0, 0),
        "top" => (128, 0),
        _ => (128, 128),
    };
    let flags = "bicubic+accurate_rnd+full_chroma_int+full_chroma_inp";
    format!("select='{}',scale={w}:{h}:flags={flags}:in_h_chr_pos={x}:in_v_chr_pos={y}", wanted.join("+"))
}

fn decibels(ours: &[f32], theirs: &[u8]) -> f64 {
    let square = |(a, b): (&f32, &u8)| f64::from(a - f32::from(*b)).powi(2);
    let mean = ours.iter().zip(theirs).map(square).sum::<f64>() / ours.len() as f64;
    10.0 * (255.0 * 255.0 / mean.max(1e-6)).log10()
}

/// The picture as RGB by the book: JFIF's matrix, centered chroma, bilinear.
fn rgb(p: &Planes) -> Vec<f32> {
    let (w, h) = (p.width() as usize, p.height() as usize);
    let (cw, ch) = (p.chroma_width() as usize, p.chroma_height() as usize);
    let near_far = |i: usize, n: usize| {
        (i / 2, if i.is_multiple_of(2) { (i / 2).saturating_sub(1) } else { (i / 2 + 1).min(n - 1) })
    };
    let chroma = |plane: &[u8], x: usize, y: usize| {
        let ((xn, xf), (yn, yf)) = (near_far(x, cw), near_far(y, ch));
        let row = |y: usize| 0.75 * f32::from(plane[y * cw + xn]) + 0.25 * f32::from(plane[y * cw + xf]);
        0.75 * row(yn) + 0.25 * row(yf) - 128.0
    };
    let mut out = Vec::with_capacity(w * h * 3);
    for y in 0..h {
        for x in 0..w {
            let (l, cb, cr) = (f32::from(p.y[y * w + x]), chroma(&p.cb, x, y), chroma(&p.cr, x, y));
            out.extend(
                [l + 1.402 * cr, l - 0.344_136 * cb - 0.714_136 * cr, l + 1.772 * cb].map(|v| v.clamp(0.0, 255.0)),
            );
        }
    }
    out
}
