//! What the machine, or what it allows this process, has run out of: no fault of a file or of a video.

use std::io;

/// What there is too little of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "pack", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Shortage {
    /// File descriptors of this process.
    Descriptors,
    /// Open files of the whole system.
    SystemFiles,
    Memory,
    /// Threads or processes.
    Threads,
}

impl Shortage {
    /// What an error of the operating system says of the machine; `None` if it is about something else.
    #[cfg(unix)]
    pub fn of(e: &io::Error) -> Option<Self> {
        match e.raw_os_error() {
            Some(libc::EMFILE) => Some(Shortage::Descriptors),
            Some(libc::ENFILE) => Some(Shortage::SystemFiles),
            // Also without a code, as the standard library reports that it got no memory.
            _ => (e.kind() == io::ErrorKind::OutOfMemory).then_some(Shortage::Memory),
        }
    }

    /// What an error of the operating system says of the machine; `None` if it is about something else.
    #[cfg(not(unix))]
    pub fn of(e: &io::Error) -> Option<Self> {
        (e.kind() == io::ErrorKind::OutOfMemory).then_some(Shortage::Memory)
    }

    /// The same of an error of starting a thread or a process, where "try again" means that there are too many.
    pub fn of_start(e: &io::Error) -> Option<Self> {
        Shortage::of(e).or((e.kind() == io::ErrorKind::WouldBlock).then_some(Shortage::Threads))
    }

    /// What can be done about it.
    pub fn help(self) -> String {
        match self {
            Shortage::Descriptors => {
                let limit = open_files().map(|n| format!(", here {n}")).unwrap_or_default();
                format!("raise the limit on open files (ulimit -n{limit}), or do less at a time (fewer threads)")
            }
            Shortage::SystemFiles => "the whole system has too many files open: close some, or raise its limit".into(),
            Shortage::Memory => "do less at a time (fewer threads, smaller batches), or allow the process more memory \
                                 (ulimit -v, the limit of a container)"
                .into(),
            Shortage::Threads => "take fewer threads, or raise the limit on threads and processes (ulimit -u, the \
                                  limit of a container)"
                .into(),
        }
    }
}

/// How many files this process may have open, if there is a limit.
#[cfg(unix)]
pub(crate) fn open_files() -> Option<u64> {
    limit(libc::RLIMIT_NOFILE as _)
}

/// How many files this process may have open, if there is a limit.
#[cfg(not(unix))]
pub(crate) fn open_files() -> Option<u64> {
    None
}

/// How many bytes of address space this process may have, if there is a limit.
#[cfg(all(unix, feature = "pack"))]
pub(crate) fn address_space() -> Option<u64> {
    limit(libc::RLIMIT_AS as _)
}

/// How many bytes of address space this process may have, if there is a limit.
#[cfg(all(not(unix), feature = "pack"))]
pub(crate) fn address_space() -> Option<u64> {
    None
}

#[cfg(unix)]
fn limit(resource: u32) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a place for the structure that the call fills in; it is initialised whatever the call does.
    let code = unsafe { libc::getrlimit(resource as _, &mut limit) };
    // Types differ from system to system.
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast)]
    let bytes = limit.rlim_cur as u64;
    (code == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_machine_are_told_from_others() {
        let of = |code| Shortage::of(&io::Error::from_raw_os_error(code));
        assert_eq!(of(libc::EMFILE), Some(Shortage::Descriptors));
        assert_eq!(of(libc::ENFILE), Some(Shortage::SystemFiles));
        assert_eq!(of(libc::ENOMEM), Some(Shortage::Memory));
        assert_eq!([of(libc::ENOENT), of(libc::EAGAIN), of(libc::ENOSPC)], [None; 3]);
        assert_eq!(Shortage::of_start(&io::Error::from_raw_os_error(libc::EAGAIN)), Some(Shortage::Threads));
        assert_eq!(Shortage::of(&io::ErrorKind::OutOfMemory.into()), Some(Shortage::Memory));
        assert!(Shortage::Descriptors.help().contains("ulimit -n"));
    }
}
