//! The line between the server and its clients: latency and bandwidth, which all connections share.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::time::sleep;

/// What an idle line may send at once, so that a thread that wakes late loses nothing.
const BURST: Duration = Duration::from_millis(4);

/// How the line behaves. It can be changed while the server runs.
#[derive(Debug)]
pub struct Link {
    settings: Mutex<Settings>,
    free: Mutex<Instant>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Settings {
    latency: Duration,
    connect_latency: Duration,
    bits_per_second: Option<u64>,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self { settings: Mutex::default(), free: Mutex::new(Instant::now()) }
    }

    /// How long each request waits before its answer begins. Requests on several connections wait at the same time, and
    /// bodies flow at full speed. Default: none.
    pub fn set_latency(&self, latency: Duration) {
        self.settings.lock().unwrap().latency = latency;
    }

    /// How much longer the first request of each connection waits, as for TCP's handshake. Default: none.
    pub fn set_connect_latency(&self, latency: Duration) {
        self.settings.lock().unwrap().connect_latency = latency;
    }

    /// How many bits of bodies of answers all connections together carry in a second. Default: `None`, no limit.
    pub fn set_bandwidth(&self, bits_per_second: Option<u64>) {
        self.settings.lock().unwrap().bits_per_second = bits_per_second;
    }

    pub(crate) async fn wait_for_latency(&self, first_of_connection: bool) {
        let settings = *self.settings.lock().unwrap();
        let more = if first_of_connection { settings.connect_latency } else { Duration::ZERO };
        sleep(settings.latency + more).await;
    }

    /// Waits until `bytes` may be sent.
    pub(crate) async fn wait_to_send(&self, bytes: usize) {
        let Some(rate) = self.settings.lock().unwrap().bits_per_second else { return };
        let wait = reserve(&mut self.free.lock().unwrap(), Instant::now(), transfer_time(bytes, rate));
        sleep(wait).await;
    }
}

pub(crate) fn transfer_time(bytes: usize, bits_per_second: u64) -> Duration {
    Duration::from_secs_f64(bytes as f64 * 8.0 / bits_per_second.max(1) as f64)
}

/// Takes `cost` of the line, which is free from `free` on: how long to wait from `now` until all of it has passed.
fn reserve(free: &mut Instant, now: Instant, cost: Duration) -> Duration {
    let idle_since = now.checked_sub(BURST).unwrap_or(now);
    *free = (*free).max(idle_since) + cost;
    free.saturating_duration_since(now)
}
