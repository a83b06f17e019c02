//! `vidrec export`: write data sets in other projects' formats.

use std::path::{Path, PathBuf};

use crate::interop::{ExportReport, frames, gulp, lerobot, mds, metadata, mxnet, webdataset};
use crate::{Dataset, ProgressFn};
use clap::Subcommand;

use crate::cli::output::{bytes, count, printable};
use crate::cli::progress::ProgressArgs;
use crate::cli::storage::StorageArgs;
use crate::cli::words::words;
use crate::cli::{Outcome, Run, output};

/// Write a data set in another project's format. JPEGs are written as they are stored, byte for byte.
///
/// The output must not exist. It appears under its name when it is complete.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    format: Format,
}

#[derive(Subcommand)]
enum Format {
    /// For MXNet, DALI and other readers of RecordIO: links to the record files, without copying them, with .idx and
    /// .lst beside them, and an all.idx for several record files. Without tracks.
    Mxnet {
        #[command(flatten)]
        to: To,
    },
    /// For GulpIO and its forks: data_0.gulp, meta_0.gmeta, label2idx.json; tracks are files in a folder beside them.
    Gulp {
        #[command(flatten)]
        to: To,
        /// Clips per chunk.
        #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        clips_per_chunk: u64,
    },
    /// For WebDataset: tar files with one sample per clip: KEY.000.jpg and so on, KEY.json and KEY.cls, and for each track
    /// KEY.track.NAME.npy (texts: .json) and KEY.track.NAME.times.npy.
    Webdataset {
        #[command(flatten)]
        to: To,
        /// Maximum number of clips in a tar file, which also ends at 1 GiB.
        #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        clips_per_shard: u64,
    },
    /// For MosaicML's streaming: MDS shards with one sample per clip, and a column for each track.
    Mds {
        #[command(flatten)]
        to: To,
        /// Size of a shard in MiB, below 4096.
        #[arg(long, default_value_t = 64, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..4096))]
        shard_size: u64,
    },
    /// For LeRobot (version 3 of its format): the JPEGs as Motion JPEG in MP4, and the tracks in Parquet files, with one value
    /// for each frame.
    ///
    /// Clips with the same attribute "episode" are the cameras of one episode, called by their attribute "camera".
    /// Otherwise each clip is an episode of the camera observation.images.main. A track gives each frame its latest
    /// value, so values between two frames are lost; sound is left out. Texts of the track "task" or "caption" are the tasks
    /// of the frames, otherwise the attribute "task" or the class of the clip. Frames have to be evenly spaced.
    Lerobot {
        #[command(flatten)]
        to: To,
        /// Frames per second, such as 30 or 30000/1001, whatever the times of the frames [default: that of the clips].
        #[arg(long, value_name = "RATE")]
        fps: Option<crate::sampler::Rate>,
        /// Leave out this track. Can be given several times.
        #[arg(long, value_name = "TRACK")]
        without: Vec<String>,
    },
    /// One folder per clip, with 000.jpg and so on, clip.json, and for each track track.NAME.npy (texts: .json) and
    /// track.NAME.times.npy.
    Frames {
        #[command(flatten)]
        to: To,
    },
    /// One video per clip, for people to look at: H.264 if FFmpeg has libx264, otherwise MPEG-4. Without tracks.
    #[cfg(feature = "pack")]
    Mp4 {
        #[command(flatten)]
        to: To,
        /// Frames per second.
        #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=240))]
        fps: u32,
    },
    /// The metadata of clips or frames, as one table.
    Metadata {
        #[command(flatten)]
        to: To,
        /// File format of the table.
        #[arg(long, default_value_t, value_parser = words::<metadata::Format>())]
        format: metadata::Format,
        /// What each row describes.
        #[arg(long, default_value_t, value_parser = words::<metadata::Rows>())]
        rows: metadata::Rows,
    },
}

#[derive(clap::Args)]
struct To {
    /// The data set.
    dataset: PathBuf,
    /// The folder to write; for a table, the file.
    #[arg(short, long)]
    output: PathBuf,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    storage: StorageArgs,
}

impl To {
    fn open(&self) -> Result<Dataset, Box<dyn std::error::Error>> {
        self.storage.open(&self.dataset)
    }
}

pub fn run(args: &Args) -> Run {
    let to = args.format.to();
    let report = args.format.export(&to.open()?, &to.output, &mut to.progress.of("clips"))?;
    let path = to.output.display();
    if let Some(note) = report.left_out_note(&path.to_string()) {
        output::tell(note);
    }
    output::print(to.json, &report, |r| render(r, &path.to_string()))?;
    Ok(Outcome::Done)
}

impl Format {
    fn to(&self) -> &To {
        match self {
            Format::Mxnet { to } | Format::Frames { to } | Format::Gulp { to, .. } | Format::Webdataset { to, .. } => {
                to
            }
            Format::Mds { to, .. } | Format::Lerobot { to, .. } | Format::Metadata { to, .. } => to,
            #[cfg(feature = "pack")]
            Format::Mp4 { to, .. } => to,
        }
    }

    fn export(&self, set: &Dataset, out: &Path, progress: &mut ProgressFn<'_>) -> crate::Result<ExportReport> {
        match self {
            Format::Mxnet { .. } => mxnet::export(set, out, false, progress),
            Format::Gulp { clips_per_chunk, .. } => gulp::export(set, out, *clips_per_chunk, progress),
            Format::Webdataset { clips_per_shard, .. } => {
                let options = webdataset::WebdatasetOptions { clips_per_shard: *clips_per_shard, ..Default::default() };
                webdataset::export(set, out, options, progress)
            }
            Format::Mds { shard_size, .. } => mds::export(set, out, shard_size << 20, progress),
            Format::Lerobot { fps, without, .. } => {
                let options = lerobot::LeRobotOptions { fps: *fps, without: without.clone() };
                lerobot::export(set, out, &options, progress)
            }
            Format::Frames { .. } => frames::export(set, out, progress),
            #[cfg(feature = "pack")]
            Format::Mp4 { fps, .. } => crate::interop::preview::export(set, out, *fps, progress),
            Format::Metadata { format, rows, .. } => metadata::export(set, out, *format, *rows, progress),
        }
    }
}

fn render(r: &ExportReport, to: &str) -> String {
    let size = format!("{}, {}", count(r.clips, "clip"), count(r.frames, "frame"));
    let mut text = format!("exported {size} to {to}: {}, {}\n", count(r.files, "file"), bytes(r.bytes));
    for note in &r.notes {
        text += &format!("  {}\n", printable(note));
    }
    text
}
