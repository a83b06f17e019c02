//! Decoding in processes of their own: a codec that crashes or hangs costs one video, not the run.
//!
//! Each thread of a run has a process that packs one video after the other ([`serve`](crate::pack::serve)). A process that
//! dies or has to be killed is replaced. A process ends when the run does, however that ends, because its standard input
//! ends.

use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::failure::{ClipFailure, PackStage};
use super::wire::{self, Hello, PackedResult, Request, RequestStorage};
use crate::machine::{self, Shortage};
use crate::pack::plan::Job;
use crate::pack::track::PlannedTrack;
use crate::stop::{self, LOOK};
use crate::video::Stage;
use crate::{Error, Result, Storage, is_remote};

/// Time beyond a video's own limit until a process that does not answer is killed. The process looks at the clock itself;
/// only a call that hangs keeps it from that.
const GRACE: Duration = Duration::from_secs(2);

/// Time that a process has to start.
const START: Duration = Duration::from_secs(60);

/// The processes of a run, as many as are in use at a time.
pub(crate) struct Pool<'a> {
    command: &'a [OsString],
    hello: Hello,
    timeout: Duration,
    storage: &'a Storage,
    tracks: &'a [PlannedTrack],
    idle: Mutex<Vec<DecodingProcess>>,
}

impl<'a> Pool<'a> {
    /// Starts the first process, to see that it can be done. All have to say `hello`. `timeout` is that of a video,
    /// `storage` says how remote ones are read, and `tracks` have their types.
    ///
    /// # Errors
    ///
    /// The process cannot be started, or has other settings.
    pub fn start(
        command: &'a [OsString],
        hello: Hello,
        timeout: Duration,
        (storage, tracks): (&'a Storage, &'a [PlannedTrack]),
    ) -> Result<Self> {
        let pool = Pool { command, hello, timeout, storage, tracks, idle: Mutex::default() };
        let process = pool.spawn()?;
        pool.put(process);
        Ok(pool)
    }

    /// Packs a video in a process, with that many channels of its sound if they are those of the videos; `alone` if nothing
    /// else is packed at the time.
    pub fn pack(&self, job: &Job, channels: Option<u32>, alone: bool) -> PackedResult {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut process = idle.map_or_else(|| self.spawn(), Ok).map_err(|e| {
            let failure = ClipFailure::of(PackStage::Crash, &e);
            // The first process of the run did start, so the video is not to blame.
            ClipFailure { shortage: failure.shortage.or(Some(Shortage::Memory)), ..failure }
        })?;
        let storage = is_remote(&job.path).then(|| RequestStorage::of(self.storage));
        let request = Request { job: job.clone(), alone, storage, tracks: self.tracks.to_vec(), channels };
        let limit = self.timeout.saturating_add(GRACE);
        let answer = process.ask(&request).and_then(|()| process.answer(limit, is_remote(&job.path)));
        match answer {
            // Of a video that is fetched, the process may wait for a server.
            Ok(None) if stop::is_stopped() => {
                let failure = ClipFailure::new(PackStage::Video(Stage::Open), "interrupted");
                Err(ClipFailure { unreached: true, ..failure })
            }
            Ok(Some(packed)) => {
                self.put(process);
                packed
            }
            Ok(None) => {
                process.end();
                let message = format!("no answer within {} s; the process was killed", limit.as_secs_f64());
                Err(ClipFailure::new(PackStage::Video(Stage::Timeout), message))
            }
            Err(e) => {
                let shortage = Shortage::of(&e);
                Err(process.end().map_or_else(
                    || ClipFailure { shortage, ..ClipFailure::new(PackStage::Crash, e.to_string()) },
                    |end| end.failure(shortage, alone),
                ))
            }
        }
    }

    /// Ends the processes that wait for a video.
    pub fn end_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn put(&self, process: DecodingProcess) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }

    fn spawn(&self) -> Result<DecodingProcess> {
        let (process, hello) = DecodingProcess::start(self.command)?;
        if hello != self.hello {
            return Err(Error::usage("the decoding process is not set up as this one")
                .file(self.command.first().map(OsString::as_os_str).unwrap_or_default())
                .expected(self.hello.to_json())
                .found(hello.to_json()));
        }
        Ok(process)
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy)]
struct ProcessEnd {
    status: ExitStatus,
    /// Whether we killed it.
    by_us: bool,
}

impl ProcessEnd {
    /// What the end of the process means for the video that it decoded. `alone` says that nothing else was packed then.
    ///
    /// A system that runs out of memory kills processes. With others at the same time, no video is to blame; a video whose
    /// process is killed when it is alone needs more memory than there is. Where the process has a limit, a codec that takes
    /// memory for granted aborts when it gets none. That cannot be told from an abort for another reason, so the run stops
    /// rather than losing a video.
    fn failure(self, shortage: Option<Shortage>, alone: bool) -> ClipFailure {
        let ended = format!("the process that decoded it ended ({})", self.status);
        let (message, shortage) = match (shortage, self.signal()) {
            (Some(shortage), _) => (format!("{ended}; {}", shortage.help()), Some(shortage)),
            (None, Some(signal::KILL)) if !self.by_us && alone => {
                (format!("{ended}, alone as well: most likely it needs more memory than the machine has"), None)
            }
            (None, Some(signal::KILL)) if !self.by_us => (ended, Some(Shortage::Memory)),
            (None, Some(signal::ABORT)) if machine::address_space().is_some() => {
                (format!("{ended}, as it does without memory; {}", Shortage::Memory.help()), Some(Shortage::Memory))
            }
            _ => (ended, None),
        };
        ClipFailure { shortage, ..ClipFailure::new(PackStage::Crash, message) }
    }

    #[cfg(unix)]
    fn signal(self) -> Option<i32> {
        std::os::unix::process::ExitStatusExt::signal(&self.status)
    }

    #[cfg(not(unix))]
    fn signal(self) -> Option<i32> {
        None
    }
}

/// The same on all systems that have them.
mod signal {
    pub const ABORT: i32 = 6;
    pub const KILL: i32 = 9;
}

/// A process, and a thread that reads its answers.
struct DecodingProcess {
    child: Child,
    requests: BufWriter<ChildStdin>,
    answers: Receiver<io::Result<PackedResult>>,
}

impl DecodingProcess {
    fn start(command: &[OsString]) -> Result<(Self, Hello)> {
        let (program, args) = command.split_first().ok_or_else(|| Error::usage("no command for isolated decoding"))?;
        let io = |e| Error::start("the decoding process", e).file(program);
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C is for the run, which finishes the videos in hand.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(io)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| io(io::ErrorKind::BrokenPipe.into()))?;
        let (hello_sender, hello) = mpsc::channel();
        let (sender, answers) = mpsc::channel();
        let reader = thread::Builder::new().spawn(move || {
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
        // Made first, so that a process that does not answer is ended.
        let mut process = DecodingProcess { child, requests: BufWriter::new(stdin), answers };
        reader.map_err(|e| Error::start("a thread for the decoding process", e))?;
        match hello.recv_timeout(START) {
            Ok(Ok(Some(hello))) => Ok((process, hello)),
            answer => {
                let ended = process.end().map_or_else(|| format!("{answer:?}"), |end| end.status.to_string());
                Err(Error::usage("the decoding process does not answer").file(program).found(ended))
            }
        }
    }

    fn ask(&mut self, request: &Request) -> io::Result<()> {
        wire::send(&mut self.requests, request)
    }

    /// The answer; `None` if it does not come in time, or if this is stoppable and nobody wants it any more.
    fn answer(&self, limit: Duration, is_stoppable: bool) -> io::Result<Option<PackedResult>> {
        let begin = Instant::now();
        loop {
            let left = limit.saturating_sub(begin.elapsed());
            match self.answers.recv_timeout(left.min(LOOK)) {
                Ok(answer) => return answer.map(Some),
                Err(RecvTimeoutError::Timeout) if left > LOOK && !(is_stoppable && stop::is_stopped()) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// How it ended, by itself or, after a moment, by us.
    fn end(&mut self) -> Option<ProcessEnd> {
        for _ in 0..20 {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                status => return status.ok().flatten().map(|status| ProcessEnd { status, by_us: false }),
            }
        }
        // Both fail only when it is gone already.
        let _ = self.child.kill();
        self.child.wait().ok().map(|status| ProcessEnd { status, by_us: true })
    }
}

impl Drop for DecodingProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
