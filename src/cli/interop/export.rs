//! `vidrec export`: write data sets in other projects' formats.

use std::path::{Path, PathBuf};

use crate::interop::{ExportReport, frames, gulp, metadata, mxnet};
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
    /// For GulpIO and its forks: data_0.gulp, meta_0.gmeta, label2idx.json. Without tracks.
    Gulp {
        #[command(flatten)]
        to: To,
        /// Clips per chunk.
        #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        clips_per_chunk: u64,
    },
    /// One folder per clip, with 000.jpg and so on, clip.json, and for each track track.NAME.npy (texts: .json) and
    /// track.NAME.times.npy.
    Frames {
        #[command(flatten)]
        to: To,
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
            Format::Mxnet { to } | Format::Frames { to } | Format::Gulp { to, .. } | Format::Metadata { to, .. } => to,
        }
    }

    fn export(&self, set: &Dataset, out: &Path, progress: &mut ProgressFn<'_>) -> crate::Result<ExportReport> {
        match self {
            Format::Mxnet { .. } => mxnet::export(set, out, progress),
            Format::Gulp { clips_per_chunk, .. } => gulp::export(set, out, *clips_per_chunk, progress),
            Format::Frames { .. } => frames::export(set, out, progress),
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
