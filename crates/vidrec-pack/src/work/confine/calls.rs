//! Restricts the system calls of a decoding process.
//!
//! Two filters apply together, and the stricter one decides. The first lets through the calls that a decoder
//! needs. It answers all others the way a system without the call would, because libraries try many calls and can
//! do without them. The second ends the process at calls that no decoder has a reason to make, only an attacker.

use std::collections::BTreeMap;
use std::io;

use libc::c_long;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch};

/// One comparison of a call's arguments: the number of the argument, the operator and the value.
type Argument = (u8, SeccompCmpOp, u64);

/// Filters the system calls of this process from now on.
pub(super) fn filter() -> Result<(), String> {
    // Without this, only root may install a filter.
    rustix::thread::set_no_new_privs(true).map_err(|e| format!("the kernel lets it have new privileges: {e}"))?;
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|e| e.to_string())?;
    let own = u64::from(std::process::id());
    let missing = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let programs = [
        program(&hostile(own), SeccompAction::Allow, SeccompAction::KillProcess, arch),
        // This one comes last, because it allows no further filter.
        program(&needed(own), missing, SeccompAction::Allow, arch),
    ];
    for program in programs {
        install(&program?).map_err(|e| format!("the kernel refuses a filter of system calls: {e}"))?;
    }
    Ok(())
}

/// Filters the system calls of all threads of this process from now on.
///
/// Kernels before 5.16 turn off speculation for a process with a filter, which makes the process slower. A flag
/// prevents that. This process can use the flag because it has nothing to hide from the video that it decodes.
fn install(program: &BpfProgram) -> io::Result<()> {
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

fn program(
    calls: &[(c_long, Vec<Argument>)],
    others: SeccompAction,
    these: SeccompAction,
    arch: TargetArch,
) -> Result<BpfProgram, String> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, arguments) in calls {
        let conditions = arguments.iter().map(|(number, how, value)| {
            SeccompCondition::new(*number, Dword, how.clone(), *value).map_err(|e| e.to_string())
        });
        let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
        let of_call = rules.entry(*call).or_default();
        // A call without conditions matches whatever its arguments are.
        if !conditions.is_empty() {
            of_call.push(SeccompRule::new(conditions).map_err(|e| e.to_string())?);
        }
    }
    let filter = SeccompFilter::new(rules, others, these, arch).map_err(|e| e.to_string())?;
    filter.try_into().map_err(|e: seccompiler::BackendError| e.to_string())
}

/// Returns the numbers of calls.
macro_rules! calls {
    ($($call:ident)+) => { &[$(libc::$call),+] };
}

/// Returns calls with whatever arguments.
fn whatever(calls: &[c_long]) -> Vec<(c_long, Vec<Argument>)> {
    calls.iter().map(|&call| (call, Vec::new())).collect()
}

const EQUAL: SeccompCmpOp = SeccompCmpOp::Eq;

fn bits(mask: i32) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(u64::from(mask.cast_unsigned()))
}

/// The calls that decoding, encoding, memory, threads and the messages to and from the run need.
fn needed(own: u64) -> Vec<(c_long, Vec<Argument>)> {
    let mut calls: Vec<_> = whatever(calls! {
        SYS_read SYS_readv SYS_pread64 SYS_lseek SYS_recvmsg SYS_close SYS_munmap SYS_mremap SYS_madvise SYS_brk
        SYS_futex SYS_set_robust_list SYS_rseq SYS_sched_yield SYS_sched_getaffinity SYS_clock_gettime
        SYS_clock_getres SYS_gettimeofday SYS_clock_nanosleep SYS_nanosleep SYS_restart_syscall SYS_getpid
        SYS_getppid SYS_gettid SYS_getrandom SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_sigaltstack
        SYS_exit SYS_exit_group
    });
    #[cfg(target_arch = "x86_64")]
    calls.push((libc::SYS_time, Vec::new()));
    // Memory that is not executable.
    calls.extend([libc::SYS_mmap, libc::SYS_mprotect].map(|call| (call, vec![(2, bits(libc::PROT_EXEC), 0)])));
    // Replies on the socket, and messages. A file goes with none of them.
    for call in [libc::SYS_write, libc::SYS_writev] {
        calls.extend([0, 2].map(|file| (call, vec![(0, EQUAL, file)])));
    }
    for command in [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_DUPFD_CLOEXEC] {
        calls.push((libc::SYS_fcntl, vec![(1, EQUAL, u64::from(command.cast_unsigned()))]));
    }
    // Threads and their names, but no processes.
    calls.push((libc::SYS_clone, vec![(0, bits(libc::CLONE_THREAD), u64::from(libc::CLONE_THREAD.cast_unsigned()))]));
    calls.push((libc::SYS_prctl, vec![(0, EQUAL, u64::from(libc::PR_SET_NAME.cast_unsigned()))]));
    // A process ends itself this way when it finds its memory corrupted.
    calls.push((libc::SYS_tgkill, vec![(0, EQUAL, own)]));
    calls
}

/// The calls that end the process.
///
/// Opening a file for reading is not among them, because libraries look for configuration files.
fn hostile(own: u64) -> Vec<(c_long, Vec<Argument>)> {
    let mut calls: Vec<_> = whatever(calls! {
        // Other programs, and the processes and threads of others.
        SYS_execve SYS_execveat SYS_kill SYS_tkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_pidfd_open
        SYS_pidfd_getfd SYS_pidfd_send_signal SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev
        // Networks.
        SYS_socket SYS_socketpair SYS_connect SYS_bind SYS_listen SYS_sendto SYS_sendmsg SYS_sendmmsg
        // Creating, changing and removing files.
        SYS_openat2 SYS_unlinkat SYS_renameat2 SYS_mkdirat SYS_linkat SYS_symlinkat SYS_fchmodat SYS_fchownat
        SYS_truncate SYS_mknodat SYS_setxattr
        // The kernel and mounts.
        SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_setns SYS_unshare SYS_bpf SYS_perf_event_open
        SYS_userfaultfd SYS_io_uring_setup SYS_add_key SYS_request_key SYS_keyctl SYS_init_module SYS_finit_module
        SYS_kexec_load SYS_reboot SYS_setuid SYS_setgid SYS_capset
    });
    #[cfg(target_arch = "x86_64")]
    calls.extend(whatever(calls! {
        SYS_fork SYS_vfork SYS_creat SYS_unlink SYS_rename SYS_renameat SYS_mkdir SYS_rmdir SYS_link SYS_symlink
        SYS_chmod SYS_chown
    }));
    calls.push((libc::SYS_clone, vec![(0, bits(libc::CLONE_THREAD), 0)]));
    calls.push((libc::SYS_tgkill, vec![(0, SeccompCmpOp::Ne, own)]));
    let writing = [(libc::O_ACCMODE, libc::O_WRONLY), (libc::O_ACCMODE, libc::O_RDWR), (libc::O_CREAT, libc::O_CREAT)];
    for (mask, value) in writing {
        let value = u64::from(value.cast_unsigned());
        calls.push((libc::SYS_openat, vec![(2, bits(mask), value)]));
        #[cfg(target_arch = "x86_64")]
        calls.push((libc::SYS_open, vec![(1, bits(mask), value)]));
    }
    calls
}
