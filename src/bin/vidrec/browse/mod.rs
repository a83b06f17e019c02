//! `vidrec browse`: a page that shows every clip of data sets, and a server for it on this machine.

mod answer;
mod body;
mod export;
mod files;
mod findings;
mod range;
mod server;

use std::path::PathBuf;

use vidrec::Dataset;
use vidrec::check::CheckReport;
use vidrec::report::{BrowsedSet, browser_page};

use self::files::Files;
use crate::interrupt;
use crate::outcome::{Failure, Outcome, Run};
use crate::output::printable;
use crate::storage::{StorageArgs, local};

/// Look at every clip of data sets in a browser: search, filter, play, flag.
///
/// Serves a page on this machine's loopback until Ctrl-C, and prints its address. Nobody without the address can read the
/// page, and other machines cannot reach it. The page reads the index and the record files as it needs them, so it shows
/// any clip of millions at once, and compares the checksum of each frame that it shows.
///
/// With --export, writes the page as a file instead. Beside a data set in a bucket or on any web server that answers
/// requests for ranges of bytes, it needs no server of vidrec.
#[derive(clap::Args)]
pub struct Args {
    /// The data sets.
    #[arg(required = true)]
    dataset: Vec<PathBuf>,
    /// The port to serve at. A fixed one keeps flags from one run to the next. [default: a free one]
    #[arg(long, conflicts_with = "export")]
    port: Option<u16>,
    /// Write the page as a file beside the data set, instead of serving it.
    #[arg(long)]
    export: bool,
    /// The HTML file to write. A file that is there is replaced. [default: browse.html in the folder of the data set]
    #[arg(short, long, value_name = "HTML", value_parser = local, requires = "export")]
    output: Option<PathBuf>,
    /// Show what a check has found: the report that `vidrec check --json` printed about the same data sets.
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,
    /// Title of the page. [default: the data sets]
    #[arg(long)]
    title: Option<String>,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Args {
    fn names(&self) -> Vec<String> {
        self.dataset.iter().map(|path| path.display().to_string()).collect()
    }

    /// The page, in which the data sets have these addresses.
    fn page(&self, addresses: Vec<String>, found: Option<&CheckReport>) -> Result<String, Failure> {
        let set = |(name, address)| BrowsedSet { name, address };
        let sets: Vec<_> = self.names().into_iter().zip(addresses).map(set).collect();
        Ok(browser_page(self.title.as_deref(), &sets, found)?)
    }
}

pub fn run(args: &Args) -> Run {
    let open = |path: &PathBuf| args.storage.open(path);
    let sets = args.dataset.iter().map(open).collect::<Result<Vec<Dataset>, _>>()?;
    let found = args.findings.as_deref().map(|path| findings::read(path, &sets)).transpose()?;
    if args.export {
        let (out, addresses) = export::place(&args.dataset, args.output.as_deref())?;
        let page = args.page(addresses, found.as_ref())?;
        vidrec::write_whole(&out, |file| file.write_all(page.as_bytes()))?;
        println!("wrote {}", printable(&out.display().to_string()));
        return Ok(Outcome::Done);
    }
    let page = args.page((0..sets.len()).map(|set| format!("{set}/")).collect(), found.as_ref())?;
    let files = Files::new(page, &sets)?;
    let stop = interrupt::flag()?;
    server::serve(files, args.port.unwrap_or(0), &stop)?;
    Ok(Outcome::Done)
}
