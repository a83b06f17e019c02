//! `vidrec import`: import other projects' data sets.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use crate::cli::output::{bytes, count, line};
use crate::cli::{Outcome, ProgressArgs, RemoteStorageArgs, Run, output};
use crate::interop::mxnet::MxnetOptions;
use crate::interop::{ImportOptions, ImportReport, frames, mxnet};

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
        /// Record files (.rec), in order. If there is an .idx beside one, under the same name, it is compared with the records;
        /// paths in the .lst beside it become the clips' sources.
        #[arg(required = true)]
        file: Vec<PathBuf>,
        /// Number T of records per clip. Frame t of clip k then has the id k * T + t. [default: as the file says, if vidrec
        /// wrote it; otherwise each record is a clip]
        #[arg(short = 'n', long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
        frames_per_clip: Option<u32>,
        /// The records' ids mean nothing: count records, and compare only their labels.
        #[arg(long, requires = "frames_per_clip")]
        ignore_ids: bool,
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
        #[command(flatten)]
        pictures: PictureArgs,
        #[command(flatten)]
        import: ImportArgs,
    },
    /// Not available: the Python package imports these.
    #[command(hide = true, disable_help_flag = true, aliases = ["webdataset", "mds"])]
    Lerobot {
        /// The arguments of another importer.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        _rest: Vec<OsString>,
    },
}

#[derive(clap::Args)]
struct PictureArgs {
    /// Rewrite JPEGs so that crops can be decoded alone, which loads faster. The pixels stay the same, bit for bit.
    #[arg(long)]
    retile: bool,
    /// Frames per second, such as 25 or 30000/1001, for sources without times. [default: times are ordinals]
    #[arg(long, value_parser = parse_fps)]
    fps: Option<(u32, u32)>,
}

#[derive(clap::Args)]
struct ImportArgs {
    /// The folder to make the data set in, or a location such as s3://bucket/train.
    #[arg(short, long, display_order = 0)]
    output: PathBuf,
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
        ImportOptions { retile: self.retile, time_base: self.fps.unwrap_or((1, 1)), ..ImportOptions::default() }
    }
}

impl ImportArgs {
    /// Makes the data set, wherever it is to be, and prints the report.
    fn run(
        &self,
        mut options: ImportOptions,
        import: impl FnOnce(&Path, &ImportOptions, &mut crate::ProgressFn<'_>) -> crate::Result<ImportReport>,
    ) -> Run {
        options.salvage = self.salvage;
        let progress = &mut self.progress.of("clips");
        let report = self.storage.output(&self.output, self.overwrite, self.progress)?.write(|out, overwrite| {
            options.overwrite = overwrite;
            import(out, &options, progress)
        })?;
        for left in &report.left_out {
            output::tell(format_args!("{}: skipped: {}", left.source, left.error));
        }
        output::print(self.json, &report, |report| render(report, &self.output))?;
        let outcome = if report.left_out.is_empty() { Outcome::Done } else { Outcome::Problems };
        Ok(outcome.but_left(&report.left_behind))
    }
}

pub fn run(args: &Args) -> Run {
    match &args.format {
        Format::Mxnet { file, frames_per_clip, ignore_ids, pictures, import } => {
            let mxnet = MxnetOptions { frames_per_clip: *frames_per_clip, ignore_ids: *ignore_ids };
            import.run(pictures.options(), |out, o, progress| mxnet::import(file, out, o, &mxnet, progress))
        }
        Format::Frames { folder, outside, pictures, import } => {
            let options = ImportOptions { outside: *outside, ..pictures.options() };
            import.run(options, |out, o, progress| frames::import(folder, out, o, progress))
        }
        Format::Lerobot { .. } => Err("LeRobot, WebDataset and MDS data sets are imported by the Python package: see \
             vidrec.convert.from_lerobot, from_webdataset and from_mds"
            .into()),
    }
}

fn render(r: &ImportReport, to: &Path) -> String {
    let size = format!("{}, {}", count(r.clips, "clip"), count(r.frames, "frame"));
    let mut text = format!("imported {size}, {} into {}\n", bytes(r.bytes), to.display());
    text += &line(r.retiled, "frame", "rewritten with restart markers, with the same pixels");
    text += &line(r.not_retiled, "frame", "stored as they are, because tiles need 4:2:0 and 8 bits");
    text + &line(r.left_out.len() as u64, "fault", "skipped")
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
