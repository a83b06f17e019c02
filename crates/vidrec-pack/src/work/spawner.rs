//! Starts decoding processes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use super::confine::start_deaf;
#[cfg(unix)]
use super::descriptors::FileSender;
use vidrec_format::error::{Error, Result};

/// The environment variables that a decoding process gets, by the beginnings of their names. Programs and
/// libraries need these to start. The process gets no credentials, whatever they are called.
const ENVIRONMENT: [&str; 23] = [
    "ASAN_",
    "CONDA_",
    "DYLD_",
    "GLIBC_TUNABLES",
    "HOME",
    "LANG",
    "LC_",
    "LD_",
    "LLVM_PROFILE_",
    "LSAN_",
    "MALLOC_",
    "MKL_",
    "OMP_",
    "OPENBLAS_",
    "PATH",
    "PYTHON",
    "RUST_",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "UBSAN_",
    "VIDREC_",
    "VIRTUAL_ENV",
];

/// A thread that starts processes. It lives as long as the processes may, because Linux kills a process when the
/// thread that started it ends.
pub(super) struct Spawner {
    orders: Sender<(Vec<OsString>, Sender<io::Result<Started>>)>,
}

/// A process, and the channel for requests to it.
type Started = (Child, Requests);

impl Spawner {
    pub fn start() -> Result<Self> {
        let (orders, waiting) = mpsc::channel::<(Vec<OsString>, Sender<_>)>();
        let work = move |waiting: Receiver<(Vec<OsString>, Sender<_>)>| {
            start_deaf();
            for (command, answer) in waiting {
                // The thread that asked is waiting for it.
                let _ = answer.send(spawn(&command));
            }
        };
        let thread = thread::Builder::new().spawn(move || work(waiting));
        thread.map_err(|e| Error::start("a thread that starts processes", e))?;
        Ok(Spawner { orders })
    }

    /// Starts a process whose standard output can be read.
    pub fn run(&self, command: &[OsString]) -> io::Result<Started> {
        let (answer, started) = mpsc::channel();
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.orders.send((command.to_vec(), answer)).map_err(|_| gone())?;
        started.recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn spawn(command: &[OsString]) -> io::Result<Started> {
    let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let (requests, stdin) = Requests::pair()?;
    let mut command = Command::new(program);
    command.args(args).stdin(stdin).stdout(Stdio::piped());
    command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name)));
    // Only the run handles Ctrl-C. It finishes the videos in progress.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    #[cfg_attr(unix, expect(unused_mut, reason = "a pipe is taken from it"))]
    let mut child = command.spawn()?;
    #[cfg(not(unix))]
    let requests = Requests(child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?);
    Ok((child, requests))
}

fn is_passed_on(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes().to_ascii_uppercase();
    ENVIRONMENT.iter().any(|start| name.starts_with(start.as_bytes()))
}

/// The channel on which a process receives requests: a socket that can carry open files.
#[cfg(unix)]
pub(super) struct Requests(std::os::unix::net::UnixStream);

/// The channel on which a process receives requests.
#[cfg(not(unix))]
pub(super) struct Requests(std::process::ChildStdin);

#[cfg(unix)]
impl Requests {
    /// Returns our end, and the standard input of the process.
    fn pair() -> io::Result<(Self, Stdio)> {
        let (here, there) = std::os::unix::net::UnixStream::pair()?;
        // A process that does not read must not block the run.
        here.set_write_timeout(Some(std::time::Duration::from_secs(60)))?;
        Ok((Requests(here), std::os::fd::OwnedFd::from(there).into()))
    }

    pub fn write(&mut self, message: &[u8], file: Option<File>) -> io::Result<()> {
        io::Write::write_all(&mut FileSender { socket: &self.0, file }, message)
    }
}

#[cfg(not(unix))]
impl Requests {
    fn pair() -> io::Result<((), Stdio)> {
        Ok(((), Stdio::piped()))
    }

    /// The process opens files itself.
    pub fn write(&mut self, message: &[u8], _: Option<File>) -> io::Result<()> {
        io::Write::write_all(&mut self.0, message)?;
        io::Write::flush(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn no_signal_to_the_run_ends_a_process_that_starts() {
        let command = ["sh", "-c", "kill -INT $$; kill -TERM $$; kill -HUP $$; echo alive"].map(OsString::from);
        let (child, _requests) = Spawner::start().unwrap().run(&command).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success() && ended.stdout == b"alive\n", "{ended:?}");
    }
}
