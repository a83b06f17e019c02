//! `vidrec pack`: videos in, a data set out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, ValueEnum};
use vidrec::ErrorKind;
use vidrec::pack::{Interrupted, MaxFailures, OnError, PackOptions, PackReport, Shards, pack, serve};
use vidrec::sampler::{Rule, Short};
use vidrec::video::FrameSize;

use crate::output::{bytes, count};
use crate::{Outcome, Run, interrupt, output, progress};

/// Sample frames from videos and write them as a data set.
///
/// A video that cannot be read is left out whole and listed in OUTPUT/failures.jsonl; the exit status is then 3.
///
/// What is done is brought to the disk every few seconds. After a crash, a full disk or Ctrl-C the same command with
/// --resume goes on, and the result is byte for byte that of a run that was not interrupted. At Ctrl-C (or SIGTERM) the
/// videos in hand are finished; a second one stops at once. The exit status is then 130.
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
    /// Videos to decode at a time. [default: one for each core]
    #[arg(short = 'j', long, value_name = "N", value_parser = crate::threads::parse)]
    threads: Option<usize>,
    /// Seed for --sample random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Leave out a video that cannot be read, or stop at it.
    #[arg(long, value_enum, default_value_t = OnErrorArg::Skip)]
    on_error: OnErrorArg,
    /// Stop when more videos than this fail: a number, or a share of all such as 1%. What is done can be resumed.
    #[arg(long, value_name = "N|P%")]
    max_failures: Option<MaxFailures>,
    /// Longest time for one video, in seconds; one that takes longer fails.
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    timeout: u64,
    /// Most pixels that a picture of a video may have, width times height; a video with more fails. [default: 2^28]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_pixels: Option<u64>,
    /// Longest video, in seconds; a longer one fails.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    max_duration: Option<Duration>,
    /// Spread the clips over N shards with as many videos each, in order.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "shard_size")]
    shards: Option<u32>,
    /// Begin another shard where a clip would make a record file longer than this, such as 1GiB or 500MB.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    shard_size: Option<u64>,
    /// Go on with an interrupted run of the same inputs and options; begin if there is none.
    #[arg(long, conflicts_with = "restart")]
    resume: bool,
    /// Throw away an interrupted run and begin anew.
    #[arg(long)]
    restart: bool,
    /// Pack again only what failed when the data set in OUTPUT was packed with the same inputs and options; all else is
    /// copied, and the result is that of a run in which it had not failed.
    #[arg(long)]
    retry_failed: bool,
    /// Decode in processes of their own, one for each of --threads: a codec that crashes costs one video and not the run,
    /// and one that hangs is killed after --timeout. The bytes are the same.
    #[arg(long)]
    isolate: bool,
    /// Be such a process.
    #[arg(long, hide = true)]
    isolated_worker: bool,
    /// Bring what is done to the disk every so many seconds; 0: after each video.
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    commit_every: u64,
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

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    seconds.ok_or_else(|| "expected a number of seconds".into())
}

/// Reads `1000`, `1.5GiB`, `500 MB`.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let units: [(&str, u64); 9] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("", 1),
    ];
    let parsed = units.iter().find_map(|(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        let bytes = number * *factor as f64;
        (1.0..1e18).contains(&bytes).then_some(bytes as u64)
    });
    parsed.ok_or_else(|| "expected a number of bytes, such as 1GiB or 500MB".into())
}

impl Args {
    fn options(&self) -> PackOptions {
        let size = match (self.size, self.original) {
            (Some((width, height)), _) => FrameSize::Exact { width, height },
            (None, true) => FrameSize::Original,
            (None, false) => FrameSize::ShortSide(self.short_side.unwrap_or(256)),
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
            seed: self.seed,
            threads: self.threads,
            on_error: if self.on_error == OnErrorArg::Stop { OnError::Stop } else { OnError::Skip },
            overwrite: self.force,
            timeout: Duration::from_secs(self.timeout),
            max_pixels: self.max_pixels.unwrap_or(PackOptions::default().max_pixels),
            max_duration: self.max_duration,
            max_failures: self.max_failures,
            shards: match (self.shards, self.shard_size) {
                (Some(n), _) => Shards::Count(n),
                (None, Some(bytes)) => Shards::Bytes(bytes),
                (None, None) => Shards::One,
            },
            interrupted: match (self.resume, self.restart) {
                (true, _) => Interrupted::Resume,
                (false, true) => Interrupted::Restart,
                (false, false) => Interrupted::Refuse,
            },
            retry_failed: self.retry_failed,
            commit_every: Duration::from_secs(self.commit_every),
            isolate: None,
            cancel: None,
        }
    }
}

pub fn run(args: &Args) -> Run {
    let mut bar = progress::Bar::new();
    if args.isolated_worker {
        serve(&args.options())?;
        return Ok(Outcome::Done);
    }
    let isolate = args.isolate.then(worker_command).transpose()?;
    let options = PackOptions { cancel: Some(interrupt::flag()?), isolate, ..args.options() };
    let packed = pack(&args.input, &args.output, &options, &mut |p| bar.show(p));
    bar.clear();
    let report = match packed {
        Err(e) if e.kind() == ErrorKind::Interrupted => {
            output::print_error(&e);
            return Ok(Outcome::Interrupted);
        }
        report => report?,
    };
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

/// This command line again, for a process that decodes.
fn worker_command() -> std::io::Result<Vec<OsString>> {
    let mut command = vec![std::env::current_exe()?.into_os_string()];
    command.extend(std::env::args_os().skip(1).chain(["--isolated-worker".into()]));
    Ok(command)
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
    line(r.resumed_at.unwrap_or(0), "video", "of them done before the run was interrupted");
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
    fn sizes_are_read() {
        assert_eq!(parse_size("320x240"), Ok((320, 240)));
        assert_eq!(parse_bytes("1GiB"), Ok(1 << 30));
        assert_eq!(parse_bytes("1.5 MB"), Ok(1_500_000));
        assert_eq!(parse_bytes("12"), Ok(12));
        for bad in ["", "GiB", "-1", "0", "1XB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
        for bad in ["", "320", "0x5", "5x", "70000x1", "3.5x2"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
