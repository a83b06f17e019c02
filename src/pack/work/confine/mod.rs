//! What a process that decodes gives up before it sees the first byte of a video.
//!
//! A hostile video may take over the decoder that reads it. Then it finds itself in a process that can compute, read the
//! files that it was handed and talk to the run, and nothing else:
//!
//! ```text
//! signals.rs  not ended by signals that are meant for the run, and ended with it
//! limits.rs   limits of the system: memory, files, no core dump
//! files.rs    no way to any file (Landlock)
//! calls.rs    no call of the system that a decoder does not need (seccomp)
//! system.rs   the calls by which this is done
//! ```
//!
//! All of it holds for the rest of the process's life. Linux has all of it; other systems have only the limits.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod calls;
#[cfg(all(target_os = "linux", debug_assertions))]
pub(super) mod escape;
#[cfg(target_os = "linux")]
mod files;
#[cfg(unix)]
mod limits;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod system;

/// Calls have other numbers on each kind of processor.
#[cfg(all(target_os = "linux", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod calls {
    pub(super) fn filter() -> Result<(), String> {
        Err("vidrec has no filter of system calls for this kind of processor".into())
    }
}

/// Confines this process, which has to have one thread. Returns why it is not confined, if it is not.
#[cfg(target_os = "linux")]
pub(crate) fn confine() -> Result<(), String> {
    signals::leave_to_the_run();
    system::close_others();
    limits::lower();
    // The filter of calls refuses all that Landlock does, and more. Landlock stands behind it, where the kernel has it.
    files::close();
    calls::filter()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn confine() -> Result<(), String> {
    #[cfg(unix)]
    limits::lower();
    Err("only Linux can confine them".into())
}
