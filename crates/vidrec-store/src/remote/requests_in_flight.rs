//! How many requests may be in flight, measured while they run.
//!
//! The limit follows TCP's congestion window (RFC 5681). It doubles each round trip until a slowdown, and then grows
//! by one per round trip. It is halved when the server says that it is overloaded. Answers that take much longer than
//! the fastest ones also reduce it, but only slightly, because other traffic may be the reason. The number of bytes
//! in flight has no limit of its own (design note 0029).

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::counters::Counters;

const START: usize = 8;
const LEAST: usize = 2;
const MOST: usize = 256;
/// How long the limit neither grows nor is halved again after the server said that it is overloaded. Otherwise,
/// answers that arrive in between would raise it faster than refusals lower it.
const CALM: Duration = Duration::from_secs(1);

/// Lets as many requests through at a time as the server and the network can handle.
#[derive(Debug)]
pub(super) struct RequestsInFlight {
    permits: Arc<Semaphore>,
    state: Mutex<State>,
    counters: Arc<Counters>,
}

/// What a request holds while it is let through.
#[derive(Debug)]
pub(super) struct Pass(
    // The semaphore is never closed.
    Option<OwnedSemaphorePermit>,
);

#[derive(Debug)]
struct State {
    /// Permits that exist. They exceed `limit` at times, until enough of them are returned.
    permits: usize,
    limit: f64,
    /// Whether nothing has been slow so far.
    is_starting: bool,
    /// The shortest time to an answer. It slowly grows, so that old answers are forgotten.
    fastest: Option<Duration>,
    /// When the limit was reduced last, and when the server last said that it is overloaded.
    reduced: Option<Instant>,
    overloaded: Option<Instant>,
}

/// What a request tells about the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The time to the head of the answer.
    Answered(Duration),
    Overloaded,
    /// The request says nothing about the load.
    Failed,
}

impl RequestsInFlight {
    pub fn new(counters: Arc<Counters>) -> Self {
        counters.in_flight_limit.store(START as u64, Relaxed);
        let state = State {
            permits: START,
            limit: START as f64,
            is_starting: true,
            fastest: None,
            reduced: None,
            overloaded: None,
        };
        RequestsInFlight { permits: Arc::new(Semaphore::new(START)), state: Mutex::new(state), counters }
    }

    /// Waits for the turn of a request. Requests get their turn in the order of the calls.
    pub async fn enter(&self) -> Pass {
        Pass(self.permits.clone().acquire_owned().await.ok())
    }

    /// Learns from one try of a request that [`enter`](Self::enter) let through. The request may try again.
    pub fn learn(&self, outcome: Outcome) {
        let is_full = self.permits.available_permits() == 0;
        let mut state = self.lock();
        state.learn(outcome, is_full, Instant::now());
        let limit = state.limit as usize;
        if state.permits < limit {
            self.permits.add_permits(limit - state.permits);
            state.permits = limit;
        }
        self.counters.in_flight_limit.store(limit as u64, Relaxed);
    }

    /// Ends a request that [`enter`](Self::enter) let through.
    pub fn leave(&self, Pass(permit): Pass) {
        let mut state = self.lock();
        if let Some(permit) = permit
            && state.permits > state.limit as usize
        {
            permit.forget();
            state.permits -= 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn learn(&mut self, outcome: Outcome, is_full: bool, now: Instant) {
        match outcome {
            Outcome::Failed => {}
            Outcome::Overloaded => {
                self.overloaded = Some(now);
                self.reduce(0.5, CALM, now);
            }
            Outcome::Answered(time) => {
                // The fastest time grows by a thousandth per answer, so that the limit adapts to another path or a
                // busier server.
                let fastest = self.fastest.map_or(time, |fastest| fastest.mul_f64(1.001).min(time));
                self.fastest = Some(fastest);
                if time > fastest * 3 + Duration::from_millis(50) {
                    self.reduce(0.9, time, now);
                } else if is_full && self.overloaded.is_none_or(|last| now.duration_since(last) >= CALM) {
                    self.limit += if self.is_starting { 1.0 } else { 1.0 / self.limit };
                }
            }
        }
        self.limit = self.limit.clamp(LEAST as f64, MOST as f64);
    }

    /// Reduces the limit, but only once for all requests of the same time.
    fn reduce(&mut self, factor: f64, per: Duration, now: Instant) {
        self.is_starting = false;
        if self.reduced.is_none_or(|last| now.duration_since(last) >= per) {
            self.reduced = Some(now);
            self.limit *= factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        State { permits: START, limit: START as f64, is_starting: true, fastest: None, reduced: None, overloaded: None }
    }

    #[test]
    fn the_limit_doubles_then_grows_by_one_and_halves() {
        let (mut s, now, fast) = (state(), Instant::now(), Outcome::Answered(Duration::from_millis(50)));
        (0..8).for_each(|_| s.learn(fast, true, now));
        assert_eq!(s.limit as usize, 16);
        s.learn(Outcome::Overloaded, true, now);
        s.learn(Outcome::Overloaded, true, now);
        assert_eq!(s.limit as usize, 8, "once for all of the same time");
        (0..99).for_each(|_| s.learn(fast, true, now));
        assert_eq!(s.limit as usize, 8, "not while the server may be overloaded");
        let now = now + CALM;
        (0..9).for_each(|_| s.learn(fast, true, now));
        assert_eq!(s.limit as usize, 9);
        (0..99).for_each(|_| s.learn(fast, false, now));
        assert_eq!(s.limit as usize, 9, "not while there is room");
    }

    #[test]
    fn slow_answers_reduce_it_a_little_and_limits_hold() {
        let (mut s, mut now) = (state(), Instant::now());
        s.learn(Outcome::Answered(Duration::from_millis(10)), true, now);
        for _ in 0..200 {
            now += Duration::from_secs(2);
            s.learn(Outcome::Answered(Duration::from_millis(900)), true, now);
        }
        assert!(s.limit >= LEAST as f64 && s.limit < 9.0, "{}", s.limit);
        let mut s = state();
        (0..1000).for_each(|_| s.learn(Outcome::Answered(Duration::from_millis(1)), true, now));
        assert_eq!(s.limit as usize, MOST);
    }

    #[test]
    fn permits_follow_the_limit() {
        let runtime = super::super::runtime::handle().unwrap();
        let gate = RequestsInFlight::new(Arc::default());
        runtime.block_on(async {
            let mut held = Vec::new();
            for _ in 0..START {
                held.push(gate.enter().await);
            }
            assert_eq!(gate.permits.available_permits(), 0);
            gate.learn(Outcome::Overloaded);
            gate.leave(held.pop().unwrap());
            assert_eq!(gate.lock().permits, START - 1);
            held.into_iter().for_each(|permit| gate.leave(permit));
            assert_eq!((gate.lock().permits, gate.permits.available_permits()), (START / 2, START / 2));
        });
    }
}
