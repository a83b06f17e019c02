//! `vidrec import`: import other projects' data sets.

use std::path::{Path, PathBuf};

use crate::ProgressFn;
use crate::interop::mxnet::Ids;
use crate::interop::{ImportOptions, ImportReport, frames, gulp, mxnet, texts, webdataset};
use clap::Subcommand;

use crate::cli::outcome::Failure;
use crate::cli::output::{bytes, count, printable};
use crate::cli::progress::ProgressArgs;
use crate::cli::remote_output::Output;
use crate::cli::storage::RemoteStorageArgs;
use crate::cli::words::words;
use crate::cli::{Outcome, Run, output};

/// Import a data set of another project. JPEGs are stored as they are, byte for byte.
///
/// The first fault ends the import, and nothing is written. With --salvage, vidrec imports what is intact and lists the
/// rest, and the exit status is 3 if there is any.
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
    Texts(Texts),
}

/// Import MXNet's record files, as im2rec.py, im2rec.cc and mxnet-videoio write them.
///
/// One label becomes the clip's label; several become its attribute `labels`. vidrec checks by ids and labels that all
/// records of a clip are present and belong together.
#[derive(clap::Args)]
struct Mxnet {
    /// Record files (.rec), in order. A single one may come with its .idx, which is compared with the records, and its
    /// .lst, whose paths become the clips' sources. vidrec also finds both beside the record file, under the same name.
    #[arg(required = true)]
    file: Vec<PathBuf>,
    /// Number of records per clip. [default: as the file says, if vidrec wrote it; otherwise each record is a clip]
    #[arg(short = 'n', long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    frames_per_clip: Option<u32>,
    /// With --frames-per-clip T, what the records' ids are. grid: k * T + t for frame t of clip k; consecutive:
    /// consecutive within a clip, starting at any number; ignore: without meaning.
    #[arg(long, default_value_t, value_parser = words::<Ids>())]
    ids: Ids,
    /// Only write an index beside the record file, which stays unchanged in its place.
    #[arg(long, conflicts_with_all = ["output", "salvage", "retile", "check", "reencode"])]
    in_place: bool,
    /// The folder to make the data set in, or a location such as s3://bucket/train.
    #[arg(short, long, required_unless_present = "in_place")]
    output: Option<PathBuf>,
    #[command(flatten)]
    pictures: Pictures,
}

/// Import a folder of GulpIO chunks (data_0.gulp, meta_0.gmeta).
#[derive(clap::Args)]
struct Gulp {
    /// The folder.
    folder: PathBuf,
    /// The folder to make the data set in, or a location such as s3://bucket/train.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    pictures: Pictures,
}

/// Import WebDataset's tar files: one clip per sample, one frame per image.
#[derive(clap::Args)]
struct Webdataset {
    /// The tar files, in order.
    #[arg(required = true)]
    file: Vec<PathBuf>,
    /// The folder to make the data set in, or a location such as s3://bucket/train.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    pictures: Pictures,
}

/// Import folders of images: one clip per folder. If there are several folder levels, the first is the class.
#[derive(clap::Args)]
struct Frames {
    /// The folder that contains the folders.
    folder: PathBuf,
    /// Follow links that lead out of the folder. Set it if you trust whoever made the folder.
    #[arg(long)]
    outside: bool,
    /// The folder to make the data set in, or a location such as s3://bucket/train.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    pictures: Pictures,
}

/// Import texts: one clip without frames per line of JSON. Every key of a line becomes an attribute of the clip, except label,
/// a whole number or the name of a class.
#[derive(clap::Args)]
struct Texts {
    /// Files of JSON lines, in order.
    #[arg(required = true)]
    file: Vec<PathBuf>,
    /// The folder to make the data set in, or a location such as s3://bucket/texts.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    how: How,
}

#[derive(clap::Args)]
struct Pictures {
    /// Rewrite JPEGs so that crops can be decoded alone, which loads faster. The pixels stay the same, bit for bit.
    #[arg(long)]
    retile: bool,
    /// Decode every image.
    #[arg(long)]
    check: bool,
    /// Encode PNG images as JPEGs of this quality, 1 to 100. Without it, they are a fault.
    #[arg(long, value_name = "QUALITY", value_parser = clap::value_parser!(u8).range(1..=100))]
    reencode: Option<u8>,
    /// Frames per second, such as 25 or 30000/1001, for sources without times. [default: times are ordinals]
    #[arg(long, value_parser = parse_fps)]
    fps: Option<(u32, u32)>,
    #[command(flatten)]
    how: How,
}

#[derive(clap::Args)]
struct How {
    /// Import what is intact, and list the rest.
    #[arg(long)]
    salvage: bool,
    /// Replace an existing data set.
    #[arg(long)]
    overwrite: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    storage: RemoteStorageArgs,
}

/// The time from one frame to the next, in seconds.
fn parse_fps(text: &str) -> Result<(u32, u32), String> {
    let positive = |t: &str| t.parse::<u32>().ok().filter(|&n| n > 0);
    let (frames, seconds) = text.split_once('/').unwrap_or((text, "1"));
    positive(seconds).zip(positive(frames)).ok_or_else(|| "expected a number or a fraction such as 30000/1001".into())
}

impl Pictures {
    fn options(&self, how: &ImportOptions) -> ImportOptions {
        ImportOptions {
            retile: self.retile,
            check: self.check,
            reencode: self.reencode,
            time_base: self.fps.unwrap_or((1, 1)),
            ..how.clone()
        }
    }

    /// Makes the data set, as [`How::write`].
    fn write(
        &self,
        output: &Path,
        import: impl FnOnce(&Path, &ImportOptions) -> crate::Result<ImportReport>,
    ) -> Result<ImportReport, Failure> {
        self.how.write(output, |out, how| import(out, &self.options(how)))
    }
}

impl How {
    fn options(&self, overwrite: bool) -> ImportOptions {
        ImportOptions { overwrite, salvage: self.salvage, ..ImportOptions::default() }
    }

    /// Makes the data set, wherever it is to be.
    fn write(
        &self,
        output: &Path,
        import: impl FnOnce(&Path, &ImportOptions) -> crate::Result<ImportReport>,
    ) -> Result<ImportReport, Failure> {
        let (storage, only_publisher) = (self.storage.storage()?, self.storage.only_publisher());
        let to = Output { path: output, storage, overwrite: self.overwrite, only_publisher, progress: self.progress };
        to.write(|out, overwrite| import(out, &self.options(overwrite)))
    }
}

pub fn run(args: &Args) -> Run {
    let (how, out) = args.format.to();
    let report = args.format.import(&mut how.progress.of("clips"))?;
    for left in &report.left_out {
        output::tell(format_args!("{}: skipped: {}", left.source, left.error));
    }
    let to = out.map_or_else(|| "beside the record file".into(), |out| format!("into {}", out.display()));
    output::print(how.json, &report, |r| render(r, &to))?;
    let outcome = if report.left_out.is_empty() { Outcome::Done } else { Outcome::Problems };
    Ok(outcome.but_left(&report.left_behind))
}

impl Format {
    /// How, and where to, unless it is in place.
    fn to(&self) -> (&How, Option<&PathBuf>) {
        match self {
            Format::Mxnet(a) => (&a.pictures.how, a.output.as_ref()),
            Format::Gulp(a) => (&a.pictures.how, Some(&a.output)),
            Format::Webdataset(a) => (&a.pictures.how, Some(&a.output)),
            Format::Frames(a) => (&a.pictures.how, Some(&a.output)),
            Format::Texts(a) => (&a.how, Some(&a.output)),
        }
    }

    fn import(&self, progress: &mut ProgressFn<'_>) -> Result<ImportReport, Failure> {
        match self {
            Format::Mxnet(a) => a.import(progress),
            Format::Gulp(a) => a.pictures.write(&a.output, |out, how| gulp::import(&a.folder, out, how, progress)),
            Format::Webdataset(a) => {
                a.pictures.write(&a.output, |out, how| webdataset::import(&a.file, out, how, progress))
            }
            Format::Frames(a) => a.pictures.write(&a.output, |out, how| {
                let how = ImportOptions { outside: a.outside, ..how.clone() };
                frames::import(&a.folder, out, &how, progress)
            }),
            Format::Texts(a) => a.how.write(&a.output, |out, how| texts::import(&a.file, out, how, progress)),
        }
    }
}

impl Mxnet {
    fn import(&self, progress: &mut ProgressFn<'_>) -> Result<ImportReport, Failure> {
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
                return Err(format!("{first} and {second} are of the same kind: give at most one of them").into());
            }
        }
        mxnet.frames_per_clip = self.frames_per_clip;
        mxnet.ids = self.ids;
        match &self.output {
            Some(out) => self.pictures.write(out, |out, how| mxnet::import(&records, out, how, &mxnet, progress)),
            None => {
                let how = self.pictures.options(&self.pictures.how.options(self.pictures.how.overwrite));
                Ok(mxnet::import_in_place(&records, how.overwrite, how.time_base, &mxnet, progress)?)
            }
        }
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
    line(r.not_retiled, "frame", "stored as they are, because tiles need 4:2:0 and 8 bits");
    line(r.reencoded, "image", "encoded as JPEG");
    line(r.left_out.len() as u64, "fault", "skipped");
    for note in &r.notes {
        text += &format!("  {}\n", printable(note));
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
