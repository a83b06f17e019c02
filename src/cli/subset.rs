//! `vidrec subset`: some clips of a data set, or all of them, also with changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::edit::{self, Change, Changes, Selection};
use crate::{Dataset, JsonObject};

use crate::cli::Run;
use crate::cli::arguments::parse_pair;
use crate::cli::clip_list::{self, ConditionArgs};
use crate::cli::edit::NewSetArgs;
use crate::cli::table::{self, Row};

/// Write some clips of a data set, or all of them, as a data set of their own.
///
/// vidrec takes a clip if it fits everything that is given. Order, labels and class names stay as they are, except for the
/// changes that are given. JPEGs are copied byte for byte, and their checksums compared.
///
/// A FILE names clips in one of these ways: on each line a source, or `#12 a/b.mp4`, a clip's number counted from 0 and its
/// source, as `vidrec check --list` writes; a .csv, .tsv or .jsonl table with a column clip or source;
/// or a .json file with what `vidrec verify --json` printed.
///
/// A TABLE is a .csv or .tsv file with a header line, or a .jsonl file with an object on each line. Column source or column
/// clip (a number, counted from 0) says which clips a line is for; with both, they must agree. Column label has their new
/// label, a number or a class name; all other columns are attributes. An empty cell changes nothing. Names that are new to
/// the data set get the next labels.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    #[command(flatten)]
    conditions: ConditionArgs,
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
    let exclude = args.exclude.as_deref().map(|path| clip_list::read(path, &set)).transpose()?.unwrap_or_default();
    let selection = Selection { exclude, sample: args.sample, seed: args.seed, ..args.conditions.selection(&set)? };
    let clips = args.changes.as_deref().map(|path| read_changes(path, &set)).transpose()?.unwrap_or_default();
    let changes = Changes { clips, renamed_classes: args.rename_class.clone(), align_clocks: args.align_clocks };
    let progress = &mut args.new.progress.of("clips");
    args.new.write(|out, options| edit::subset(&set, &selection, &changes, out, options, progress))
}

/// Reads the changes of a table for a data set.
fn read_changes(path: &Path, set: &Dataset) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    table::read(path, &mut |row| {
        changes.push(change(row, set)?);
        Ok(())
    })?;
    Ok(changes)
}

fn change(row: &Row, set: &Dataset) -> Result<Change, String> {
    let key = clip_list::key(row, set)?;
    let is_other =
        |name: &str| !["clip", "label", row.source_column()].iter().any(|known| name.eq_ignore_ascii_case(known));
    let attributes: BTreeMap<_, _> = row.cells().filter(|(name, _)| is_other(name)).collect();
    let attributes = JsonObject::of(attributes).map_err(|e| e.to_string())?;
    Ok(Change { key, label: row.text("label"), attributes })
}
