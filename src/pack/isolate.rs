//! Decoding in processes of their own: a codec that crashes or hangs costs one video, not the run.
//!
//! Each thread of a run has a process that packs one video after the other ([`serve`]) and is replaced when it dies or
//! has to be killed. A process ends when the run does, however that ends, because its standard input does.

use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::clip::{self, ClipFailure, PackStage};
use super::inputs::Item;
use super::memory::Memory;
use super::wire::{self, Hello, Packed, Request};
use super::{PackOptions, all_settings, tool};
use crate::video::{self, Stage};
use crate::{Error, Result};

/// Time beyond a video's own limit until a process that does not answer is killed: it looks at the clock itself, and only
/// a call that hangs does not come back to it.
const GRACE: Duration = Duration::from_secs(2);

/// Time that a process has to start.
const START: Duration = Duration::from_secs(60);

/// Packs the videos that a run with [`PackOptions::isolate`] asks for, until it ends.
///
/// Requests come on standard input and answers go to standard output, to which nothing else may write. `options` must be
/// those of the run.
///
/// # Errors
///
/// [`Io`](crate::ErrorKind::Io): the run cannot be talked to.
pub fn serve(options: &PackOptions) -> Result<()> {
    let io = |e| Error::io("talk to the run", "standard input and output", e);
    video::init();
    let (requests, queue) = mpsc::channel::<Request>();
    thread::spawn(move || {
        let mut input = BufReader::new(io::stdin().lock());
        while let Ok(Some(request)) = wire::receive(&mut input) {
            if requests.send(request).is_err() {
                return;
            }
        }
        // The run is over; nobody waits for the video in hand, which may hang.
        std::process::exit(0);
    });
    let mut out = BufWriter::new(io::stdout().lock());
    wire::send(&mut out, &hello(options)).map_err(io)?;
    let memory = Memory::of(options);
    for request in queue {
        let mut held = memory.hold();
        let packed = clip::pack_one(&request.item, options, &mut held);
        wire::send_reply(&mut out, packed).map_err(io)?;
    }
    Ok(())
}

fn hello(options: &PackOptions) -> Hello {
    Hello { tool: tool(), ffmpeg: video::ffmpeg_version(), settings: all_settings(options) }
}

type Answer = io::Result<Packed>;

/// The processes of a run, as many as are in use at a time.
pub(super) struct Pool<'a> {
    command: &'a [OsString],
    hello: Hello,
    timeout: Duration,
    idle: Mutex<Vec<Process>>,
}

impl<'a> Pool<'a> {
    /// Starts the first process, to see that it can be done.
    pub fn start(command: &'a [OsString], options: &PackOptions) -> Result<Self> {
        let pool = Pool { command, hello: hello(options), timeout: options.timeout, idle: Mutex::default() };
        let process = pool.spawn()?;
        pool.put(process);
        Ok(pool)
    }

    /// Packs a video in a process.
    pub fn pack(&self, item: &Item) -> Packed {
        let crash = |message: String| ClipFailure { stage: PackStage::Crash, message };
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut process = match idle.map_or_else(|| self.spawn(), Ok) {
            Ok(process) => process,
            Err(e) => return Err(crash(e.to_string())),
        };
        let request = Request { item: item.clone() };
        let limit = self.timeout.saturating_add(GRACE);
        match process.ask(&request).and_then(|()| process.answer(limit)) {
            Ok(Some(packed)) => {
                self.put(process);
                packed
            }
            Ok(None) => {
                process.end();
                let message = format!("no answer within {} s; the process was killed", limit.as_secs_f64());
                Err(ClipFailure { stage: PackStage::Video(Stage::Timeout), message })
            }
            Err(e) => {
                let ended = process.end().map_or_else(|| e.to_string(), |status| status.to_string());
                Err(crash(format!("the process that decoded it ended ({ended})")))
            }
        }
    }

    fn put(&self, process: Process) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }

    fn spawn(&self) -> Result<Process> {
        let (process, hello) = Process::start(self.command)?;
        if hello != self.hello {
            return Err(Error::usage("the decoding process is not set up as this one")
                .file(self.command.first().map(OsString::as_os_str).unwrap_or_default())
                .expected(format!("{:?}", self.hello))
                .found(format!("{hello:?}")));
        }
        Ok(process)
    }
}

/// A process, and a thread that reads its answers.
struct Process {
    child: Child,
    requests: BufWriter<ChildStdin>,
    answers: Receiver<Answer>,
}

impl Process {
    fn start(command: &[OsString]) -> Result<(Self, Hello)> {
        let (program, args) = command.split_first().ok_or_else(|| Error::usage("no command for isolated decoding"))?;
        let io = |e| Error::io("start the decoding process", program, e);
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C is for the run, which lets the videos in hand be finished.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(io)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| io(io::ErrorKind::BrokenPipe.into()))?;
        let (hello_sender, hello) = mpsc::channel();
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            let mut input = BufReader::new(stdout);
            let hello = wire::receive::<Hello>(&mut input);
            if hello_sender.send(hello).is_err() {
                return;
            }
            loop {
                let answer = wire::receive_reply(&mut input);
                let is_last = answer.is_err();
                if sender.send(answer).is_err() || is_last {
                    return;
                }
            }
        });
        // Made first, so that the process is ended if it does not answer.
        let mut process = Process { child, requests: BufWriter::new(stdin), answers };
        match hello.recv_timeout(START) {
            Ok(Ok(Some(hello))) => Ok((process, hello)),
            answer => {
                let ended = process.end().map_or_else(|| format!("{answer:?}"), |status| status.to_string());
                Err(Error::usage("the decoding process does not answer").file(program).found(ended))
            }
        }
    }

    fn ask(&mut self, request: &Request) -> io::Result<()> {
        wire::send(&mut self.requests, request)
    }

    /// The answer; `None` if it does not come in time.
    fn answer(&self, limit: Duration) -> io::Result<Option<Packed>> {
        match self.answers.recv_timeout(limit) {
            Ok(answer) => answer.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// How it ended, by itself or, after a moment, by us.
    fn end(&mut self) -> Option<ExitStatus> {
        for _ in 0..20 {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                status => return status.ok().flatten(),
            }
        }
        // Both fail only when it is gone already.
        let _ = self.child.kill();
        self.child.wait().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
