//! Restricts the system calls of a decoding process.
//!
//! Two filters apply together, and the stricter one decides. The first lets through the calls that a decoder
//! needs. It answers all others the way a system without the call would, because libraries try many calls and can
//! do without them. The second ends the process at calls that no decoder has a reason to make, only an attacker.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch};

use super::system::install;

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

fn whatever(calls: &[c_long]) -> impl Iterator<Item = (c_long, Vec<Argument>)> {
    calls.iter().map(|&call| (call, Vec::new()))
}

const EQUAL: SeccompCmpOp = SeccompCmpOp::Eq;

fn bits(mask: i32) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(u64::from(mask.cast_unsigned()))
}

/// The calls that decoding, encoding, memory, threads and the messages to and from the run need.
fn needed(own: u64) -> Vec<(c_long, Vec<Argument>)> {
    let mut calls: Vec<_> = whatever(&[
        // Reads the files that the run handed over, and the requests that come with them.
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_pread64,
        libc::SYS_lseek,
        libc::SYS_recvmsg,
        libc::SYS_close,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_set_robust_list,
        libc::SYS_rseq,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_clock_gettime,
        libc::SYS_clock_getres,
        libc::SYS_gettimeofday,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_restart_syscall,
        libc::SYS_getpid,
        libc::SYS_getppid,
        libc::SYS_gettid,
        libc::SYS_getrandom,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ])
    .collect();
    #[cfg(target_arch = "x86_64")]
    calls.push((libc::SYS_time, Vec::new()));
    // Memory that is not executable.
    calls.extend([libc::SYS_mmap, libc::SYS_mprotect].map(|call| (call, vec![(2, bits(libc::PROT_EXEC), 0)])));
    // Answers and messages.
    for call in [libc::SYS_write, libc::SYS_writev] {
        calls.extend([1, 2].map(|file| (call, vec![(0, EQUAL, file)])));
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
    let mut calls: Vec<_> = whatever(&[
        // Other programs, and the processes and threads of others.
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        // Networks.
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        // Creating, changing and removing files.
        libc::SYS_openat2,
        libc::SYS_unlinkat,
        libc::SYS_renameat2,
        libc::SYS_mkdirat,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_fchmodat,
        libc::SYS_fchownat,
        libc::SYS_truncate,
        libc::SYS_mknodat,
        libc::SYS_setxattr,
        // The kernel and mounts.
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_setns,
        libc::SYS_unshare,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_kexec_load,
        libc::SYS_reboot,
        libc::SYS_setuid,
        libc::SYS_setgid,
        libc::SYS_capset,
    ])
    .collect();
    #[cfg(target_arch = "x86_64")]
    calls.extend(whatever(&[
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_creat,
        libc::SYS_unlink,
        libc::SYS_rename,
        libc::SYS_renameat,
        libc::SYS_mkdir,
        libc::SYS_rmdir,
        libc::SYS_link,
        libc::SYS_symlink,
        libc::SYS_chmod,
        libc::SYS_chown,
    ]));
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
