//! Pages of mapped files that cannot be read: an error for whoever reads them, not the end of the process.
//!
//! When somebody cuts a mapped file, or its disk or network fails, reading a page that is no longer to be had raises
//! `SIGBUS`. A handler, installed with the first map, puts a page of zeros there, counts it ([`Watch::lost`]), and the
//! read goes on. Lost pages stay zeros for as long as the map lives. So bytes whose checksum fits *after* they were used
//! were right all the time, and whoever asks for that, or for the count before and after, never takes zeros for data.
//!
//! Every other `SIGBUS` goes to the handler that was there before, or ends the process as it would without this one. The
//! handler is installed once: one that is installed later (Python's `faulthandler`, if it is enabled late) comes first.
//! With the environment variable `VIDREC_NO_SIGBUS_HANDLER` set there is none, and on systems other than Linux.

/// Pages of mapped files that could not be read, in this process so far: somebody cut the file, or its disk fails.
///
/// They are zeros from then on. A [`Loader`](crate::Loader) and [`verify`](crate::verify) tell of them as errors; whoever
/// uses the bytes of a [`Frame`](crate::Frame) without [`check`](crate::Frame::check) after the use may ask here.
/// Always 0 on systems other than Linux, where the system ends the process.
pub fn lost_pages() -> u64 {
    #[cfg(target_os = "linux")]
    return linux::lost_pages();
    #[cfg(not(target_os = "linux"))]
    0
}

/// Watches over the pages of one map. Dropped before the map is.
#[derive(Debug)]
pub(crate) struct Watch(#[cfg(target_os = "linux")] Option<&'static linux::Entry>);

#[cfg(not(target_os = "linux"))]
impl Watch {
    pub fn over(_: &[u8]) -> Self {
        Watch()
    }

    /// Pages that could not be read so far.
    pub fn lost(&self) -> u64 {
        0
    }
}

#[cfg(target_os = "linux")]
impl Watch {
    /// Watches over `map`, which must be a whole map of its own.
    pub fn over(map: &[u8]) -> Self {
        Watch(linux::is_installed().then(|| linux::Entry::new(map)))
    }

    /// Pages that could not be read so far.
    pub fn lost(&self) -> u64 {
        self.0.map_or(0, linux::Entry::lost)
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

    /// One map that is watched, or a place for one: never freed, because a handler may look at it at any time.
    #[derive(Debug)]
    pub struct Entry {
        /// First address; 0 if this is a place for a map to come.
        start: AtomicUsize,
        /// The address behind the last.
        end: AtomicUsize,
        lost: AtomicU64,
        next: AtomicPtr<Entry>,
    }

    static FIRST: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());
    /// Places that can be used again. The handler does not look here.
    static FREE: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());
    /// What was installed for the signal before; there once the handler is.
    static BEFORE: OnceLock<Option<sigaction>> = OnceLock::new();
    static PAGE: AtomicUsize = AtomicUsize::new(4096);
    /// Of all maps.
    static LOST: AtomicU64 = AtomicU64::new(0);

    pub fn lost_pages() -> u64 {
        LOST.load(SeqCst)
    }

    impl Entry {
        pub fn new(map: &[u8]) -> &'static Self {
            // In a process that was forked while another thread held the lock, it is held for ever: a place more, then.
            let free = FREE.try_lock().ok().and_then(|mut free| free.pop());
            let entry = free.unwrap_or_else(Self::append);
            entry.lost.store(0, SeqCst);
            entry.end.store(map.as_ptr().addr() + map.len(), SeqCst);
            entry.start.store(map.as_ptr().addr(), SeqCst);
            entry
        }

        fn append() -> &'static Self {
            let (start, end) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let next = AtomicPtr::new(ptr::null_mut());
            let entry: &'static Entry = Box::leak(Box::new(Entry { start, end, lost: AtomicU64::new(0), next }));
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

    /// Whether the handler is there; installs it when asked for the first time.
    pub fn is_installed() -> bool {
        BEFORE.get_or_init(|| if std::env::var_os("VIDREC_NO_SIGBUS_HANDLER").is_some() { None } else { install() });
        BEFORE.get().is_some_and(Option::is_some)
    }

    /// Installs the handler; what was there before.
    fn install() -> Option<sigaction> {
        let mut before = MaybeUninit::<sigaction>::zeroed();
        // SAFETY: `sysconf` takes no memory. All zeros is a valid `sigaction`. Both calls get valid pointers or null.
        // The handler does only what a signal handler may: see `on_sigbus`. It is installed after what was there before is
        // known, but before `BEFORE` is set; a signal in between ends the process, as it would have.
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

    /// The handler. It may interrupt anything, so it touches only atomic numbers and places that are never freed, takes no
    /// lock and no memory, and calls only what Linux allows there; `errno` is as it was when it returns.
    extern "C" fn on_sigbus(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the kernel gives a valid `siginfo_t` to a handler with SA_SIGINFO, whose address is set where the
        // code is that of a fault, and `__errno_location` is that of this thread.
        unsafe {
            let errno = *libc::__errno_location();
            let is_fault = (*info).si_code > 0;
            if !(is_fault && mend((*info).si_addr().addr())) {
                pass_on(signal, info, context, is_fault);
            }
            *libc::__errno_location() = errno;
        }
    }

    /// Puts zeros where a page of a watched map cannot be read; whether there is such a map at this address.
    fn mend(address: usize) -> bool {
        let mut place = None;
        let mut next = FIRST.load(Acquire);
        // SAFETY: entries are never freed, and each is linked after it was made.
        while let Some(entry) = unsafe { next.as_ref() } {
            let (start, end) = (entry.start.load(SeqCst), entry.end.load(SeqCst));
            if start != 0 && (start..end).contains(&address) {
                // First, so that whoever sees the zeros sees this too.
                entry.lost.fetch_add(1, SeqCst);
                place = Some((start, end));
            }
            next = entry.next.load(Acquire);
        }
        LOST.fetch_add(u64::from(place.is_some()), SeqCst);
        let page = PAGE.load(SeqCst);
        let at = address / page * page;
        // A page in the middle of a map makes two of it. Where the system allows no more maps, all of it is lost.
        place.is_some_and(|(start, end)| put_zeros(at, page) || put_zeros(start, end.next_multiple_of(page) - start))
    }

    fn put_zeros(at: usize, length: usize) -> bool {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        let address = ptr::without_provenance_mut::<c_void>(at);
        // SAFETY: the range lies in a map that is watched, and which is not unmapped now: the thread that was interrupted
        // reads from it. What is replaced was a shared map for reading of a file, and is one of zeros: no writable
        // memory is touched, and no length changes. Readers of a map never rely on bytes that stay as they are.
        unsafe { libc::mmap(address, length, libc::PROT_READ, flags, -1, 0) != libc::MAP_FAILED }
    }

    /// Does what would have been done without this handler.
    ///
    /// # Safety
    ///
    /// The arguments are those that the kernel gave to a handler of this signal.
    unsafe fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void, is_fault: bool) {
        let before = BEFORE.get().copied().flatten();
        let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
        if handler == libc::SIG_IGN && !is_fault {
            return;
        }
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            // SAFETY: a valid signal; all zeros is SIG_DFL without flags. A fault comes again when this returns; what was
            // sent by somebody does not, so it is sent again, and arrives when the handler returns.
            unsafe {
                let default: sigaction = MaybeUninit::zeroed().assume_init();
                libc::sigaction(signal, &default, ptr::null_mut());
                if !is_fault {
                    libc::raise(signal);
                }
            }
            return;
        }
        let takes_info = before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0);
        // SAFETY: the address was installed as a handler, of the kind that its flags name.
        unsafe {
            if takes_info {
                let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(handler);
                handler(signal, info, context);
            } else {
                let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}
