//! What the server did: every request, and sums of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use crate::message::{Head, get};
use crate::range;

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// As in `GET`.
    pub method: String,
    /// The path as it was sent, without a query.
    pub path: String,
    /// The `Range` field.
    pub range: Option<String>,
    /// All fields, in small letters, as text.
    pub fields: String,
}

impl Exchange {
    /// The bytes that the request asked for, of an object of `length`; all without a `Range` field.
    pub fn asked(&self, length: u64) -> Range<u64> {
        self.range.as_deref().and_then(|asked| range::asked(asked, length)).unwrap_or(0..length)
    }
}

/// Sums over requests. Bytes count before they are sent, so a client that has a byte sees it counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests whose head arrived.
    pub requests: u64,
    /// Bytes of the bodies of answers.
    pub body_bytes: u64,
    /// Requests to which a fault was applied.
    pub faults: u64,
    /// Requests and bytes of bodies, by path.
    pub paths: BTreeMap<String, (u64, u64)>,
}

#[derive(Debug, Default)]
pub(crate) struct Journal(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    keep_log: bool,
    log: Vec<Exchange>,
}

impl Journal {
    pub fn new() -> Self {
        Self(Mutex::new(State { keep_log: true, ..State::default() }))
    }

    pub fn keep_log(&self, keep: bool) {
        self.0.lock().unwrap().keep_log = keep;
    }

    pub fn counts(&self) -> Counts {
        self.0.lock().unwrap().counts.clone()
    }

    /// The log so far, which starts anew.
    pub fn take_log(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.0.lock().unwrap().log)
    }

    /// Counts and log start anew.
    pub fn reset(&self) {
        let mut state = self.0.lock().unwrap();
        *state = State { keep_log: state.keep_log, ..State::default() };
    }

    /// A request arrived.
    pub fn begin(&self, head: &Head) {
        let mut state = self.0.lock().unwrap();
        let path = head.uri().path().to_owned();
        state.counts.requests += 1;
        state.counts.paths.entry(path.clone()).or_default().0 += 1;
        if state.keep_log {
            let (method, range) = (head.method().to_string(), get(head.headers(), "Range").map(str::to_owned));
            let fields = format!("{:?}", head.headers()).to_lowercase();
            state.log.push(Exchange { method, path, range, fields });
        }
    }

    /// An answer has a fault.
    pub fn is_faulty(&self) {
        self.0.lock().unwrap().counts.faults += 1;
    }

    /// So many bytes of a file are about to be sent.
    pub fn sent(&self, path: &str, bytes: usize) {
        let counts = &mut self.0.lock().unwrap().counts;
        counts.body_bytes += bytes as u64;
        counts.paths.entry(path.to_owned()).or_default().1 += bytes as u64;
    }
}
