//! How long requests may take.

use std::time::Duration;

use object_store::{BackoffConfig, RetryConfig};

/// How long requests may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// All tries of a request together, without the time for its bytes.
    pub timeout: Duration,
    /// How long the server may send nothing before the request is sent again.
    silence: Duration,
}

impl Times {
    pub fn of_reads(timeout: Duration) -> Self {
        Times { timeout, silence: (timeout / 4).min(Duration::from_secs(10)) }
    }

    /// A server may need long for what it is sent.
    pub fn of_writes(timeout: Duration) -> Self {
        Times { timeout, silence: timeout }
    }

    /// The silence, as an option of a client.
    pub fn silence(&self) -> String {
        format!("{} ms", self.silence.as_millis().max(1))
    }

    /// How object_store repeats requests.
    pub fn retries(&self) -> RetryConfig {
        let longest = Duration::from_secs(5).min(self.timeout / 8).max(Duration::from_millis(1));
        let (init_backoff, max_backoff) = (Duration::from_millis(100).min(longest), longest);
        let backoff = BackoffConfig { init_backoff, max_backoff, base: 2.0 };
        RetryConfig { backoff, max_retries: usize::MAX, retry_timeout: self.timeout }
    }
}
