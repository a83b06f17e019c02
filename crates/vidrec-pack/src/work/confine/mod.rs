//! Takes privileges from a decoding process before it sees the first byte of a video.
//!
//! A hostile video may take over the decoder that reads it. The process around that decoder can compute, read the
//! files that the run handed over, and talk to the run. It can do nothing else:
//!
//! ```text
//! signals.rs  ignores signals that are meant for the run; ends with the run
//! limits.rs   system limits: memory, files, no core dump
//! files.rs    no access to files (Landlock)
//! calls.rs    no system calls but those that a decoder needs (seccomp)
//! system.rs   the system calls that do all this
//! ```
//!
//! The restrictions hold for the rest of the process's life. Linux has all of them. Other systems have only the
//! limits.

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

/// System calls have different numbers on each kind of processor.
#[cfg(all(target_os = "linux", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod calls {
    pub(super) fn filter() -> Result<(), String> {
        Err("vidrec has no filter of system calls for this kind of processor".into())
    }
}

/// Lets no signal that is meant for the run reach the processes that this thread starts, from their first moment on.
#[cfg(target_os = "linux")]
pub(super) fn start_deaf() {
    system::block(&signals::OF_THE_RUN);
}

#[cfg(not(target_os = "linux"))]
pub(super) fn start_deaf() {}

/// Confines this process, which must have only one thread. If it cannot be confined, the error says why.
#[cfg(target_os = "linux")]
pub(crate) fn confine() -> Result<(), String> {
    signals::leave_to_the_run();
    system::close_others();
    limits::lower();
    // The filter of system calls refuses all that Landlock refuses, and more. Landlock is a second barrier on
    // kernels that have it.
    files::close();
    calls::filter()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn confine() -> Result<(), String> {
    #[cfg(unix)]
    limits::lower();
    Err("vidrec can confine them only on Linux".into())
}
