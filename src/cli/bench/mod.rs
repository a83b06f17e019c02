//! `vidrec bench`: how fast does the loader feed a training loop from this data set, on this machine?

mod args;
mod measure;

pub use args::Args;
use measure::{Report, measure};

use crate::{Hint, RemoteStats};

use crate::cli::output::{bytes, count, grouped};
use crate::cli::{Outcome, Run, output};

pub fn run(args: &Args) -> Run {
    run_with(args).map_err(|e| match e.downcast::<crate::Error>() {
        Ok(e) if e.kind() != crate::ErrorKind::Usage && e.kind() != crate::ErrorKind::Limit => (*e).into(),
        Ok(e) => e.worded(arguments).into(),
        Err(other) => other,
    })
}

fn run_with(args: &Args) -> Run {
    output::print(args.json, &measure(args, args.loader_options()?)?, render)?;
    Ok(Outcome::Done)
}

/// A hint of the library in terms of this command: options of the loader are no flags.
fn arguments(hint: Hint) -> String {
    match hint {
        Hint::Set(option) if args::LOADER.contains(&option) => format!("give {option}=…"),
        Hint::Unset(option) if args::LOADER.contains(&option) => format!("omit {option}="),
        other => output::flags(other),
    }
}

fn render(r: &Report) -> String {
    let mut text = format!(
        "{:.0} frames/s, {:.1} clips/s with {} threads; batches of {:?}, {:.1} kB per frame\n\
         first batch after {:.1} ms",
        r.frames_per_second,
        r.clips_per_second,
        r.threads,
        r.shape,
        r.bytes_per_frame / 1e3,
        r.first_batch_ms,
    );
    if let Some(cpu) = r.cpu_seconds_per_1000_frames {
        text += &format!("; {cpu:.3} CPU seconds per 1000 frames");
    }
    if let Some(rss) = r.peak_rss_bytes {
        text += &format!("; at most {} of memory, mapped files included", bytes(rss));
    }
    text += "\n";
    if let Some(remote) = &r.stats.remote {
        text += &render_remote(remote);
    }
    if let Some(cache) = &r.stats.decoded_cache {
        let [taken, limit] = [cache.taken_bytes, cache.limit_bytes].map(bytes);
        let [hits, misses, refused] = [cache.hits, cache.misses, cache.refused].map(grouped);
        text += &format!(
            "decoded frames: {taken} of {limit} in memory; {hits} hits, {misses} misses; no room for {refused}\n"
        );
    }
    text
}

/// Describes the traffic on the network since the data set was opened.
fn render_remote(r: &RemoteStats) -> String {
    format!(
        "{}: {} fetched, {} from the cache; {} sent again; waited {:.1} s for the network\n",
        count(r.requests, "request"),
        bytes(r.fetched_bytes),
        bytes(r.cached_bytes),
        grouped(r.retries),
        r.network_wait_seconds,
    )
}
