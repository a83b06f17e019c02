//! What batches need of remote record files, and the requests that bring it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::sync::Arc;

use super::engine::Engine;
use super::ring::Number;
use crate::remote::{Memory, RemoteFile};
use crate::{ErrorKind, Result};

/// The most that one request brings, unless one run is longer.
const REQUEST_BYTES: u64 = 8 << 20;
/// Runs are asked for together if what lies between them is less than this part of what they bring.
const GAP_SHARE: u64 = 64;

/// A run of records, held for a batch until it is done.
#[derive(Debug, Clone)]
pub(super) struct Need {
    file: Arc<RemoteFile>,
    run: Range<u64>,
}

/// What a batch needs. Dropping it says that the batch is done.
#[derive(Debug, Default)]
pub(crate) struct Ticket(Vec<Need>);

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.iter().for_each(|need| need.file.release(&need.run));
    }
}

/// A request for runs of one file, in order.
#[derive(Debug)]
pub(super) struct Request {
    pub file: Arc<RemoteFile>,
    pub runs: Vec<Range<u64>>,
    /// The memory that these take.
    pub bytes: u64,
    /// The first batch that waits for it, by its place among those that were planned together.
    pub first: usize,
}

impl Request {
    /// Where its memory is taken.
    pub fn memory(&self) -> &Memory {
        &self.file.remote().memory
    }

    pub fn send(self) -> Result<()> {
        self.file.fetch_runs(self.runs)
    }
}

/// What some batches need that are planned together: a ticket for each, and the requests in the order of their use.
pub(super) fn plan(engine: &Engine, batches: &[Number]) -> (Vec<Ticket>, Vec<Request>) {
    let mut tickets: Vec<Ticket> = batches.iter().map(|_| Ticket::default()).collect();
    if bring_entries(engine, batches).is_err_and(|e| e.kind() == ErrorKind::Io) {
        // An error of the batches that need them. To ask for each entry by itself would take long to fail, too.
        return (tickets, Vec::new());
    }
    // All samples of a clip together, so that what several need is one run.
    let mut clips: BTreeMap<u64, (Vec<u32>, Vec<usize>)> = BTreeMap::new();
    for (place, number) in batches.iter().enumerate() {
        // Errors come when the batch is made.
        let Ok(plan) = engine.batch(number.epoch, number.k) else { continue };
        for seat in &plan.seats {
            let Ok((_, (frames, _))) = engine.planner.choose(seat, plan.shape.frames) else { continue };
            let (all, uses) = clips.entry(seat.place.clip).or_default();
            all.extend(frames);
            uses.push(place);
        }
    }
    let mut wanted: BTreeMap<(usize, u64, u64), (Need, usize)> = BTreeMap::new();
    for (clip, (frames, mut uses)) in clips {
        uses.dedup();
        let runs = engine
            .planner
            .dataset
            .clip(clip)
            .and_then(|clip| Ok(clip.remote_runs(&frames)?.map(|(file, runs)| (file.clone(), runs))));
        let Ok(Some((file, runs))) = runs else { continue };
        for run in runs {
            let need = Need { file: file.clone(), run };
            for &place in &uses {
                let is_new = need.file.hold(&need.run);
                tickets[place].0.push(need.clone());
                let key = (Arc::as_ptr(&need.file) as usize, need.run.start, need.run.end);
                match wanted.entry(key) {
                    Entry::Occupied(mut found) => found.get_mut().1 = found.get().1.min(place),
                    Entry::Vacant(free) if is_new => drop(free.insert((need.clone(), place))),
                    Entry::Vacant(_) => {}
                }
            }
        }
    }
    (tickets, requests(wanted.into_values()))
}

/// Merges runs, which are in the order of their files, to requests, in the order of their first use.
fn requests(wanted: impl Iterator<Item = (Need, usize)>) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    for (Need { file, run }, first) in wanted {
        match requests.last_mut() {
            Some(last) if Arc::ptr_eq(&last.file, &file) && joins(last, &run) => {
                last.bytes += run.end - run.start;
                last.runs.push(run);
                last.first = last.first.min(first);
            }
            _ => requests.push(Request { file, bytes: run.end - run.start, runs: vec![run], first }),
        }
    }
    requests.sort_by_key(|request| request.first);
    requests
}

fn joins(request: &Request, run: &Range<u64>) -> bool {
    let (begin, end) = (request.runs[0].start, request.runs[request.runs.len() - 1].end);
    let bytes = request.bytes + (run.end - run.start);
    // Runs that overlap are asked for one by one.
    run.start >= end && bytes <= REQUEST_BYTES && (run.end - begin) - bytes <= bytes / GAP_SHARE
}

/// Brings the entries of all clips of the batches together, and of those of other ranks where these decide on lengths.
fn bring_entries(engine: &Engine, batches: &[Number]) -> Result<()> {
    let mut clips = Vec::new();
    for number in batches {
        let plan = engine.schedule.batch_of_all(number.epoch, number.k);
        let all = plan.as_ref().is_ok_and(|plan| !plan.shape.exact);
        let plan = if all { plan } else { engine.schedule.batch(number.epoch, number.k) };
        clips.extend(plan.into_iter().flat_map(|plan| plan.seats).map(|seat| seat.place.clip));
    }
    clips.sort_unstable();
    clips.dedup();
    engine.planner.dataset.bring(&clips, !engine.options.fields.is_empty())
}
