//! Attempts of a video that has taken over its decoder. Only in builds for tests.

use std::fs::{self, File};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getppid, kill_process};

use crate::video::{Stage, VideoError};
use crate::work::video_store::VideoStore;
use vidrec_format::error::Error;
use vidrec_format::machine::Shortage;

/// Tries the escape named `way`. Those that write a file and remove one name it after a colon.
///
/// The failure says whether the system refused it. Some attempts end the process.
pub fn attempt(way: &str, store: &VideoStore) -> Result<(), VideoError> {
    let (way, path) = way.split_once(':').unwrap_or((way, ""));
    let tried = match way {
        "read" => File::open("/etc/passwd").map(drop),
        "ask" => match store.open("/etc/passwd".as_ref()) {
            Ok(None) => Err(std::io::Error::other("not given")),
            given => given.map(drop),
        },
        "list" => fs::read_dir("/").map(drop),
        "look" => fs::metadata("/etc/passwd").map(drop),
        "write" => File::create(path).map(drop),
        "remove" => fs::remove_file(path),
        "connect" => TcpStream::connect("127.0.0.1:9").map(drop),
        "exec" => Err(Command::new("true").exec()),
        "spawn" => Command::new("true").status().map(drop),
        "fork" => fork(),
        "trace" => trace(),
        "kill" => kill_process(getppid().unwrap_or(rustix::process::getpid()), Signal::KILL).map_err(Into::into),
        "signal" => kill_process(rustix::process::getpid(), Signal::TERM).map_err(Into::into),
        "run" => map_code(),
        "environment" => match std::env::var_os("AWS_SECRET_ACCESS_KEY") {
            Some(_) => Ok(()),
            None => Err(std::io::Error::other("no secrets")),
        },
        "memory" => return take_memory(),
        "abort" => take_memory_for_granted(),
        other => panic!("no such way: {other}"),
    };
    let told = match tried {
        Ok(()) => format!("escaped: {way}"),
        Err(e) => format!("refused: {e}"),
    };
    Err(VideoError::internal(told))
}

/// Allocates memory until none is left.
fn take_memory() -> Result<(), VideoError> {
    const STEP: usize = 1 << 30;
    let mut taken: Vec<Vec<u8>> = Vec::new();
    while taken.len() < 4096 {
        let mut more = Vec::new();
        if more.try_reserve_exact(STEP).is_err() {
            let e = Error::decode("no memory for a test").blame(Shortage::Memory);
            return Err(VideoError::new(Stage::Decode, e));
        }
        taken.push(std::hint::black_box(more));
    }
    Err(VideoError::internal("escaped: memory"))
}

/// Allocates memory like code that ends its process if an allocation fails.
fn take_memory_for_granted() -> std::io::Result<()> {
    let taken: Vec<Vec<u8>> = (0..4096).map(|_| std::hint::black_box(Vec::with_capacity(1 << 30))).collect();
    drop(taken);
    Ok(())
}

fn fork() -> std::io::Result<()> {
    // SAFETY: the child does nothing but end.
    match unsafe { libc::fork() } {
        0 => std::process::abort(),
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn trace() -> std::io::Result<()> {
    let parent = getppid().map_or(0, |id| id.as_raw_nonzero().get());
    // SAFETY: attaching to a process reads and writes no memory of this one.
    match unsafe { libc::ptrace(libc::PTRACE_ATTACH, parent, 0, 0) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn map_code() -> std::io::Result<()> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new map touches no memory that is in use.
    let map = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0) };
    if map == libc::MAP_FAILED { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// Ends the process the way a system that has run out of memory does.
pub fn die() {
    // SAFETY: the call ends the process.
    unsafe { libc::raise(libc::SIGKILL) };
}
