//! `vidrec export`: write data sets in other projects' formats.

use std::path::PathBuf;

use clap::Subcommand;

use crate::cli::output::{bytes, count, printable};
use crate::cli::{Outcome, ProgressArgs, Run, StorageArgs, output, words};
use crate::interop::{frames, gulp, metadata, mxnet};

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
    /// One folder per clip, with 000.jpg and so on and clip.json. Without tracks.
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

pub fn run(args: &Args) -> Run {
    let (Format::Mxnet { to } | Format::Frames { to } | Format::Gulp { to, .. } | Format::Metadata { to, .. }) =
        &args.format;
    let (set, out, progress) = (to.storage.open(&to.dataset)?, &to.output, &mut to.progress.of("clips"));
    let report = match &args.format {
        Format::Mxnet { .. } => mxnet::export(&set, out, progress),
        Format::Gulp { clips_per_chunk, .. } => gulp::export(&set, out, *clips_per_chunk, progress),
        Format::Frames { .. } => frames::export(&set, out, progress),
        Format::Metadata { format, rows, .. } => metadata::export(&set, out, *format, *rows, progress),
    }?;
    let path = out.display().to_string();
    report.left_out_note(&path).iter().for_each(output::tell);
    output::print(to.json, &report, |r| {
        let (clips, frames, files) = (count(r.clips, "clip"), count(r.frames, "frame"), count(r.files, "file"));
        let mut text = format!("exported {clips}, {frames} to {path}: {files}, {}\n", bytes(r.bytes));
        r.notes.iter().for_each(|note| text += &format!("  {}\n", printable(note)));
        text
    })?;
    Ok(Outcome::Done)
}
