//! The parts of remote record files that batches need, and the requests for them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::engine::Engine;
use super::retention::Retention;
use super::ring::Number;
use super::to_read::to_read;
use vidrec_format::error::{Error, ErrorKind, Result};
use vidrec_store::remote::{Memory, REQUEST_BYTES, RemoteFile, RunFrom, Wanted};

/// The maximum number of bytes of one request, unless a single part is longer.
const MOST_BYTES: u64 = 3 * REQUEST_BYTES / 2;
/// One request fetches several runs if the gaps between them are less than this fraction of the runs.
const GAP_SHARE: u64 = 64;

/// A run of records, held for a batch until it is done.
#[derive(Debug, Clone)]
pub(super) struct Need {
    file: Arc<RemoteFile>,
    run: Range<u64>,
}

/// The needs of a batch. Dropping the ticket says that the batch is done.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    needs: Vec<Need>,
    /// The cache policy to notify when the batch is done.
    keeper: Option<(Arc<Retention>, Number)>,
    /// The error of planning, in the ticket of the first of the batches that were planned together.
    failed: Option<Error>,
}

impl Ticket {
    /// Returns the error of planning if the batch has waited for this ticket, since `asked`, for as long as a
    /// fetch may take. The batch would need as long again to fail by itself. If planning failed sooner, the batch
    /// still has time to try.
    pub fn check(&mut self, engine: &Engine, asked: Instant) -> Result<()> {
        let remotes = engine.specs.dataset.remotes();
        let timeout = remotes.iter().map(|remote| remote.timeout()).min().unwrap_or_default();
        match self.failed.take() {
            Some(e) if asked.elapsed() >= timeout => Err(e),
            _ => Ok(()),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.needs.iter().for_each(|need| need.file.release(&need.run));
        self.keeper.iter().for_each(|(keeper, number)| keeper.done(*number));
    }
}

/// A request for parts of one file, in order. If it is dropped without being sent, it gives up the pages that it
/// was to keep.
#[derive(Debug)]
pub(super) struct Request {
    file: Arc<RemoteFile>,
    parts: Vec<Wanted>,
    /// The first batch that waits for each part.
    firsts: Vec<usize>,
    /// The number of bytes of memory that the parts take.
    pub bytes: u64,
    /// The first batch that waits for the request, by its place among the batches planned together.
    pub first: usize,
}

impl Request {
    /// Appends the parts of another request, which come after these.
    fn append(&mut self, mut other: Request) {
        self.parts.append(&mut other.parts);
        self.firsts.append(&mut other.firsts);
        self.bytes += other.bytes;
        self.first = self.first.min(other.first);
    }

    /// The memory that the request takes from.
    pub fn memory(&self) -> &Memory {
        self.file.remote().memory()
    }

    pub fn send(mut self) -> Result<()> {
        self.file.fetch_wanted(std::mem::take(&mut self.parts))
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        for part in &self.parts {
            if let Wanted::Keep(pages) = part {
                self.file.give_up(pages);
            }
        }
    }
}

/// Requests everything that batch `k` of `epoch` needs of remote files, all at once. The records are dropped when
/// the batch is done.
///
/// # Errors
///
/// The index entries of the batch could not be fetched.
pub(crate) fn ask_for(engine: &Engine, epoch: u64, k: u64) -> Result<Option<Ticket>> {
    if engine.specs.dataset.remotes().is_empty() {
        return Ok(None);
    }
    let asked = Instant::now();
    let (mut tickets, requests) = plan(engine, &[Number { epoch, k }], None);
    for request in requests {
        // This exceeds the limit if one batch needs more.
        request.memory().take_anyway(request.bytes);
        // The reader of these records gets the error.
        let _ = request.send();
    }
    let mut ticket = tickets.pop();
    ticket.as_mut().map_or(Ok(()), |ticket| ticket.check(engine, asked))?;
    Ok(ticket)
}

/// Plans some batches together. Returns a ticket for each, and the requests in the order of use. `keeper` makes
/// room in the cache for clips that are worth it.
pub(super) fn plan(
    engine: &Engine,
    batches: &[Number],
    keeper: Option<&Arc<Retention>>,
) -> (Vec<Ticket>, Vec<Request>) {
    let keeper_of = |number| keeper.map(|keeper| (keeper.clone(), number));
    let ticket = |&number| Ticket { needs: Vec::new(), keeper: keeper_of(number), failed: None };
    let mut tickets: Vec<Ticket> = batches.iter().map(ticket).collect();
    if let Err(e) = bring_entries(engine, batches)
        && e.kind() == ErrorKind::Io
    {
        // The other batches send their own requests when they are made, because the server may be back by then.
        if let Some(first) = tickets.first_mut() {
            first.failed = Some(e);
        }
        return (tickets, Vec::new());
    }
    // All samples of a clip are planned together, so that each run that several of them need is one run.
    let mut clips: BTreeMap<u64, (Vec<u32>, Vec<usize>)> = BTreeMap::new();
    for (place, number) in batches.iter().enumerate() {
        // The error comes back when the batch is made.
        let Ok(plan) = engine.batch(number.epoch, number.k) else { continue };
        for seat in &plan.seats {
            let Ok((_, frames)) = to_read(engine, seat, plan.shape.frames, plan.shape.size) else { continue };
            let (all, uses) = clips.entry(seat.place.clip).or_default();
            all.extend(frames);
            uses.push(place);
        }
    }
    // If clips share a page of the cache, the clip that is needed first requests it.
    let mut clips: Vec<_> = clips.into_iter().collect();
    clips.sort_by_key(|(_, (_, uses))| uses.first().copied());
    let next_uses = keeper.and_then(|keeper| keeper.plan(&engine.specs.dataset, &engine.schedule, batches));
    let mut wanted: Vec<Request> = Vec::new();
    for (clip, (frames, mut uses)) in clips {
        uses.dedup();
        let runs = engine
            .specs
            .dataset
            .clip(clip)
            .and_then(|clip| Ok(clip.remote_runs(&frames)?.map(|(file, runs)| (file.clone(), runs))));
        let Some(&first) = uses.first() else { continue };
        // If the location of the tracks is unknown, the batch requests them, one clip after another.
        let of_tracks = if engine.tracks.is_empty() { None } else { tracks_of(engine, clip) };
        let runs = runs
            .ok()
            .flatten()
            .into_iter()
            .flat_map(|(file, runs)| runs.into_iter().map(move |run| (file.clone(), run)));
        let next_use = next_uses.as_ref().and_then(|uses| uses.get(&clip).copied());
        let make_room =
            || keeper.zip(next_use).is_some_and(|(keeper, next)| keeper.make_room(&engine.specs.dataset, next));
        for (file, run) in runs.chain(of_tracks) {
            match plan_run(&file, &run, make_room) {
                RunFrom::Here => {}
                RunFrom::Keep(pages) => {
                    wanted.extend(pages.into_iter().map(|pages| want(&file, Wanted::Keep(pages), first)))
                }
                RunFrom::Hold => {
                    let mut is_new = false;
                    for &place in &uses {
                        is_new |= file.hold(&run);
                        tickets[place].needs.push(Need { file: file.clone(), run: run.clone() });
                    }
                    wanted.extend(is_new.then(|| want(&file, Wanted::Hold(run), first)));
                }
            }
        }
    }
    (tickets, merged(wanted))
}

/// The file and the range of the tracks of a clip.
fn tracks_of(engine: &Engine, clip: u64) -> Option<(Arc<RemoteFile>, Range<u64>)> {
    let (file, run) = engine.specs.dataset.clip(clip).ok()?.remote_tracks().ok()??;
    Some((file.clone(), run))
}

/// Plans how to fetch a run. If the cache is full, retries as long as `make_room` makes more room.
fn plan_run(file: &RemoteFile, run: &Range<u64>, make_room: impl Fn() -> bool) -> RunFrom {
    loop {
        let plan = file.find(run);
        if !matches!(plan, RunFrom::Hold) || !make_room() {
            return plan;
        }
    }
}

fn want(file: &Arc<RemoteFile>, part: Wanted, first: usize) -> Request {
    let bytes = part.bytes();
    Request { file: file.clone(), parts: vec![part], firsts: vec![first], bytes, first }
}

/// Merges requests for single parts, and sorts them by first use.
fn merged(mut wanted: Vec<Request>) -> Vec<Request> {
    wanted.sort_by_key(|one| (Arc::as_ptr(&one.file) as usize, one.parts[0].range().start));
    let mut requests: Vec<Request> = Vec::new();
    for one in wanted {
        match requests.last_mut() {
            Some(last) if Arc::ptr_eq(&last.file, &one.file) && joins(last, one.parts[0].range()) => {
                last.append(one);
            }
            _ => requests.push(one),
        }
    }
    let mut requests: Vec<Request> = requests.into_iter().flat_map(cut).collect();
    requests.sort_by_key(|request| request.first);
    requests
}

/// Cuts a request into as few requests of at most [`MOST_BYTES`] as possible. They have about equal sizes, so that
/// none fetches only a small rest.
fn cut(mut request: Request) -> Vec<Request> {
    let pieces = request.bytes.div_ceil(MOST_BYTES).max(1);
    let each = request.bytes.div_ceil(pieces);
    let mut cut: Vec<Request> = Vec::new();
    for (part, first) in std::mem::take(&mut request.parts).into_iter().zip(std::mem::take(&mut request.firsts)) {
        match cut.last_mut().filter(|last| last.bytes < each) {
            Some(last) => last.append(want(&request.file, part, first)),
            None => cut.push(want(&request.file, part, first)),
        }
    }
    cut
}

fn joins(request: &Request, part: &Range<u64>) -> bool {
    let (begin, end) = (request.parts[0].range().start, request.parts[request.parts.len() - 1].range().end);
    let bytes = request.bytes + (part.end - part.start);
    // Parts that overlap get a request each.
    part.start >= end && (part.end - begin) - bytes <= bytes / GAP_SHARE
}

/// Fetches the index entries of all clips of the batches together. Includes the clips of other ranks if these
/// decide on lengths.
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
    engine.specs.dataset.prefetch(&clips, !engine.options.fields.is_empty())
}
