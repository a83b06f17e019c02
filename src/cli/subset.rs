//! `vidrec subset`: some clips of a data set.

use std::path::PathBuf;

use crate::edit::{self, Selection};

use crate::cli::clip_list;
use crate::cli::edit::{NewSetArgs, parse_pair};
use crate::cli::outcome::Run;
use crate::cli::ranges::{self, ClipRange};

/// Write some clips of a data set as a data set of their own.
///
/// vidrec takes a clip if it fits everything that is given. Order, labels and class names stay as they are. JPEGs are
/// copied byte for byte, and their checksums compared.
///
/// A FILE names clips in one of these ways: on each line a source, or `#12 a/b.mp4`, a clip's number counted from 0 and its
/// source, as `vidrec check --list` writes; a number on each line; a .csv, .tsv or .jsonl table with a column clip or source,
/// such as `vidrec export metadata` writes; or what `vidrec verify --json` or
/// `vidrec inspect --clip I --json` printed.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Clips of this class, by name, or by number where classes have no names. May be given several times: any of them.
    #[arg(long, value_name = "CLASS")]
    class: Vec<String>,
    /// Clips by number, counted from 0: 5, 3-7 or all, with commas between.
    #[arg(long, value_name = "RANGES", value_delimiter = ',')]
    clips: Vec<ClipRange>,
    /// Clips whose attribute has this value, such as split=train or video.codec=h264. May be given several times: all
    /// of them.
    #[arg(long = "where", value_name = "ATTRIBUTE=VALUE", value_parser = parse_pair)]
    attributes: Vec<(String, String)>,
    /// Clips that this file names.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// No clips that this file names, such as those that `vidrec check --list` found, or the damaged ones of `vidrec verify --json`. Of several draws of a
    /// video, one stands for all.
    #[arg(long, value_name = "FILE")]
    exclude: Option<PathBuf>,
    /// This many at random of all that fit.
    #[arg(long, value_name = "N")]
    sample: Option<u64>,
    /// Seed for --sample.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    new: NewSetArgs,
}

pub fn run(args: &Args) -> Run {
    let set = args.new.storage.open(&args.dataset)?;
    let read = |path: &Option<PathBuf>| path.as_deref().map(|path| clip_list::read(path, &set)).transpose();
    let selection = Selection {
        classes: args.class.clone(),
        clips: if args.clips.is_empty() { None } else { Some(ranges::ordinals(&args.clips, set.len())?) },
        list: read(&args.list)?,
        exclude: read(&args.exclude)?.unwrap_or_default(),
        attributes: args.attributes.clone(),
        sample: args.sample,
        seed: args.seed,
    };
    args.new.write(|out, options| edit::subset(&set, &selection, out, options, &mut args.new.how.progress.of("clips")))
}
