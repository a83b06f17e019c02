//! What the server did: every request, and sums of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use crate::wire;

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// As in `GET`.
    pub method: String,
    /// The path as it was sent, without a query.
    pub path: String,
    /// The `Range` field of the request.
    pub range: Option<String>,
    /// The status of the answer; 0 if none was sent.
    pub status: u16,
    /// Bytes of the body that were sent.
    pub bytes: u64,
    /// The name of the fault that was applied.
    pub fault: Option<&'static str>,
}

impl Exchange {
    /// The bytes that the request asked for, of an object of `length`; all without a `Range` field.
    pub fn asked(&self, length: u64) -> Range<u64> {
        self.range.as_deref().and_then(|range| wire::asked(range, length)).unwrap_or(0..length)
    }
}

/// Sums over requests. Bytes count when they are handed to the socket, so a client that has a byte sees it counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests whose head arrived.
    pub requests: u64,
    /// Bytes of the bodies of answers.
    pub body_bytes: u64,
    /// Requests to which a fault was applied.
    pub faults: u64,
    /// Connections that clients made.
    pub connections: u64,
    /// The most requests that were under way at once. A request is under way until the last piece of its answer is sent.
    pub most_in_flight: u64,
    /// Requests and bytes of bodies, by path.
    pub paths: BTreeMap<String, (u64, u64)>,
}

#[derive(Debug, Default)]
pub(crate) struct Journal(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    in_flight: u64,
    keep_log: bool,
    log: Vec<Exchange>,
    /// How many exchanges were taken out of the log, whose numbers must stay as they are.
    taken: usize,
}

impl Journal {
    pub fn new() -> Self {
        Self(Mutex::new(State { keep_log: true, ..State::default() }))
    }

    pub fn keep_log(&self, keep: bool) {
        self.0.lock().unwrap().keep_log = keep;
    }

    pub fn connected(&self) {
        self.0.lock().unwrap().counts.connections += 1;
    }

    pub fn counts(&self) -> Counts {
        self.0.lock().unwrap().counts.clone()
    }

    /// The log so far, which starts anew.
    pub fn take_log(&self) -> Vec<Exchange> {
        let mut state = self.0.lock().unwrap();
        state.taken += state.log.len();
        std::mem::take(&mut state.log)
    }

    /// Counts and log start anew.
    pub fn reset(&self) {
        self.take_log();
        let mut state = self.0.lock().unwrap();
        state.counts = Counts { most_in_flight: state.in_flight, ..Counts::default() };
    }

    /// A request arrived.
    pub fn begin(&self, request: &wire::Request) -> Entry<'_> {
        let mut state = self.0.lock().unwrap();
        state.in_flight += 1;
        let path = request.path().to_owned();
        let counts = &mut state.counts;
        counts.requests += 1;
        counts.paths.entry(path.clone()).or_default().0 += 1;
        state.counts.most_in_flight = state.counts.most_in_flight.max(state.in_flight);
        let number = state.keep_log.then_some(state.taken + state.log.len());
        if number.is_some() {
            let (method, range) = (request.method.clone(), request.fields.get("Range").map(str::to_owned));
            state.log.push(Exchange { method, path: path.clone(), range, status: 0, bytes: 0, fault: None });
        }
        Entry { journal: self, path, number, in_flight: true }
    }
}

/// A request that is being answered.
pub(crate) struct Entry<'a> {
    journal: &'a Journal,
    path: String,
    number: Option<usize>,
    in_flight: bool,
}

impl Entry<'_> {
    fn change(&self, change: impl FnOnce(&mut Exchange)) {
        let mut state = self.journal.0.lock().unwrap();
        let at = self.number.and_then(|number| number.checked_sub(state.taken));
        if let Some(exchange) = at.and_then(|at| state.log.get_mut(at)) {
            change(exchange);
        }
    }

    pub fn status(&self, status: u16) {
        self.change(|exchange| exchange.status = status);
    }

    /// The fault that the answer has.
    pub fn fault(&self, name: Option<&'static str>) {
        self.journal.0.lock().unwrap().counts.faults += u64::from(name.is_some());
        self.change(|exchange| exchange.fault = name);
    }

    /// So many bytes are about to be sent; negative: they were not.
    pub fn sent(&self, bytes: i64) {
        self.change(|exchange| exchange.bytes = exchange.bytes.saturating_add_signed(bytes));
        let counts = &mut self.journal.0.lock().unwrap().counts;
        counts.body_bytes = counts.body_bytes.saturating_add_signed(bytes);
        let of_path = &mut counts.paths.entry(self.path.clone()).or_default().1;
        *of_path = of_path.saturating_add_signed(bytes);
    }

    /// The last piece is about to be sent.
    pub fn finish(&mut self) {
        if std::mem::take(&mut self.in_flight) {
            self.journal.0.lock().unwrap().in_flight -= 1;
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}
