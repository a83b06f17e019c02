//! `vidrec subset`: some clips of a data set.

use std::path::PathBuf;

use vidrec::Dataset;
use vidrec::edit::{self, Selection};

use crate::edit::{OutputArgs, parse_pair, read_list, tell};
use crate::ranges::{self, ClipRange};
use crate::{Run, clip_count};

/// Write some clips of a data set as a data set of their own.
///
/// A clip is taken if it fits all that is given. Order, labels and class names stay as they are. JPEGs are copied byte for
/// byte, and their checksums compared.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// The folder to make the new data set in.
    #[arg(short, long)]
    output: PathBuf,
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
    /// Clips whose source stands in this file, one a line.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// So many at random of all that fit.
    #[arg(long, value_name = "N")]
    sample: Option<u64>,
    /// Seed for --sample.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    how: OutputArgs,
}

pub fn run(args: &Args) -> Run {
    let set = Dataset::open(&args.dataset)?;
    let selection = Selection {
        classes: args.class.clone(),
        clips: if args.clips.is_empty() { None } else { Some(ranges::ordinals(&args.clips, set.len())?) },
        attributes: args.attributes.clone(),
        sources: args.list.as_deref().map(read_list).transpose()?,
        sample: args.sample,
        seed: args.seed,
    };
    let report = edit::subset(&set, &selection, &args.output, &args.how.options(), &mut clip_count::shown())?;
    tell(&report, args.how.json)
}
