//! `vidrec pack`: videos in, a data set out.

mod frames;
mod inputs;
mod safety;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::ArgGroup;
use vidrec::ErrorKind;
use vidrec::pack::{Estimate, PackOptions, PackReport, PassedOver, estimate, pack, serve};
use vidrec::video::{Decode, FrameSize};

use crate::output::{bytes, count};
use crate::{Outcome, Run, interrupt, output, progress};

/// Heading of the options on size and quality.
const PICTURES: &str = "Pictures";
/// Heading of the options on how it is done.
const RUN: &str = "Run";

/// Sample frames from videos and write them as a data set.
///
/// vidrec skips a video it cannot read and lists it in OUTPUT/failures-*.jsonl; the exit status is then 3.
///
/// What is done is brought to the disk every few seconds. After a crash, a full disk or Ctrl-C the same command with
/// --resume goes on, and the result is byte for byte that of a run that was not interrupted. At Ctrl-C (or SIGTERM) the
/// videos in hand are finished; a second one stops at once. The exit status is then 130.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("frame size").args(["short_side", "size", "original"]))]
pub struct Args {
    /// Folders, video files, or manifests.
    ///
    /// A folder: the class is the name of the first folder level; a folder that holds JPEG or PNG files and nothing
    /// else is a clip of these frames; a metadata.csv or .jsonl in it lists what is taken. Files without the ending of a
    /// video are passed over and counted by ending. Hidden ones, whose names begin with a dot, are not looked at.
    ///
    /// .csv, .tsv or .jsonl: columns path (or file_name, filename, video), label (or labels, with ";" between them),
    /// start and end in seconds (see --segment-clock), split; any other is kept as an attribute. A .csv of Kinetics (youtube_id, time_start).
    ///
    /// .txt: a path and its label or labels a line, as UCF101 and mmaction2 have it. .lst: MXNet. .json:
    /// Something-Something.
    ///
    #[arg(required = true)]
    input: Vec<PathBuf>,
    /// The folder to make the data set in.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    inputs: inputs::InputArgs,
    #[command(flatten)]
    frames: frames::FrameArgs,
    #[command(flatten)]
    safety: safety::SafetyArgs,
    /// Scale so that the shorter side has this many pixels; smaller videos stay as they are. [default: 256]
    #[arg(long, value_name = "PIXELS", help_heading = PICTURES, value_parser = clap::value_parser!(u32).range(1..=65_500))]
    short_side: Option<u32>,
    /// Scale to exactly this size, such as 320x240, whatever the shape of the video.
    #[arg(long, value_name = "WxH", help_heading = PICTURES, value_parser = parse_size)]
    size: Option<(u32, u32)>,
    /// Keep the size at which each video is shown.
    #[arg(long, help_heading = PICTURES)]
    original: bool,
    /// JPEG quality, 1 to 100.
    #[arg(short, long, default_value_t = 90, help_heading = PICTURES, value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: u8,
    /// With the short side: enlarge smaller videos too.
    #[arg(long, help_heading = PICTURES, conflicts_with_all = ["size", "original"])]
    enlarge: bool,
    /// Give each JPEG Huffman tables of its own: about 4 % smaller, the same pixels; packing takes some 10 % longer.
    #[arg(long, help_heading = PICTURES)]
    optimize: bool,
    /// Decode whole videos, not only what the chosen frames need. The pictures of an intact video are the same; damage
    /// anywhere in a video is found, as far as FFmpeg notices it (H.264, AV1, MPEG and FFV1 mostly; HEVC, VP8 and VP9 have
    /// to be in a Matroska file with checksums), and damaged frames do not count.
    #[arg(long, help_heading = RUN)]
    decode_all: bool,
    /// Videos to decode at a time. [default: one for each core]
    #[arg(short = 'j', long, value_name = "N", help_heading = RUN, value_parser = crate::threads::parse)]
    threads: Option<usize>,
    /// Threads that read the next files ahead, for disks and networks; 0 for none.
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = RUN, value_parser = clap::value_parser!(u8).range(..=64))]
    io_threads: u8,
    /// Memory for all videos that are decoded at a time and for JPEGs that wait to be written, such as 2GiB; a video that
    /// needs more is decoded alone.
    /// [default: 480MiB for each thread]
    #[arg(long, value_name = "BYTES", help_heading = RUN, value_parser = crate::byte_size::parse)]
    memory: Option<u64>,
    /// Also write OUTPUT/mxnet, with links to the record files and .idx and .lst beside them, as `vidrec export mxnet` does.
    #[arg(long, help_heading = RUN)]
    mxnet: bool,
    /// Replace a data set that is already in OUTPUT.
    #[arg(long, help_heading = RUN)]
    force: bool,
    /// Write nothing: count, list what is missing, and pack a few videos in memory to say how large it will be and how
    /// long it will take.
    #[arg(long, help_heading = RUN)]
    dry_run: bool,
    /// Print the report as JSON.
    #[arg(long, help_heading = RUN)]
    json: bool,
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let side = |t: &str| t.parse::<u32>().ok().filter(|&n| (1..=65_500).contains(&n));
    let sides = text.split_once(['x', 'X']).and_then(|(w, h)| side(w).zip(side(h)));
    sides.ok_or_else(|| "expected a width and a height of 1 to 65500 pixels, such as 320x240".into())
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
        let options = PackOptions {
            input: self.inputs.options(),
            pass_through: self.inputs.pass_through(),
            picture_rate: self.inputs.picture_rate(),
            segment_clock: self.inputs.segment_clock,
            frames: self.frames.frames,
            rule: self.frames.rule(),
            short: self.frames.short,
            seed: self.frames.seed,
            pace: self.frames.pace(),
            max_frames: self.frames.max_frames,
            draws: self.frames.draws,
            size,
            quality: self.quality,
            optimize: self.optimize,
            decode: if self.decode_all { Decode::All } else { Decode::Needed },
            threads: self.threads,
            io_threads: self.io_threads.into(),
            memory: self.memory,
            overwrite: self.force,
            ..PackOptions::default()
        };
        self.safety.apply(options)
    }
}

/// `command_line` is the command that starts this once more.
pub fn run(args: &Args, command_line: Vec<OsString>) -> Run {
    if args.dry_run {
        return dry_run(args);
    }
    if args.safety.isolated_worker {
        serve(&args.options())?;
        return Ok(Outcome::Done);
    }
    let mut bar = progress::Bar::new();
    let isolate = args.safety.isolate.then(|| safety::worker_command(command_line));
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
    if args.mxnet && report.clips > 0 {
        // In place of one that an interrupted run made.
        vidrec::interop::mxnet::export(
            &vidrec::Dataset::open(&args.output)?,
            &args.output.join("mxnet"),
            true,
            &mut vidrec::no_progress,
        )?;
    }
    // Where standard error is closed there is nobody to tell.
    let _ = tell(&report);
    output::print(args.json, &report, |r| render(r, args))?;
    Ok(match (&report, report.is_clean()) {
        (r, _) if r.clips == 0 => Outcome::Nothing,
        (_, true) => Outcome::Done,
        (_, false) => Outcome::Problems,
    })
}

/// Names on standard error what is not in the data set, or not as it should be.
fn tell(report: &PackReport) -> io::Result<()> {
    let mut err = BufWriter::new(io::stderr().lock());
    for w in &report.warnings {
        writeln!(err, "vidrec: {}: packed, but {}", w.source, w.message)?;
    }
    for f in &report.failures {
        writeln!(err, "vidrec: {}: left out (stage {}): {}", f.source, f.stage, f.error)?;
    }
    tell_passed_over(&report.passed_over, &mut err)?;
    err.flush()
}

fn tell_passed_over(passed_over: &[PassedOver], err: &mut dyn Write) -> io::Result<()> {
    for p in passed_over {
        let kind =
            if p.kind == "other" || p.kind.starts_with('.') { format!("{} file", p.kind) } else { p.kind.clone() };
        writeln!(err, "vidrec: passed over {}, such as {}", count(p.files, &kind), p.example)?;
    }
    Ok(())
}

fn files(passed_over: &[PassedOver]) -> u64 {
    passed_over.iter().map(|p| p.files).sum()
}

fn dry_run(args: &Args) -> Run {
    let e = estimate(&args.input, &args.output, &args.options())?;
    let _ = tell_passed_over(&e.passed_over, &mut io::stderr());
    output::print(args.json, &e, render_estimate)?;
    Ok(if e.failed > 0 { Outcome::Problems } else { Outcome::Done })
}

/// Missing files that are named; the rest are counted.
const MISSING_SHOWN: usize = 20;

fn render_estimate(e: &Estimate) -> String {
    let mut text =
        format!("{} to pack, {} with a label; {} named classes\n", count(e.videos, "video"), e.labelled, e.classes,);
    if !e.passed_over.is_empty() {
        text += &format!("  {} passed over\n", count(files(&e.passed_over), "file"));
    }
    if !e.missing.is_empty() {
        text += &format!("  {} missing:\n", count(e.missing.len() as u64, "file"));
        e.missing.iter().take(MISSING_SHOWN).for_each(|source| text += &format!("    {source}\n"));
        let more = e.missing.len().saturating_sub(MISSING_SHOWN);
        if more > 0 {
            text += &format!("    and {more} more (--json lists all)\n");
        }
    }
    text += &format!("  {} looked at, {} of them cannot be packed\n", e.probed, e.probe_failures.len());
    for f in &e.probe_failures {
        text += &format!("    {} (stage {}): {}\n", f.source, f.stage, f.error);
    }
    text += &format!(
        "about {}, {}, {} in {}; about {} left out; {} are free\n",
        count(e.clips, "clip"),
        count(e.frames, "frame"),
        bytes(e.bytes),
        duration(e.seconds),
        count(e.failed, "video"),
        bytes(e.free_bytes),
    );
    text
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn render(r: &PackReport, args: &Args) -> String {
    let out = args.output.display();
    if args.safety.retry_failed && r.is_unchanged() {
        return format!("nothing to retry: no video of {out} failed; {} are there\n", count(r.clips, "clip"));
    }
    if r.clips == 0 {
        let left_out = count(r.failed, "video");
        return format!(
            "nothing could be packed: {left_out} left out, see {out}/{}\n",
            r.failures_file.as_deref().unwrap_or_default()
        );
    }
    let mut text =
        format!("packed {}, {}, {} into {out}", count(r.clips, "clip"), count(r.frames, "frame"), bytes(r.bytes));
    if let Some(rate) = r.videos_per_second() {
        text += &format!(" in {:.1} s ({rate:.1} videos/s)", r.seconds);
    }
    text.push('\n');
    let mut line = |n: u64, what: &str, rest: &str| {
        if n > 0 {
            text += &format!("  {} {rest}\n", count(n, what));
        }
    };
    line(r.resumed_at.unwrap_or(0), "video", "of them done before the run was interrupted");
    line(r.short, "video", "with fewer frames than asked for");
    line(r.warnings.len() as u64, "video", "packed although something was wrong");
    let list = format!("left out, see {out}/{}", r.failures_file.as_deref().unwrap_or_default());
    line(r.failed, "video", &list);
    line(files(&r.passed_over), "file", "passed over");
    r.shortage.iter().for_each(|shortage| text += &format!("  {shortage}\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("320x240"), Ok((320, 240)));
        for bad in ["", "320", "0x5", "5x", "70000x1", "3.5x2"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
