//! `vidrec export`: write data sets in other projects' formats.

use std::path::PathBuf;

use clap::Subcommand;

use crate::cli::arguments::{ClipRange, ordinals};
use crate::cli::output::{bytes, count, printable};
use crate::cli::{Outcome, ProgressArgs, Run, StorageArgs, output};
use crate::interop::{frames, mxnet};

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
        to: DestinationArgs,
    },
    /// One folder per clip, such as 000012, with 000.jpg and so on and clip.json. Without tracks.
    Frames {
        #[command(flatten)]
        to: DestinationArgs,
        /// Clips by number, counted from 0: 5, 3-7 or all, with commas between. [default: all]
        #[arg(long, value_name = "RANGES", value_delimiter = ',')]
        clips: Vec<ClipRange>,
    },
}

#[derive(clap::Args)]
struct DestinationArgs {
    /// The data set.
    dataset: PathBuf,
    /// The folder to write.
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
    let (Format::Mxnet { to } | Format::Frames { to, .. }) = &args.format;
    let (set, out, progress) = (to.storage.open(&to.dataset)?, &to.output, &mut to.progress.of("clips"));
    let report = match &args.format {
        Format::Mxnet { .. } => mxnet::export(&set, out, progress),
        Format::Frames { clips, .. } if clips.is_empty() => frames::export(&set, 0..set.len(), out, progress),
        Format::Frames { clips, .. } => frames::export(&set, ordinals(clips, set.len())?, out, progress),
    }?;
    let path = out.display();
    if !report.tracks_left_out.is_empty() {
        let tracks = report.tracks_left_out.join(", ");
        output::tell(format_args!("tracks are not in {path}, because the format has no room for them: {tracks}"));
    }
    output::print(to.json, &report, |r| {
        let (clips, frames, files) = (count(r.clips, "clip"), count(r.frames, "frame"), count(r.files, "file"));
        let mut text = format!("exported {clips}, {frames} to {path}: {files}, {}\n", bytes(r.bytes));
        r.notes.iter().for_each(|note| text += &format!("  {}\n", printable(note)));
        text
    })?;
    Ok(Outcome::Done)
}
