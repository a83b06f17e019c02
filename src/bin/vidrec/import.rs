//! `vidrec import`: data sets of other projects in.

use std::path::PathBuf;

use clap::Subcommand;
use vidrec::ProgressFn;
use vidrec::interop::mxnet::Ids;
use vidrec::interop::{ImportOptions, ImportReport, frames, gulp, mxnet, webdataset};

use crate::output::{bytes, count};
use crate::words::words;
use crate::{Outcome, Run, clip_count, output};

/// Make a data set from one of another project. JPEGs are stored as they are, byte for byte.
///
/// The first fault ends it, and nothing is written; with --salvage what is intact is taken, the rest is listed, and the
/// exit status is then 3.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    format: Format,
}

#[derive(Subcommand)]
enum Format {
    Mxnet(Mxnet),
    Gulp(Gulp),
    Webdataset(Webdataset),
    Frames(Frames),
}

/// From MXNet's record files, as im2rec.py, im2rec.cc and mxnet-videoio write them.
///
/// One label becomes the clip's label; several become its attribute `labels`. That all records of a clip are there, and
/// belong together, is proven by their ids and labels.
#[derive(clap::Args)]
struct Mxnet {
    /// Record files (.rec), in order; with a single one also its .idx, which is compared, and its .lst, whose paths become
    /// the clips' sources. Both are found by themselves beside the record file, under its name.
    #[arg(required = true)]
    file: Vec<PathBuf>,
    /// Records that are one clip. [default: as the file says, if vidrec wrote it; else each record is a clip]
    #[arg(short = 'n', long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    frames_per_clip: Option<u32>,
    /// With --frames-per-clip, what the records' ids are: k * T + t for frame t of clip k; or consecutive within a clip, from
    /// any number on; or of no meaning.
    #[arg(long, default_value_t, value_parser = words::<Ids>(Ids::WORDS))]
    ids: Ids,
    /// Write only an index, beside the record file, which stays where it is and as it is.
    #[arg(long, conflicts_with_all = ["output", "salvage", "retile", "check", "reencode"])]
    in_place: bool,
    /// The folder to make the data set in.
    #[arg(short, long, required_unless_present = "in_place")]
    output: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// From a folder of GulpIO chunks (data_0.gulp, meta_0.gmeta).
#[derive(clap::Args)]
struct Gulp {
    /// The folder.
    folder: PathBuf,
    /// The folder to make the data set in.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    how: How,
}

/// From WebDataset's tar files: a clip for each sample, a frame for each of its pictures.
#[derive(clap::Args)]
struct Webdataset {
    /// The tar files, in order.
    #[arg(required = true)]
    file: Vec<PathBuf>,
    /// The folder to make the data set in.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    how: How,
}

/// From folders of pictures: a clip for each folder that has some. The first of several folder levels is the class.
#[derive(clap::Args)]
struct Frames {
    /// The folder of the folders.
    folder: PathBuf,
    /// The folder to make the data set in.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    how: How,
}

#[derive(clap::Args)]
struct How {
    /// Take what is intact and list the rest.
    #[arg(long)]
    salvage: bool,
    /// Rewrite JPEGs so that crops can be decoded alone, which loads faster; the pixels stay, bit for bit.
    #[arg(long)]
    retile: bool,
    /// Decode every picture.
    #[arg(long)]
    check: bool,
    /// Encode PNG pictures as JPEGs of this quality, 1 to 100; otherwise they are a fault.
    #[arg(long, value_name = "QUALITY", value_parser = clap::value_parser!(u8).range(1..=100))]
    reencode: Option<u8>,
    /// Frames a second, such as 25 or 30000/1001, where nothing says their times. [default: times are ordinals]
    #[arg(long, value_parser = parse_fps)]
    fps: Option<(u32, u32)>,
    /// Replace a data set that is already there.
    #[arg(long)]
    force: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// The time from one frame to the next, in seconds.
fn parse_fps(text: &str) -> Result<(u32, u32), String> {
    let positive = |t: &str| t.parse::<u32>().ok().filter(|&n| n > 0);
    let (frames, seconds) = text.split_once('/').unwrap_or((text, "1"));
    positive(seconds).zip(positive(frames)).ok_or_else(|| "expected a number or a fraction such as 30000/1001".into())
}

impl How {
    fn options(&self) -> ImportOptions {
        ImportOptions {
            overwrite: self.force,
            salvage: self.salvage,
            retile: self.retile,
            check: self.check,
            reencode: self.reencode,
            time_base: self.fps.unwrap_or((1, 1)),
        }
    }
}

pub fn run(args: &Args) -> Run {
    let progress = &mut clip_count::of("clips");
    let (report, how, out) = match &args.format {
        Format::Mxnet(a) => (a.import(progress)?, &a.how, a.output.as_ref()),
        Format::Gulp(a) => (gulp::import(&a.folder, &a.output, &a.how.options(), progress)?, &a.how, Some(&a.output)),
        Format::Webdataset(a) => {
            (webdataset::import(&a.file, &a.output, &a.how.options(), progress)?, &a.how, Some(&a.output))
        }
        Format::Frames(a) => {
            (frames::import(&a.folder, &a.output, &a.how.options(), progress)?, &a.how, Some(&a.output))
        }
    };
    for left in &report.left_out {
        eprintln!("vidrec: {}: left out: {}", left.source, left.error);
    }
    let to = out.map_or_else(|| "beside the record file".into(), |out| format!("into {}", out.display()));
    output::print(how.json, &report, |r| render(r, &to))?;
    Ok(if report.left_out.is_empty() { Outcome::Done } else { Outcome::Problems })
}

impl Mxnet {
    fn import(&self, progress: &mut ProgressFn<'_>) -> Result<ImportReport, Box<dyn std::error::Error>> {
        let (mut records, mut mxnet) = (Vec::new(), mxnet::MxnetOptions::default());
        for path in &self.file {
            let place = match path.extension().and_then(|e| e.to_str()) {
                Some("idx") => &mut mxnet.index,
                Some("lst") => &mut mxnet.list,
                _ => {
                    records.push(path.clone());
                    continue;
                }
            };
            if let Some(first) = place.replace(path.clone()) {
                let (first, second) = (first.display(), path.display());
                return Err(format!("{first} and {second} are of the same kind: name one at most").into());
            }
        }
        mxnet.frames_per_clip = self.frames_per_clip;
        mxnet.ids = self.ids;
        let options = self.how.options();
        Ok(match &self.output {
            Some(out) => mxnet::import(&records, out, &options, &mxnet, progress)?,
            None => mxnet::import_in_place(&records, options.overwrite, options.time_base, &mxnet, progress)?,
        })
    }
}

fn render(r: &ImportReport, to: &str) -> String {
    let size = format!("{}, {}", count(r.clips, "clip"), count(r.frames, "frame"));
    let mut text = format!("imported {size}, {} {to}\n", bytes(r.bytes));
    let mut line = |n: u64, what: &str, rest: &str| {
        if n > 0 {
            text += &format!("  {} {rest}\n", count(n, what));
        }
    };
    line(r.retiled, "frame", "rewritten with restart markers, with the same pixels");
    line(r.not_retiled, "frame", "stored as they are, since tiles need 4:2:0 and 8 bits");
    line(r.reencoded, "picture", "encoded as JPEG");
    line(r.left_out.len() as u64, "fault", "left out");
    for note in &r.notes {
        text += &format!("  {note}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        assert_eq!(parse_fps("25"), Ok((1, 25)));
        assert_eq!(parse_fps("30000/1001"), Ok((1001, 30_000)));
        for bad in ["", "0", "25/0", "-1", "29.97", "x"] {
            assert!(parse_fps(bad).is_err(), "{bad}");
        }
    }
}
