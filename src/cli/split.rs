//! `vidrec split`: train, val and test.

use std::path::PathBuf;

use crate::edit::{self, KeepTogether, RatioSplit};

use crate::cli::Run;
use crate::cli::edit::{NewSetArgs, print_reports};

/// Write the parts of a data set as data sets of their own: OUTPUT/train, OUTPUT/val and so on.
///
/// OUTPUT is a folder of this machine. `vidrec push` copies each part to object storage.
///
/// vidrec draws the parts at random within each class, each class as near to the ratio as whole videos allow;
/// clips of one source go to the same part. The same seed gives the same parts, also with Dataset.split of the Python
/// package. `vidrec subset` makes a part by a list of clips (--list) or by an attribute (--where split=train). JPEGs are
/// copied byte for byte, and their checksums compared.
#[derive(clap::Args)]
#[command(mut_arg("output", |output| output.help("The folder to make the folders of the parts in")))]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// The share of each part, such as 0.8,0.1,0.1.
    #[arg(long, value_name = "SHARES", value_delimiter = ',', required = true)]
    ratio: Vec<f64>,
    /// The name of each part. [default: train,val or train,val,test]
    #[arg(long, value_delimiter = ',')]
    names: Vec<String>,
    /// Seed of the draw.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Draw from all clips together, whatever their classes.
    #[arg(long)]
    no_stratify: bool,
    /// Let clips of one source go to different parts. The draws of a video still stay together.
    #[arg(long)]
    no_keep_sources: bool,
    #[command(flatten)]
    new: NewSetArgs,
}

impl Args {
    fn split(&self) -> Result<RatioSplit, String> {
        let names = match (&self.names[..], self.ratio.len()) {
            ([], n @ 2..=3) => ["train", "val", "test"][..n].iter().map(|s| (*s).to_owned()).collect(),
            (names, n) if names.len() == n => names.to_vec(),
            (names, n) => return Err(format!("--ratio has {n} shares, and --names {}", names.len())),
        };
        Ok(RatioSplit {
            parts: names.into_iter().zip(self.ratio.iter().copied()).collect(),
            seed: self.seed,
            stratify: !self.no_stratify,
            keep_together: if self.no_keep_sources { KeepTogether::Draws } else { KeepTogether::Sources },
        })
    }
}

pub fn run(args: &Args) -> Run {
    let (set, split) = (args.new.storage.open(&args.dataset)?, args.split()?);
    let progress = &mut args.new.progress.of("clips");
    let reports = edit::split(&set, &split, &args.new.output, &args.new.options(args.new.overwrite), progress)?;
    print_reports(&reports, args.new.json)
}
