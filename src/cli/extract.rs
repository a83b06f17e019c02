//! `vidrec extract`: stored JPEGs as files, byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::output::{bytes, count};
use crate::cli::{ClipRange, Outcome, Run, StorageArgs, local, output, ranges};
use serde_json::json;

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

pub fn run(args: &Args) -> Run {
    let dataset = args.storage.open(&args.dataset)?;
    crate::refuse_file(&args.output)?;
    let ordinals = ranges::ordinals(&args.clip, dataset.len())?;
    let file = |clip: u64, frame: u32| args.output.join(format!("{clip:06}/{frame:03}.jpg"));
    let free = |path: &Path| match args.overwrite || path.symlink_metadata().is_err() {
        true => Ok(()),
        false => Err(format!(
            "{}: the file already exists; replace it with --overwrite, or choose another folder",
            path.display()
        )),
    };
    // First, so that nothing is written if not everything can be.
    for &ordinal in &ordinals {
        (0..dataset.clip(ordinal)?.frame_count()).try_for_each(|t| free(&file(ordinal, t)))?;
    }
    let (mut frames, mut length) = (0, 0);
    for &ordinal in &ordinals {
        let folder = args.output.join(format!("{ordinal:06}"));
        fs::create_dir_all(&folder).map_err(|e| format!("{}: could not create the folder: {e}", folder.display()))?;
        for (t, frame) in (0..).zip(dataset.clip(ordinal)?.frames()) {
            let (frame, path) = (frame?, file(ordinal, t));
            frame.check()?;
            // It may have come since nothing was there.
            free(&path)?;
            crate::write_whole(&path, |file| file.write_all(frame.jpeg()))?;
            frames += 1;
            length += frame.jpeg().len() as u64;
        }
    }
    let clips = ordinals.len() as u64;
    output::print(args.json, &json!({ "clips": clips, "frames": frames, "bytes": length }), |_| {
        let to = args.output.display();
        format!("wrote {} of {}, {}, to {to}\n", count(frames, "frame"), count(clips, "clip"), bytes(length))
    })?;
    Ok(Outcome::Done)
}
