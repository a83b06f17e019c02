//! The system calls that no crate wraps for us.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use std::io;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use seccompiler::BpfProgram;

/// Ignores these signals.
pub(super) fn ignore(signals: &[i32]) {
    for &signal in signals {
        // SAFETY: SIG_IGN runs no code in this process, and a number that is no signal is refused.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Blocks these signals in this thread, and in the processes that it starts.
pub(super) fn block(signals: &[i32]) {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: the first call initializes the set. The others read it, refuse a number that is no signal, and keep no
    // pointer.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Closes all files except standard input, output and error.
///
/// A process inherits files that were not meant for it if some library of its parent failed to mark them.
pub(super) fn close_others() {
    let (first, last, flags) = (3u32, u32::MAX, 0u32);
    // SAFETY: closing a descriptor touches no memory. The code that confines a process has opened nothing in it
    // yet. Any other code that holds a descriptor gets errors from now on.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
}

/// Filters the system calls of all threads of this process from now on.
///
/// Kernels before 5.16 turn off speculation for a process with a filter, which makes the process slower. A flag
/// prevents that. This process can use the flag because it has nothing to hide from the video that it decodes.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn install(program: &BpfProgram) -> io::Result<()> {
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // seccompiler's instructions are the kernel's: `struct sock_filter` of linux/filter.h, by `repr(C)`.
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    let flags = libc::SECCOMP_FILTER_FLAG_TSYNC | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // SAFETY: `program` points to as many instructions as it says, and they live until the call returns. The
    // kernel copies and checks them and writes nothing.
    let code = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    match code {
        0 => Ok(()),
        // The number of a thread on which the filter could not be installed.
        1.. => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Err(io::Error::last_os_error()),
    }
}
