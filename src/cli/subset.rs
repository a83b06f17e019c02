//! `vidrec subset`: some clips of a data set, or all of them, also with changes.

use std::path::PathBuf;

use crate::edit::{self, Changes, ClipList, Selection};

use crate::cli::arguments::{ClipRange, ordinals, parse_pair};
use crate::cli::edit::NewSetArgs;
use crate::cli::{Run, change_table, clip_list};

/// Write some clips of a data set, or all of them, as a data set of their own.
///
/// vidrec takes a clip if it fits everything that is given. Order, labels and class names stay as they are, except for the
/// changes that are given. JPEGs are copied byte for byte, and their checksums compared.
///
/// A FILE names clips in one of these ways: on each line a source, or `#12 a/b.mp4`, a clip's number counted from 0 and its
/// source, as `vidrec check --list` writes; a .csv, .tsv or .jsonl table with a column clip or source, such as
/// `vidrec export metadata` writes; or a .json file with what `vidrec verify --json` printed.
///
/// A TABLE is a .csv or .tsv file with a header line, or a .jsonl file with an object on each line. Column source or column
/// clip (a number, counted from 0) says which clips a line is for; with both, they must agree. Column label has their new
/// label, a number or a class name; all other columns are attributes. An empty cell changes nothing. Names that are new to
/// the data set get the next labels. Of a table that `vidrec export metadata` wrote, change the columns label, class and
/// attributes; its columns of facts, such as frames and width, are ignored.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Clips of this class, by name, or by number where classes have no names. May be given several times: any of them.
    #[arg(long, value_name = "CLASS")]
    class: Vec<String>,
    /// Clips by number, counted from 0: 5, 3-7 or all, with commas between.
    #[arg(long, value_name = "RANGES", value_delimiter = ',', conflicts_with = "list")]
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
    /// Other labels and attributes.
    #[arg(long, value_name = "TABLE")]
    changes: Option<PathBuf>,
    /// Give a class another name; its label stays. May be given several times.
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_pair)]
    rename_class: Vec<(String, String)>,
    /// Let the clock of each clip begin at its first frame: the times of frames and tracks count from there. Loaders pair
    /// cameras of an episode by these times.
    #[arg(long)]
    align_clocks: bool,
    #[command(flatten)]
    new: NewSetArgs,
}

pub fn run(args: &Args) -> Run {
    let set = args.new.storage.open(&args.dataset)?;
    let read = |path: &Option<PathBuf>| path.as_deref().map(|path| clip_list::read(path, &set)).transpose();
    let list = match args.clips.is_empty() {
        true => read(&args.list)?,
        false => Some(ClipList { clips: ordinals(&args.clips, set.len())?, ..ClipList::default() }),
    };
    let selection = Selection {
        classes: args.class.clone(),
        list,
        exclude: read(&args.exclude)?.unwrap_or_default(),
        attributes: args.attributes.clone(),
        sample: args.sample,
        seed: args.seed,
    };
    let clips = args.changes.as_deref().map(|path| change_table::read(path, &set)).transpose()?.unwrap_or_default();
    let changes = Changes { clips, renamed_classes: args.rename_class.clone(), align_clocks: args.align_clocks };
    let progress = &mut args.new.progress.of("clips");
    args.new.write(|out, options| edit::subset(&set, &selection, &changes, out, options, progress))
}
