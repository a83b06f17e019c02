//! How many bytes may be in flight: as many as fill the link.
//!
//! On a full link, further requests only take bandwidth from earlier ones, which are needed first. The time to the
//! head of an answer does not show this, because only the bodies wait. Therefore the bytes per second at different
//! limits are compared. The limit grows as long as a larger one increases the rate.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::sizes::REQUEST_BYTES;

/// The bytes of one permit.
const UNIT: u64 = 64 << 10;
/// The first and smallest limit.
const START: u64 = 8 * REQUEST_BYTES;
const MOST: u64 = 256 * REQUEST_BYTES;
/// The shortest time over which bytes are counted.
const LEAST_TIME: Duration = Duration::from_millis(250);
/// Two limits are compared if one is larger than the other by this factor.
const STEP: f64 = 1.25;
/// A larger limit is kept if the rate grows by this part of the growth of the limit.
const GAIN: f64 = 0.25;
/// How long the limit rests when a larger one brought no more, in multiples of the time that the measurement took.
const REST: u32 = 16;

/// Lets requests through while there is room for their bytes.
#[derive(Debug)]
pub(super) struct BytesInFlight {
    permits: Arc<Semaphore>,
    climb: Mutex<Climb>,
}

impl Default for BytesInFlight {
    fn default() -> Self {
        BytesInFlight { permits: Arc::new(Semaphore::new(units(START) as usize)), climb: Mutex::default() }
    }
}

/// Room for the bytes of a request.
#[derive(Debug)]
pub(super) struct Room {
    units: Option<OwnedSemaphorePermit>,
    bytes: u64,
}

impl BytesInFlight {
    /// Waits for room for `bytes` bytes. Requests get their turn in the order of the calls.
    pub async fn enter(&self, bytes: u64) -> Room {
        // A request never waits for more permits than the smallest limit has.
        let units = units(bytes.min(START));
        // The semaphore is never closed.
        Room { units: self.permits.clone().acquire_many_owned(units).await.ok(), bytes }
    }

    /// Returns the room of a request, and learns from the request if its bytes arrived.
    pub fn leave(&self, room: Room, is_brought: bool) {
        if !is_brought {
            return;
        }
        let is_full = (self.permits.available_permits() as u64) * UNIT < REQUEST_BYTES;
        let mut climb = self.climb.lock().unwrap_or_else(PoisonError::into_inner);
        climb.note(room.bytes, is_full, Instant::now());
        let limit = units(climb.limit);
        if limit > climb.units {
            self.permits.add_permits((limit - climb.units) as usize);
            climb.units = limit;
        }
        // If there are too many permits, each request removes the permits that it had.
        if let Some(room) = room.units
            && let Some(surplus) = climb.units.checked_sub(limit).filter(|&surplus| surplus > 0)
        {
            climb.units -= surplus.min(room.num_permits() as u32);
            forget(room, surplus as usize);
        }
    }
}

/// Discards at most `most` permits, and returns the others to the semaphore.
fn forget(mut permits: OwnedSemaphorePermit, most: usize) {
    match permits.split(most) {
        Some(surplus) => surplus.forget(),
        None => permits.forget(),
    }
}

/// The number of permits for `bytes` bytes.
fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).max(1)
}

/// The limit, and the measurements behind it.
#[derive(Debug)]
struct Climb {
    limit: u64,
    /// Permits that exist. They exceed the limit at times, until enough of them are returned.
    units: u32,
    window: Option<Window>,
    /// The limit that others are compared with, and its bytes per second.
    base: Option<(f64, f64)>,
    rest: Option<Instant>,
}

#[derive(Debug)]
struct Window {
    begin: Instant,
    limit: u64,
    bytes: u64,
    /// Whether requests were waiting for room during the whole window.
    is_full: bool,
}

impl Default for Climb {
    fn default() -> Self {
        Climb { limit: START, units: units(START), window: None, base: None, rest: None }
    }
}

impl Climb {
    /// Counts received bytes, and changes the limit.
    fn note(&mut self, bytes: u64, is_full: bool, now: Instant) {
        if let Some(less) = self.measure(bytes, is_full, now) {
            self.limit = less.clamp(START, MOST);
        } else if is_full && self.rest.is_none_or(|rest| now >= rest) {
            // The limit grows by half for each limit's worth of bytes.
            self.limit = (self.limit + bytes / 2).min(MOST);
        }
    }

    /// Returns a smaller limit that was about as fast, if the measurement finds one now.
    fn measure(&mut self, bytes: u64, is_full: bool, now: Instant) -> Option<u64> {
        let begun = Window { begin: now, limit: self.limit, bytes: 0, is_full: true };
        // Bytes that arrived before the first window are not counted.
        let window = self.window.get_or_insert(begun);
        if window.begin == now {
            return None;
        }
        window.bytes += bytes;
        window.is_full &= is_full;
        let time = now.duration_since(window.begin);
        if window.bytes < window.limit || time < LEAST_TIME {
            return None;
        }
        let (mean, rate) = ((window.limit + self.limit) as f64 / 2.0, window.bytes as f64 / time.as_secs_f64());
        // A window in which the reader asked for less says nothing about the link.
        let is_full = window.is_full;
        self.window = Some(Window { begin: now, limit: self.limit, bytes: 0, is_full: true });
        if is_full {
            return self.compare(mean, rate, time, now);
        }
        self.base = None;
        None
    }

    fn compare(&mut self, limit: f64, rate: f64, time: Duration, now: Instant) -> Option<u64> {
        match self.base {
            Some((before, rate_before)) if limit >= before * STEP => {
                if rate / rate_before - 1.0 >= GAIN * (limit / before - 1.0) {
                    self.base = Some((limit, rate));
                    return None;
                }
                self.rest = now.checked_add(time * REST);
                Some(before as u64)
            }
            Some((before, _)) if limit > before => None,
            // This is the first limit, or the limit is not larger than the last one.
            _ => {
                self.base = Some((limit, rate));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit after some seconds on a link of `most` bytes per second. Each request gets at most `each` of them.
    fn limit_after(seconds: f64, most: f64, each: f64) -> u64 {
        let (mut climb, mut time, begin) = (Climb::default(), 0.0, Instant::now());
        while time < seconds {
            // The time between two answers, with as many requests as the limit allows.
            let requests = climb.limit as f64 / REQUEST_BYTES as f64;
            let body = REQUEST_BYTES as f64 / f64::min(each, most / requests);
            time += (0.05 + body) / requests;
            climb.note(REQUEST_BYTES, true, begin + Duration::from_secs_f64(time));
        }
        climb.limit
    }

    #[test]
    fn a_full_link_needs_few_requests() {
        for seconds in [3.0, 10.0, 40.0, 100.0] {
            let limit = limit_after(seconds, 125e6, f64::INFINITY);
            assert!(limit <= 20 * REQUEST_BYTES, "after {seconds} s: {limit}");
        }
    }

    #[test]
    fn slow_connections_need_many() {
        assert_eq!(limit_after(10.0, f64::INFINITY, 85e6), MOST);
        let limit = limit_after(10.0, 3e9, 85e6);
        assert!((24..128).contains(&(limit / REQUEST_BYTES)), "{limit}");
    }

    #[test]
    fn a_reader_that_asks_for_less_says_nothing() {
        let (mut climb, begin) = (Climb::default(), Instant::now());
        for i in 0..1000 {
            climb.note(REQUEST_BYTES, i % 4 == 0, begin + Duration::from_millis(10 * i));
        }
        assert!(climb.rest.is_none());
    }

    #[test]
    fn requests_wait_for_room_and_what_is_taken_away_comes_back_first() {
        let runtime = super::super::runtime::handle().unwrap();
        runtime.block_on(async {
            let volume = BytesInFlight::default();
            let mut rooms = Vec::new();
            for _ in 0..8 {
                rooms.push(volume.enter(REQUEST_BYTES).await);
            }
            assert_eq!(volume.permits.available_permits(), 0);
            volume.leave(rooms.pop().unwrap(), false);
            assert_eq!(volume.permits.available_permits() as u64 * UNIT, REQUEST_BYTES);
            rooms.push(volume.enter(REQUEST_BYTES).await);
            volume.leave(rooms.pop().unwrap(), true);
            assert_eq!(volume.permits.available_permits() as u64 * UNIT, 3 * REQUEST_BYTES / 2, "half of one more");
            volume.climb.lock().unwrap().limit = START;
            volume.climb.lock().unwrap().rest = Instant::now().checked_add(Duration::from_secs(1000));
            rooms.into_iter().for_each(|room| volume.leave(room, true));
            assert_eq!(volume.permits.available_permits() as u64 * UNIT, START);
            // Longer than all the room there is, so it has to be alone.
            drop(volume.enter(u64::MAX).await);
            drop(volume.enter(0).await);
        });
    }
}
