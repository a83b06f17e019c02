//! Bytes and quality of the frames of data sets that were packed at quality 100, encoded again in several ways.
//!
//! All ways get the same 4:2:0 planes, and libjpeg-turbo decodes what they make. Prints a JSON object: for each way, and each
//! quality, the mean bytes, PSNR in RGB and SSIMULACRA2.

use std::error::Error;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use vidrec::jpeg::{Decoder, Encoder};
use vidrec::{Dataset, Planes};
use yuvxyb::{ColorPrimaries, Rgb, TransferCharacteristic};

type Outcome<T> = Result<T, Box<dyn Error>>;

const QUALITIES: [u8; 5] = [75, 80, 85, 90, 95];

/// A way to encode the frames of a clip, in their order.
trait Way {
    fn start_clip(&mut self) {}
    fn encode(&mut self, picture: &Planes, jpeg: &mut Vec<u8>) -> Outcome<()>;
}

struct Vidrec(Encoder);

impl Vidrec {
    fn new(quality: u8, effort: u8) -> Outcome<Box<dyn Way>> {
        let mut encoder = Encoder::new(quality)?;
        encoder.set_effort(effort)?;
        Ok(Box::new(Vidrec(encoder)))
    }
}

impl Way for Vidrec {
    fn start_clip(&mut self) {
        self.0.start_clip();
    }

    fn encode(&mut self, picture: &Planes, jpeg: &mut Vec<u8>) -> Outcome<()> {
        Ok(self.0.encode(picture, jpeg)?)
    }
}

/// A plane with whole blocks in a row and in a column, the last of which are repeated up to a multiple of `rows`.
fn padded(plane: &[u8], width: u32, rows: usize) -> Vec<u8> {
    let all: Vec<&[u8]> = plane.chunks_exact(width as usize).collect();
    let mut padded = Vec::new();
    for y in 0..all.len().next_multiple_of(rows) {
        let row = all[y.min(all.len() - 1)];
        padded.extend_from_slice(row);
        padded.resize(padded.len() + row.len().next_multiple_of(8) - row.len(), row[row.len() - 1]);
    }
    padded
}

/// Whole MCUs from top to bottom, whole blocks from left to right: what libjpeg's interface for raw planes takes.
fn raw(picture: &Planes) -> [Vec<u8>; 3] {
    let chroma = picture.chroma_width();
    [padded(&picture.y, picture.width(), 16), padded(&picture.cb, chroma, 8), padded(&picture.cr, chroma, 8)]
}

/// Trellis quantization and tables of its own, in a program of its own.
struct Mozjpeg {
    quality: u8,
    program: Child,
}

impl Mozjpeg {
    fn new(quality: u8) -> Outcome<Box<dyn Way>> {
        let path = std::env::current_exe()?.with_file_name("planes-to-mozjpeg");
        let program = Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        Ok(Box::new(Mozjpeg { quality, program }))
    }
}

impl Way for Mozjpeg {
    fn encode(&mut self, picture: &Planes, jpeg: &mut Vec<u8>) -> Outcome<()> {
        let (Some(to), Some(from)) = (&mut self.program.stdin, &mut self.program.stdout) else {
            return Err("a program without pipes".into());
        };
        let planes = raw(picture);
        let lengths = planes.each_ref().map(|plane| plane.len() as u32);
        for number in [picture.width(), picture.height(), self.quality.into()].into_iter().chain(lengths) {
            to.write_all(&number.to_le_bytes())?;
        }
        for plane in &planes {
            to.write_all(plane)?;
        }
        to.flush()?;
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        jpeg.resize(u32::from_le_bytes(length) as usize, 0);
        Ok(from.read_exact(jpeg)?)
    }
}

impl Drop for Mozjpeg {
    fn drop(&mut self) {
        drop(self.program.stdin.take());
        let _ = self.program.wait();
    }
}

/// Several scans, which this crate cannot switch off; no restart markers.
struct Jpegli(u8);

impl Way for Jpegli {
    fn encode(&mut self, picture: &Planes, jpeg: &mut Vec<u8>) -> Outcome<()> {
        let mut to = jpegli::Compress::new(jpegli::ColorSpace::JCS_YCbCr);
        to.set_size(picture.width() as usize, picture.height() as usize);
        to.set_color_space(jpegli::ColorSpace::JCS_YCbCr);
        to.set_chroma_sampling_pixel_sizes((2, 2), (2, 2));
        to.set_quality(self.0.into());
        to.set_raw_data_in(true);
        let mut started = to.start_compress(Vec::new())?;
        let planes = raw(picture);
        if !started.write_raw_data(&planes.each_ref().map(Vec::as_slice)) {
            return Err("jpegli takes no planes".into());
        }
        *jpeg = started.finish()?;
        Ok(())
    }
}

fn ways(quality: u8) -> Outcome<Vec<(&'static str, Box<dyn Way>)>> {
    Ok(vec![
        ("--effort 0", Vidrec::new(quality, 0)?),
        ("mozjpeg", Mozjpeg::new(quality)?),
        ("jpegli", Box::new(Jpegli(quality))),
        ("--effort 1", Vidrec::new(quality, 1)?),
    ])
}

/// Sums over frames.
#[derive(Default, Clone, Copy)]
struct Sums {
    bytes: f64,
    psnr: f64,
    ssimulacra2: f64,
}

fn psnr(a: &[u8], b: &[u8]) -> f64 {
    let squares: u64 = a.iter().zip(b).map(|(&a, &b)| u64::from(a.abs_diff(b)).pow(2)).sum();
    10.0 * (255.0 * 255.0 * a.len() as f64 / squares.max(1) as f64).log10()
}

fn rgb(pixels: &[u8], width: u32) -> Outcome<Rgb> {
    let data: Vec<_> =
        pixels.as_chunks::<3>().0.iter().map(|pixel| pixel.map(|value| f32::from(value) / 255.0)).collect();
    let height = data.len() / width as usize;
    let (srgb, bt709) = (TransferCharacteristic::SRGB, ColorPrimaries::BT709);
    Ok(Rgb::new(data, width as usize, height, srgb, bt709)?)
}

fn main() -> Outcome<()> {
    let mut decoder = Decoder::new()?;
    let mut sums = vec![vec![Sums::default(); QUALITIES.len()]; ways(90)?.len()];
    let mut frames = 0;
    let (mut planes, mut jpeg) = (Planes::new(1, 1)?, Vec::new());
    for path in std::env::args_os().skip(1) {
        let set = Dataset::open(Path::new(&path))?;
        for clip in set.clips() {
            // The middle one; it begins a clip for each way.
            let clip = clip?;
            let before = clip.frame(clip.frame_count() / 2)?.jpeg().to_vec();
            decoder.decode_planes(&before, &mut planes)?;
            let before = decoder.decode_picture(&before)?.pixels;
            let reference = rgb(&before, planes.width())?;
            frames += 1;
            for (q, &quality) in QUALITIES.iter().enumerate() {
                for ((_, mut way), sums) in ways(quality)?.into_iter().zip(&mut sums) {
                    way.start_clip();
                    way.encode(&planes, &mut jpeg)?;
                    let after = decoder.decode_picture(&jpeg)?.pixels;
                    let score =
                        ssimulacra2::compute_frame_ssimulacra2(reference.clone(), rgb(&after, planes.width())?)?;
                    let of = &mut sums[q];
                    of.bytes += jpeg.len() as f64;
                    of.psnr += psnr(&before, &after);
                    of.ssimulacra2 += score;
                }
            }
        }
    }
    let n = f64::from(frames);
    let mean = |of: &Sums| json!([of.bytes / n, of.psnr / n, of.ssimulacra2 / n]);
    let all = ways(90)?.into_iter().zip(&sums).map(|((name, _), sums)| (name.into(), sums.iter().map(mean).collect()));
    let all: serde_json::Map<_, _> = all.collect();
    println!("{}", json!({"frames": frames, "qualities": QUALITIES, "ways": all}));
    Ok(())
}
