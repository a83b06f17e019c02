//! `vidrec import`: import other projects' data sets.

use std::path::{Path, PathBuf};

use clap::Subcommand;

use crate::cli::output::{bytes, count, line, printable};
use crate::cli::{Failure, Outcome, Output, ProgressArgs, RemoteStorageArgs, Run, output, words};
use crate::interop::mxnet::{Ids, MxnetOptions};
use crate::interop::{ImportOptions, ImportReport, frames, gulp, mxnet, texts};

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
    /// Import MXNet's record files, as im2rec.py, im2rec.cc and mxnet-videoio write them.
    ///
    /// One label becomes the clip's label; several become its attribute `labels`. vidrec checks by ids and labels that all
    /// records of a clip are present and belong together.
    Mxnet {
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
        #[arg(long, conflicts_with_all = ["output", "salvage", "retile", "reencode"])]
        in_place: bool,
        /// The folder to make the data set in, or a location such as s3://bucket/train.
        #[arg(short, long, required_unless_present = "in_place")]
        output: Option<PathBuf>,
        #[command(flatten)]
        pictures: PictureArgs,
        #[command(flatten)]
        import: ImportArgs,
    },
    /// Import a folder of GulpIO chunks (data_0.gulp, meta_0.gmeta).
    Gulp {
        /// The folder.
        folder: PathBuf,
        /// The folder to make the data set in, or a location such as s3://bucket/train.
        #[arg(short, long)]
        output: PathBuf,
        #[command(flatten)]
        pictures: PictureArgs,
        #[command(flatten)]
        import: ImportArgs,
    },
    /// Import folders of images: one clip per folder. If there are several folder levels, the first is the class.
    Frames {
        /// The folder that contains the folders.
        folder: PathBuf,
        /// Follow links that lead out of the folder. Set it if you trust whoever made the folder.
        #[arg(long)]
        outside: bool,
        /// The folder to make the data set in, or a location such as s3://bucket/train.
        #[arg(short, long)]
        output: PathBuf,
        #[command(flatten)]
        pictures: PictureArgs,
        #[command(flatten)]
        import: ImportArgs,
    },
    /// Import texts: one clip without frames per line of JSON. Every key of a line becomes an attribute of the clip, except label,
    /// a whole number or the name of a class.
    Texts {
        /// Files of JSON lines, in order.
        #[arg(required = true)]
        file: Vec<PathBuf>,
        /// The folder to make the data set in, or a location such as s3://bucket/texts.
        #[arg(short, long)]
        output: PathBuf,
        #[command(flatten)]
        import: ImportArgs,
    },
}

#[derive(clap::Args)]
struct PictureArgs {
    /// Rewrite JPEGs so that crops can be decoded alone, which loads faster. The pixels stay the same, bit for bit.
    #[arg(long)]
    retile: bool,
    /// Encode PNG images as JPEGs of this quality, 1 to 100. Without it, they are a fault.
    #[arg(long, value_name = "QUALITY", value_parser = clap::value_parser!(u8).range(1..=100))]
    reencode: Option<u8>,
    /// Frames per second, such as 25 or 30000/1001, for sources without times. [default: times are ordinals]
    #[arg(long, value_parser = parse_fps)]
    fps: Option<(u32, u32)>,
}

#[derive(clap::Args)]
struct ImportArgs {
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

impl PictureArgs {
    fn options(&self) -> ImportOptions {
        let time_base = self.fps.unwrap_or((1, 1));
        ImportOptions { retile: self.retile, reencode: self.reencode, time_base, ..ImportOptions::default() }
    }
}

impl ImportArgs {
    /// Makes the data set, wherever it is to be.
    fn write(
        &self,
        output: &Path,
        mut options: ImportOptions,
        import: impl FnOnce(&Path, &ImportOptions) -> crate::Result<ImportReport>,
    ) -> Result<ImportReport, Failure> {
        let (storage, only_publisher) = (self.storage.storage()?, self.storage.only_publisher());
        let to = Output { path: output, storage, overwrite: self.overwrite, only_publisher, progress: self.progress };
        to.write(|out, overwrite| {
            (options.overwrite, options.salvage) = (overwrite, self.salvage);
            import(out, &options)
        })
    }
}

pub fn run(args: &Args) -> Run {
    let (how, out) = match &args.format {
        Format::Mxnet { import, output, .. } => (import, output.as_ref()),
        Format::Gulp { import, output, .. }
        | Format::Frames { import, output, .. }
        | Format::Texts { import, output, .. } => (import, Some(output)),
    };
    let progress = &mut how.progress.of("clips");
    let report = match &args.format {
        Format::Mxnet { file, frames_per_clip, ids, output, pictures, .. } => {
            let (records, mut mxnet) = mxnet_files(file)?;
            (mxnet.frames_per_clip, mxnet.ids) = (*frames_per_clip, *ids);
            let options = pictures.options();
            match output {
                Some(out) => how.write(out, options, |out, o| mxnet::import(&records, out, o, &mxnet, progress))?,
                None => mxnet::import_in_place(&records, how.overwrite, options.time_base, &mxnet, progress)?,
            }
        }
        Format::Gulp { folder, output, pictures, .. } => {
            how.write(output, pictures.options(), |out, o| gulp::import(folder, out, o, progress))?
        }
        Format::Frames { folder, outside, output, pictures, .. } => {
            let options = ImportOptions { outside: *outside, ..pictures.options() };
            how.write(output, options, |out, o| frames::import(folder, out, o, progress))?
        }
        Format::Texts { file, output, .. } => {
            how.write(output, ImportOptions::default(), |out, o| texts::import(file, out, o, progress))?
        }
    };
    for left in &report.left_out {
        output::tell(format_args!("{}: skipped: {}", left.source, left.error));
    }
    let to = out.map_or_else(|| "beside the record file".into(), |out| format!("into {}", out.display()));
    output::print(how.json, &report, |r| render(r, &to))?;
    let outcome = if report.left_out.is_empty() { Outcome::Done } else { Outcome::Problems };
    Ok(outcome.but_left(&report.left_behind))
}

/// The record files among the given ones, and options with their .idx and .lst.
fn mxnet_files(files: &[PathBuf]) -> Result<(Vec<PathBuf>, MxnetOptions), String> {
    let (mut records, mut options) = (Vec::new(), MxnetOptions::default());
    for path in files {
        let place = match path.extension().and_then(|e| e.to_str()) {
            Some("idx") => &mut options.index,
            Some("lst") => &mut options.list,
            _ => {
                records.push(path.clone());
                continue;
            }
        };
        if let Some(first) = place.replace(path.clone()) {
            let (first, second) = (first.display(), path.display());
            return Err(format!("{first} and {second} are of the same kind: give at most one of them"));
        }
    }
    Ok((records, options))
}

fn render(r: &ImportReport, to: &str) -> String {
    let size = format!("{}, {}", count(r.clips, "clip"), count(r.frames, "frame"));
    let mut text = format!("imported {size}, {} {to}\n", bytes(r.bytes));
    text += &line(r.retiled, "frame", "rewritten with restart markers, with the same pixels");
    text += &line(r.not_retiled, "frame", "stored as they are, because tiles need 4:2:0 and 8 bits");
    text += &line(r.reencoded, "image", "encoded as JPEG");
    text += &line(r.left_out.len() as u64, "fault", "skipped");
    r.notes.iter().for_each(|note| text += &format!("  {}\n", printable(note)));
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
