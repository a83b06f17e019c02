//! Shortages of the machine or of this process, such as memory or file descriptors. No file or video is at fault.

use std::io;

#[cfg(unix)]
use rustix::io::Errno;
#[cfg(unix)]
use rustix::process::{Resource, getrlimit};

/// The resource that ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Shortage {
    /// File descriptors of this process.
    Descriptors,
    /// Open files of the whole system.
    SystemFiles,
    /// Memory, or address space.
    Memory,
    /// Threads or processes.
    Threads,
}

impl Shortage {
    /// The shortage that an error of the operating system reports; `None` if the error is about something else.
    #[cfg(unix)]
    pub fn of(e: &io::Error) -> Option<Self> {
        match e.raw_os_error() {
            Some(code) if code == Errno::MFILE.raw_os_error() => Some(Shortage::Descriptors),
            Some(code) if code == Errno::NFILE.raw_os_error() => Some(Shortage::SystemFiles),
            // The standard library reports a failed allocation without a code.
            _ => (e.kind() == io::ErrorKind::OutOfMemory).then_some(Shortage::Memory),
        }
    }

    /// The shortage that an error of the operating system reports; `None` if the error is about something else.
    #[cfg(not(unix))]
    pub fn of(e: &io::Error) -> Option<Self> {
        (e.kind() == io::ErrorKind::OutOfMemory).then_some(Shortage::Memory)
    }

    /// Like `of`, for an error from starting a thread or a process, where "try again" means that there are too many.
    pub fn of_start(e: &io::Error) -> Option<Self> {
        Shortage::of(e).or((e.kind() == io::ErrorKind::WouldBlock).then_some(Shortage::Threads))
    }

    /// The resource that ran out, and where its limit is set.
    pub fn resource(self) -> &'static str {
        match self {
            Shortage::Descriptors => "file descriptors (ulimit -n)",
            Shortage::SystemFiles => "open files of the whole system",
            Shortage::Memory => "memory (ulimit -v, or the limit of the container)",
            Shortage::Threads => "threads or processes (ulimit -u, or the limit of the container)",
        }
    }

    /// A remedy for the user.
    pub fn help(self) -> String {
        match self {
            Shortage::Descriptors => {
                let limit = open_files().map(|n| format!(", currently {n}")).unwrap_or_default();
                format!("raise the limit on open files (ulimit -n{limit}), or use fewer threads")
            }
            Shortage::SystemFiles => "the whole system has too many files open: close some, or raise its limit".into(),
            Shortage::Memory => format!("use fewer threads or smaller batches, or allow more {}", self.resource()),
            Shortage::Threads => format!("use fewer threads, or allow more {}", self.resource()),
        }
    }
}

/// The number of files that this process may have open, if there is a limit.
#[cfg(unix)]
pub fn open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// The number of files that this process may have open, if there is a limit.
#[cfg(not(unix))]
pub(crate) fn open_files() -> Option<u64> {
    None
}

/// The number of bytes of address space that this process may have, if there is a limit.
#[cfg(unix)]
pub fn address_space() -> Option<u64> {
    getrlimit(Resource::As).current
}

/// The number of bytes of address space that this process may have, if there is a limit.
#[cfg(not(unix))]
pub(crate) fn address_space() -> Option<u64> {
    None
}

/// The number of bytes that are left of [`address_space`]. `None` if there is no limit, or if the system does not say.
pub(crate) fn address_space_left() -> Option<u64> {
    let most = address_space()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(most.saturating_sub(kilobytes(&status, "VmSize:")?))
}

/// The value of a line of a file in `/proc`, such as `VmSize:  338000 kB`, in bytes.
pub fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_machine_are_told_from_others() {
        let of = |code: Errno| Shortage::of(&code.into());
        assert_eq!(of(Errno::MFILE), Some(Shortage::Descriptors));
        assert_eq!(of(Errno::NFILE), Some(Shortage::SystemFiles));
        assert_eq!(of(Errno::NOMEM), Some(Shortage::Memory));
        assert_eq!([of(Errno::NOENT), of(Errno::AGAIN), of(Errno::NOSPC)], [None; 3]);
        assert_eq!(Shortage::of_start(&Errno::AGAIN.into()), Some(Shortage::Threads));
        assert_eq!(Shortage::of(&io::ErrorKind::OutOfMemory.into()), Some(Shortage::Memory));
        assert!(Shortage::Descriptors.help().contains("ulimit -n"));
    }
}
