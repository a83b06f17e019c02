//! Turns unreadable pages of mapped files into errors for their readers, instead of ending the process.
//!
//! If a mapped file is truncated, or its disk or network fails, reading a page that no longer exists raises `SIGBUS`. A
//! handler, installed with the first map, puts a page of zeros there and counts it (`Watch::lost`), and the read
//! continues. Lost pages stay zeros as long as the map exists. Therefore, if the checksum of some bytes matches *after*
//! they were used, they were right all the time. A reader that checks this, or compares the count before and after,
//! never mistakes zeros for data.
//!
//! For every other `SIGBUS`, the previous handler takes the place of this one: usually that ends the process. The handler
//! is installed once. A handler that is installed later, such as Python's `faulthandler` if it is enabled late, comes
//! first. No handler is installed if the environment variable `VIDREC_NO_SIGBUS_HANDLER` is set, or on systems other
//! than Linux.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// The number of pages of mapped files that this process could not read so far, because a file was truncated or its
/// disk is failing.
///
/// Such pages read as zeros from then on. A `Loader` and `verify` report them as
/// errors. Code that uses the bytes of a `Frame` without calling `check`
/// afterwards can compare this number before and after. It is always 0 on systems other than Linux, where the system
/// ends the process.
pub fn lost_pages() -> u64 {
    LOST.load(SeqCst)
}

/// The lost pages of all maps.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Watches the pages of one map. Drop it before the map.
#[derive(Debug)]
pub(crate) struct Watch(#[cfg(target_os = "linux")] Option<&'static linux::Entry>);

impl Watch {
    /// Watches `map`, which must be one complete map. If it is also written to, writes to a lost page still work, but
    /// no other process sees them.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "only Linux has the handler"))]
    pub fn over(map: &[u8]) -> Self {
        Watch(
            #[cfg(target_os = "linux")]
            linux::is_installed().then(|| linux::Entry::new(map)),
        )
    }

    /// Pages that could not be read so far.
    pub fn lost(&self) -> u64 {
        #[cfg(target_os = "linux")]
        return self.0.map_or(0, linux::Entry::lost);
        #[cfg(not(target_os = "linux"))]
        0
    }
}

#[cfg(target_os = "linux")]
impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(entry) = self.0 {
            entry.release();
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::Ordering::{AcqRel, Acquire, Release, SeqCst};
    use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
    use std::sync::{Mutex, OnceLock};

    use libc::{c_int, c_void, sigaction, siginfo_t};

    /// One watched map, or a free entry for one. It is never freed, because the handler may look at it at any time.
    #[derive(Debug, Default)]
    pub struct Entry {
        /// The first address; 0 if the entry is free.
        start: AtomicUsize,
        /// The address after the last.
        end: AtomicUsize,
        lost: AtomicU64,
        next: AtomicPtr<Entry>,
    }

    static FIRST: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());
    /// Entries that can be reused. The handler does not look here.
    static FREE: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());
    /// The previous handler of the signal. It is set once our handler is installed.
    static BEFORE: OnceLock<Option<sigaction>> = OnceLock::new();
    static PAGE: AtomicUsize = AtomicUsize::new(4096);

    impl Entry {
        pub fn new(map: &[u8]) -> &'static Self {
            // If the process was forked while another thread held the lock, the lock is held forever. Then a new
            // entry is created.
            let free = FREE.try_lock().ok().and_then(|mut free| free.pop());
            let entry = free.unwrap_or_else(Self::append);
            entry.lost.store(0, SeqCst);
            entry.end.store(map.as_ptr().addr() + map.len(), SeqCst);
            entry.start.store(map.as_ptr().addr(), SeqCst);
            entry
        }

        fn append() -> &'static Self {
            let entry: &'static Entry = Box::leak(Box::default());
            let mut first = FIRST.load(Acquire);
            loop {
                entry.next.store(first, Release);
                let own = ptr::from_ref(entry).cast_mut();
                match FIRST.compare_exchange(first, own, AcqRel, Acquire) {
                    Ok(_) => return entry,
                    Err(now) => first = now,
                }
            }
        }

        pub fn lost(&self) -> u64 {
            self.lost.load(SeqCst)
        }

        pub fn release(&'static self) {
            self.start.store(0, SeqCst);
            if let Ok(mut free) = FREE.try_lock() {
                free.push(self);
            }
        }
    }

    /// Whether the handler is installed. The first call installs it.
    pub fn is_installed() -> bool {
        BEFORE.get_or_init(|| if std::env::var_os("VIDREC_NO_SIGBUS_HANDLER").is_some() { None } else { install() });
        BEFORE.get().is_some_and(Option::is_some)
    }

    /// Installs the handler and returns the previous one.
    fn install() -> Option<sigaction> {
        let mut before = MaybeUninit::<sigaction>::zeroed();
        // SAFETY: `sysconf` takes no memory. All zeros is a valid `sigaction`. Both calls get valid pointers or null.
        // The handler does only what a signal handler may do: see `on_sigbus`. It is installed after the previous
        // handler is known, but before `BEFORE` is set. A signal in between ends the process, as it would without the
        // handler.
        unsafe {
            if let Ok(page @ 1..) = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)) {
                PAGE.store(page, SeqCst);
            }
            let mut ours: sigaction = MaybeUninit::zeroed().assume_init();
            ours.sa_sigaction = on_sigbus as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigemptyset(&mut ours.sa_mask);
            let read = libc::sigaction(libc::SIGBUS, ptr::null(), before.as_mut_ptr());
            let set = libc::sigaction(libc::SIGBUS, &ours, ptr::null_mut());
            (read == 0 && set == 0).then(|| before.assume_init())
        }
    }

    /// The handler. It may interrupt anything, so it touches only atomic numbers and entries that are never freed. It
    /// takes no lock, allocates no memory, and calls only what Linux allows in a handler. It restores `errno`.
    extern "C" fn on_sigbus(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the kernel gives a valid `siginfo_t` to a handler with SA_SIGINFO. Its address is set if the code is
        // that of a fault. `__errno_location` belongs to this thread.
        unsafe {
            let errno = *libc::__errno_location();
            let is_fault = (*info).si_code > 0;
            if !(is_fault && mend((*info).si_addr().addr())) {
                pass_on(signal, is_fault);
            }
            *libc::__errno_location() = errno;
        }
    }

    /// Replaces an unreadable page of a watched map by zeros. Returns false if no watched map has this address.
    fn mend(address: usize) -> bool {
        let mut place = None;
        let mut next = FIRST.load(Acquire);
        // SAFETY: entries are never freed, and each is linked only after it is initialized.
        while let Some(entry) = unsafe { next.as_ref() } {
            let (start, end) = (entry.start.load(SeqCst), entry.end.load(SeqCst));
            if start != 0 && (start..end).contains(&address) {
                // Counted first, so that a reader that sees the zeros also sees the count.
                entry.lost.fetch_add(1, SeqCst);
                place = Some((start, end));
            }
            next = entry.next.load(Acquire);
        }
        super::LOST.fetch_add(u64::from(place.is_some()), SeqCst);
        let page = PAGE.load(SeqCst);
        let at = address / page * page;
        // Replacing a page in the middle of a map splits the map. If the system allows no more maps, all of it is lost.
        place.is_some_and(|(start, end)| put_zeros(at, page) || put_zeros(start, end.next_multiple_of(page) - start))
    }

    fn put_zeros(at: usize, length: usize) -> bool {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let address = ptr::without_provenance_mut::<c_void>(at);
        // SAFETY: the range lies in a watched map, which is not being unmapped now, because the interrupted thread
        // reads from it or writes to it. The call replaces a shared map of a file by one of zeros, which the same thread
        // may read and write: it touches no memory of Rust's, and changes no length. Nobody who uses a map relies on its
        // bytes to stay the same.
        unsafe { libc::mmap(address, length, protection, flags, -1, 0) != libc::MAP_FAILED }
    }

    /// Restores the previous handler, which then gets the signal: a fault comes again when this returns, and a signal that
    /// a process sent is sent again.
    fn pass_on(signal: c_int, is_fault: bool) {
        let default = || {
            // SAFETY: all zeros is SIG_DFL without flags.
            unsafe { MaybeUninit::<sigaction>::zeroed().assume_init() }
        };
        let before = BEFORE.get().copied().flatten().unwrap_or_else(default);
        // SAFETY: the signal is valid, and the action is one that was installed before, or the default one.
        unsafe {
            libc::sigaction(signal, &before, ptr::null_mut());
            if !is_fault {
                libc::raise(signal);
            }
        }
    }
}
