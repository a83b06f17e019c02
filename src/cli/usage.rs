//! The processor time and memory that this process has used.

/// Processor time and peak memory so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usage {
    /// User and system seconds of all threads.
    pub cpu_seconds: f64,
    /// Peak resident set size in bytes, including the pages of mapped files.
    pub peak_rss_bytes: u64,
}

/// Asks the operating system; `None` if it does not say.
#[cfg(unix)]
pub fn usage() -> Option<Usage> {
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `raw` is valid memory for the structure that the call fills in. It is read only if the call succeeded.
    let raw = unsafe {
        if libc::getrusage(libc::RUSAGE_SELF, raw.as_mut_ptr()) == 0 { raw.assume_init() } else { return None }
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Some(Usage {
        cpu_seconds: seconds(raw.ru_utime) + seconds(raw.ru_stime),
        peak_rss_bytes: u64::try_from(raw.ru_maxrss).ok()? * unit,
    })
}

/// Asks the operating system; `None` if it does not say.
#[cfg(not(unix))]
pub fn usage() -> Option<Usage> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn time_and_memory_grow() {
        let before = usage().unwrap();
        let block = vec![1u8; 64 << 20];
        let sum: u64 = block.iter().map(|&b| u64::from(std::hint::black_box(b))).sum();
        let after = usage().unwrap();
        assert_eq!(sum, 64 << 20);
        assert!(after.cpu_seconds > before.cpu_seconds);
        assert!(after.peak_rss_bytes >= 64 << 20);
    }
}
