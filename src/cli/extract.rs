//! `vidrec extract`: stored JPEGs as files, byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Clip;
use serde::Serialize;

use crate::cli::outcome::Failure;
use crate::cli::output::{bytes, count};
use crate::cli::ranges::{self, ClipRange};
use crate::cli::storage::{StorageArgs, local};
use crate::cli::{Outcome, Run, output};

/// Write the JPEGs of some clips as files, byte for byte.
///
/// Files are named DIR/CLIP/FRAME.jpg, such as 000012/003.jpg. vidrec checks their checksums. It does not replace files
/// that are there already.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Clips by number, counted from 0: 5, 3-7 or all.
    #[arg(required = true)]
    clip: Vec<ClipRange>,
    /// The folder to write to.
    #[arg(short, long, value_name = "DIR", value_parser = local)]
    output: PathBuf,
    /// Replace files that are there already.
    #[arg(long)]
    overwrite: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Serialize)]
struct Report {
    clips: u64,
    frames: u64,
    bytes: u64,
}

pub fn run(args: &Args) -> Run {
    let dataset = args.storage.open(&args.dataset)?;
    let mut report = Report { clips: 0, frames: 0, bytes: 0 };
    crate::refuse_file(&args.output)?;
    let ordinals = ranges::ordinals(&args.clip, dataset.len())?;
    if !args.overwrite {
        // First, so that nothing is written if not everything can be.
        for &ordinal in &ordinals {
            refuse_existing(&args.output, &dataset.clip(ordinal)?)?;
        }
    }
    for ordinal in ordinals {
        let clip = dataset.clip(ordinal)?;
        let folder = clip_folder(&args.output, ordinal);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: could not create the folder: {e}", folder.display()))?;
        for (t, frame) in clip.frames().enumerate() {
            let frame = frame?;
            frame.check()?;
            write(&frame_file(&folder, t), frame.jpeg(), args.overwrite)?;
            report.frames += 1;
            report.bytes += frame.jpeg().len() as u64;
        }
        report.clips += 1;
    }
    let to = args.output.display();
    output::print(args.json, &report, |r| {
        format!("wrote {} of {}, {}, to {to}\n", count(r.frames, "frame"), count(r.clips, "clip"), bytes(r.bytes))
    })?;
    Ok(Outcome::Done)
}

fn clip_folder(output: &Path, ordinal: u64) -> PathBuf {
    output.join(format!("{ordinal:06}"))
}

fn frame_file(folder: &Path, frame: usize) -> PathBuf {
    folder.join(format!("{frame:03}.jpg"))
}

/// An error if one of the clip's files is there already.
fn refuse_existing(output: &Path, clip: &Clip<'_>) -> Result<(), String> {
    let folder = clip_folder(output, clip.ordinal());
    let mut files = (0..clip.frame_count() as usize).map(|t| frame_file(&folder, t));
    files.find(|path| path.symlink_metadata().is_ok()).map_or(Ok(()), |path| Err(is_there(&path)))
}

fn is_there(path: &Path) -> String {
    format!("{}: the file already exists; replace it with --overwrite, or choose another folder", path.display())
}

fn write(path: &Path, jpeg: &[u8], replace: bool) -> Result<(), Failure> {
    // It may have come since nothing was there.
    if !replace && path.symlink_metadata().is_ok() {
        return Err(is_there(path).into());
    }
    Ok(crate::write_whole(path, |file| file.write_all(jpeg))?)
}
