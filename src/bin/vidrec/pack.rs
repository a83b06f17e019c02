//! `vidrec pack`: videos in, a data set out.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, ValueEnum};
use vidrec::pack::{OnError, PackOptions, PackReport, pack};
use vidrec::sampler::{Rule, Short};
use vidrec::video::{Decode, FrameSize};

use crate::output::{bytes, count};
use crate::{Outcome, Run, output, progress};

/// Sample frames from videos and write them as a data set.
///
/// A video that cannot be read is left out whole and listed in OUT/failures.jsonl; the exit status is then 3.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("frame size").args(["short_side", "size", "original"]))]
pub struct Args {
    /// A folder (the class is the name of the first folder level), video files, or a manifest: a .csv or .tsv file
    /// whose header line names the columns path, label (if any), and what else is to be kept as attributes.
    #[arg(required = true)]
    input: Vec<PathBuf>,
    /// The folder to make the data set in.
    #[arg(short, long)]
    output: PathBuf,
    /// Frames to take from each video.
    #[arg(short = 'n', long, default_value_t = 8, value_name = "N")]
    frames: u32,
    /// Which frames: the centres of N equal segments; first, last and evenly between; one at random in each of N
    /// segments; N consecutive ones from the middle.
    #[arg(long, value_enum, default_value_t = Sample::Uniform)]
    sample: Sample,
    /// With --sample clip: take every K-th frame.
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    stride: u32,
    /// What to do with a video of too few frames: repeat-last, loop, skip or error.
    #[arg(long, default_value_t = Short::RepeatLast)]
    short: Short,
    /// Scale so that the shorter side has this many pixels; smaller videos stay as they are. [default: 256]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..=65_500))]
    short_side: Option<u32>,
    /// Scale to exactly this size, such as 320x240, whatever the shape of the video.
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<(u32, u32)>,
    /// Keep the size at which each video is shown.
    #[arg(long)]
    original: bool,
    /// JPEG quality, 1 to 100.
    #[arg(short, long, default_value_t = 90, value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: u8,
    /// With the short side: enlarge smaller videos too.
    #[arg(long, conflicts_with_all = ["size", "original"])]
    enlarge: bool,
    /// Give each JPEG Huffman tables of its own: about 4 % smaller, the same pixels; packing takes some 10 % longer.
    #[arg(long)]
    optimize: bool,
    /// Decode whole videos, not only what the chosen frames need. The pictures of an intact video are the same; damage
    /// anywhere in a video is found, and damaged frames do not count.
    #[arg(long)]
    decode_all: bool,
    /// Videos to decode at a time. [default: one for each core]
    #[arg(short = 'j', long, value_name = "N", value_parser = crate::threads::parse)]
    threads: Option<usize>,
    /// Threads that read the next files ahead, for disks and networks; 0 for none.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(..=64))]
    io_threads: u8,
    /// Memory for all videos that are decoded at a time, such as 2GiB; one that needs more is decoded alone.
    /// [default: 480MiB for each thread]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Seed for --sample random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Leave out a video that cannot be read, or stop at it.
    #[arg(long, value_enum, default_value_t = OnErrorArg::Skip)]
    on_error: OnErrorArg,
    /// Longest time for one video, in seconds.
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    timeout: u64,
    /// Replace a data set that is already in OUTPUT.
    #[arg(long)]
    force: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sample {
    Uniform,
    Endpoints,
    Random,
    Clip,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnErrorArg {
    Skip,
    Stop,
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let side = |t: &str| t.parse::<u32>().ok().filter(|&n| (1..=65_500).contains(&n));
    let sides = text.split_once(['x', 'X']).and_then(|(w, h)| side(w).zip(side(h)));
    sides.ok_or_else(|| "expected a width and a height of 1 to 65500 pixels, such as 320x240".into())
}

/// A number of bytes, which may end in KiB, MiB or GiB, or in K, M or G for the same.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => Some(0),
        "k" | "kib" => Some(10),
        "m" | "mib" => Some(20),
        "g" | "gib" => Some(30),
        _ => None,
    };
    let bytes = digits.parse::<u64>().ok().zip(shift).and_then(|(n, shift)| n.checked_mul(1 << shift));
    bytes.filter(|&n| n > 0).ok_or_else(|| "expected a number of bytes, such as 800MiB or 2GiB".into())
}

impl Args {
    fn options(&self) -> PackOptions {
        let size = match (self.size, self.original) {
            (Some((width, height)), _) => FrameSize::Exact { width, height },
            (None, true) => FrameSize::Original,
            (None, false) => {
                let short_side = self.short_side.unwrap_or(256);
                if self.enlarge { FrameSize::ShortSideAlways(short_side) } else { FrameSize::ShortSide(short_side) }
            }
        };
        PackOptions {
            frames: self.frames,
            rule: match self.sample {
                Sample::Uniform => Rule::Uniform,
                Sample::Endpoints => Rule::Endpoints,
                Sample::Random => Rule::Random,
                Sample::Clip => Rule::Clip { stride: self.stride },
            },
            short: self.short,
            size,
            quality: self.quality,
            optimize: self.optimize,
            decode: if self.decode_all { Decode::All } else { Decode::Needed },
            seed: self.seed,
            threads: self.threads,
            io_threads: self.io_threads.into(),
            memory: self.memory,
            on_error: if self.on_error == OnErrorArg::Stop { OnError::Stop } else { OnError::Skip },
            overwrite: self.force,
            timeout: Duration::from_secs(self.timeout),
        }
    }
}

pub fn run(args: &Args) -> Run {
    let mut bar = progress::Bar::new();
    let report = pack(&args.input, &args.output, &args.options(), &mut |p| bar.show(p))?;
    bar.clear();
    for w in &report.warnings {
        eprintln!("vidrec: {}: packed, but {}", w.source, w.message);
    }
    for f in &report.failures {
        eprintln!("vidrec: {}: left out (stage {}): {}", f.source, f.stage, f.error);
    }
    output::print(args.json, &report, |r| render(r, &args.output.display().to_string()))?;
    Ok(match (&report, report.is_clean()) {
        (r, _) if r.clips == 0 => Outcome::Nothing,
        (_, true) => Outcome::Done,
        (_, false) => Outcome::Problems,
    })
}

fn render(r: &PackReport, out: &str) -> String {
    if r.clips == 0 {
        let left_out = count(r.failed, "video");
        return format!("nothing could be packed: {left_out} left out, see {out}/failures.jsonl\n");
    }
    let mut text = format!(
        "packed {}, {}, {} into {out} in {:.1} s ({:.1} videos/s)\n",
        count(r.clips, "clip"),
        count(r.frames, "frame"),
        bytes(r.bytes),
        r.seconds,
        r.clips as f64 / r.seconds.max(1e-9),
    );
    let mut line = |n: u64, what: &str, rest: &str| {
        if n > 0 {
            text += &format!("  {} {rest}\n", count(n, what));
        }
    };
    line(r.short, "video", "with fewer frames than asked for");
    line(r.warnings.len() as u64, "video", "packed although something was wrong");
    line(r.failed, "video", "left out, see failures.jsonl");
    line(r.ignored_files, "file", "without a video's ending, not looked at");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("3k"), Ok(3 << 10));
        assert_eq!(parse_bytes("800MiB"), Ok(800 << 20));
        assert_eq!(parse_bytes("2gib"), Ok(2 << 30));
        for bad in ["", "0", "G", "-1", "1.5G", "2GB", "99999999999G"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("320x240"), Ok((320, 240)));
        for bad in ["", "320", "0x5", "5x", "70000x1", "3.5x2"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
