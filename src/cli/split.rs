//! `vidrec split`: train, val and test.

use std::path::PathBuf;

use crate::Dataset;
use crate::edit::{self, KeepTogether, RatioSplit, SplitBy};
use clap::ArgGroup;

use crate::cli::arguments::parse_pair;
use crate::cli::edit::{NewSetArgs, print_reports};
use crate::cli::output::{self, count, grouped};
use crate::cli::{Run, clip_list};

/// Write the parts of a data set as data sets of their own: OUTPUT/train, OUTPUT/val and so on.
///
/// By ratio, vidrec draws the parts at random within each class, each class as near to the ratio as whole videos allow;
/// clips of one source go to the same part. The same seed gives the same parts, also with Dataset.split of the Python
/// package. JPEGs are copied byte for byte, and their checksums compared.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("how to split").args(["ratio", "list", "attribute"]).required(true))]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// The share of each part, such as 0.8,0.1,0.1.
    #[arg(long, value_name = "SHARES", value_delimiter = ',')]
    ratio: Vec<f64>,
    /// With --ratio: the name of each part. [default: train,val or train,val,test]
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["list", "attribute"])]
    names: Vec<String>,
    /// With --ratio: seed of the draw.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// With --ratio: draw from all clips together, whatever their classes.
    #[arg(long, conflicts_with_all = ["list", "attribute"])]
    no_stratify: bool,
    /// With --ratio: let clips of one source go to different parts. The draws of a video still stay together.
    #[arg(long, conflicts_with_all = ["list", "attribute"])]
    no_keep_sources: bool,
    /// A part and a file that names its clips, as `vidrec subset --list` takes it; once for each part. Clips in no list
    /// are in no part.
    #[arg(long, value_name = "NAME=FILE", value_parser = parse_pair)]
    list: Vec<(String, String)>,
    /// A part for each value of this attribute, such as split. Clips without it are in no part.
    #[arg(long, value_name = "NAME")]
    attribute: Option<String>,
    #[command(flatten)]
    new: NewSetArgs,
}

impl Args {
    fn by(&self, set: &Dataset) -> Result<SplitBy, String> {
        if let Some(name) = &self.attribute {
            return Ok(SplitBy::Attribute(name.clone()));
        }
        if !self.list.is_empty() {
            let read = |(name, path): &(String, String)| Ok((name.clone(), clip_list::read(path.as_ref(), set)?));
            return self.list.iter().map(read).collect::<Result<_, String>>().map(SplitBy::Lists);
        }
        let names = match (&self.names[..], self.ratio.len()) {
            ([], n @ 2..=3) => ["train", "val", "test"][..n].iter().map(|s| (*s).to_owned()).collect(),
            (names, n) if names.len() == n => names.to_vec(),
            (names, n) => return Err(format!("--ratio has {n} shares, and --names {}", names.len())),
        };
        Ok(SplitBy::Ratio(RatioSplit {
            parts: names.into_iter().zip(self.ratio.iter().copied()).collect(),
            seed: self.seed,
            stratify: !self.no_stratify,
            keep_together: if self.no_keep_sources { KeepTogether::Draws } else { KeepTogether::Sources },
        }))
    }
}

pub fn run(args: &Args) -> Run {
    let set = args.new.storage.open(&args.dataset)?;
    let by = args.by(&set)?;
    let reports = args
        .new
        .write_parts(|out, options| edit::split(&set, &by, out, options, &mut args.new.progress.of("clips")))?;
    let in_none = set.len().saturating_sub(reports.iter().map(|r| r.clips).sum());
    if in_none > 0 {
        output::tell(format_args!("{} of {} belong to no part", count(in_none, "clip"), grouped(set.len())));
    }
    print_reports(&reports, args.new.json)
}
