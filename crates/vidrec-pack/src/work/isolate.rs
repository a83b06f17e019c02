//! Decodes videos in separate processes. A codec that crashes or hangs then costs one video, not the run. A video
//! that takes over its decoder has gained a process that can do nothing ([`confine`](super::confine)).
//!
//! Each thread of a run has a process that packs one video after another ([`serve`](crate::serve)). A process that
//! dies or has to be killed is replaced. A process ends when the run ends, however that happens: its standard
//! input closes, and Linux kills it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::failure::{ClipFailure, PackStage};
use super::grants::Granter;
use super::memory::MemoryBound;
use super::packed::PackedClip;
use super::spawner::{Requests, Spawner};
use super::stamp::Stamp;
use super::video_store::VideoStore;
use super::wire::{self, Greeting, Hello, Order, PackedResult, Request, Said};
use crate::plan::Job;
use crate::track::PlannedTrack;
use crate::video::Stage;
use vidrec_format::error::{Error, Result};
use vidrec_format::machine;
use vidrec_format::machine::Shortage;

/// How long after a video's own time limit a process that does not answer is killed. The process checks the limit
/// itself, unless a call hangs.
const GRACE: Duration = Duration::from_secs(2);

/// How long a process may take to start.
const START: Duration = Duration::from_secs(60);

/// The processes of a run, as many as are in use at a time.
pub(crate) struct Pool<'a> {
    starter: Spawner,
    command: &'a [OsString],
    hello: Hello,
    timeout: Duration,
    tracks: &'a [PlannedTrack],
    idle: Mutex<Vec<DecodingProcess>>,
    /// Why the processes are not confined; `None` if they are.
    unconfined: OnceLock<Option<String>>,
}

/// The work that a process does for one video.
pub(crate) struct Errand<'a> {
    pub job: &'a Job,
    /// Opens the video and its tracks for the process.
    pub store: &'a VideoStore,
    /// The bound that the memory of the process counts against.
    pub memory: &'a MemoryBound,
    /// The number of channels of all sound; `None` if each video keeps its own.
    pub channels: Option<u32>,
    /// Whether each JPEG is compared with its picture.
    pub measure: bool,
    /// The stamp of the video, if several clips are made of it.
    pub shared: Option<Stamp>,
    /// Whether no other video is being packed.
    pub alone: bool,
}

impl<'a> Pool<'a> {
    /// Starts the first process, to check that processes can start.
    ///
    /// Every process must send this `hello`. `timeout` is the time limit of a video. `tracks` holds the types of
    /// the tracks.
    ///
    /// # Errors
    ///
    /// The process cannot be started, or has other settings.
    pub fn start(command: &'a [OsString], hello: Hello, timeout: Duration, tracks: &'a [PlannedTrack]) -> Result<Self> {
        let starter = Spawner::start()?;
        let (idle, unconfined) = Default::default();
        let pool = Pool { starter, command, hello, timeout, tracks, idle, unconfined };
        let process = pool.spawn()?;
        pool.put(process);
        Ok(pool)
    }

    /// Returns what the user should know about the processes, if anything.
    pub fn note(&self) -> Option<String> {
        let why = self.unconfined.get()?.as_ref()?;
        Some(format!(
            "vidrec could not confine the processes that decode, so a hostile video could do more than fail: {why}"
        ))
    }

    /// Packs a video in a process.
    pub fn pack(&self, errand: &Errand<'_>) -> PackedResult {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut process = idle.map_or_else(|| self.spawn(), Ok).map_err(|e| {
            let failure = ClipFailure::of(PackStage::Crash, &e);
            // The first process of the run started, so the video is not to blame.
            ClipFailure { shortage: failure.shortage.or(Some(Shortage::Memory)), ..failure }
        })?;
        let limit = self.timeout.saturating_add(GRACE);
        match self.converse(&mut process, errand, limit) {
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
                    |end| end.failure(shortage, errand.alone),
                ))
            }
        }
    }

    /// Has a process pack a video and answers its requests; returns `None` if the process takes too long.
    fn converse(
        &self,
        process: &mut DecodingProcess,
        errand: &Errand<'_>,
        limit: Duration,
    ) -> io::Result<Option<PackedResult>> {
        let Errand { job, channels, measure, shared, alone, .. } = *errand;
        let (folder, tracks) = (errand.store.is_folder(&job.path), self.tracks.to_vec());
        let request = Request { job: job.clone(), folder, alone, measure, tracks, channels, shared };
        let mut giver = Granter::new(job, errand.store, errand.memory);
        let mut deadline = Instant::now().checked_add(limit);
        process.say(&Order::Pack(Box::new(request)), None)?;
        loop {
            match process.answer(deadline)? {
                None => return Ok(None),
                Some(Said::Packed(packed)) => {
                    if packed.as_ref().is_ok_and(|clips| !clips.iter().all(|clip| is_of(clip, job))) {
                        return Err(io::Error::new(
                            io::ErrorKind::InvalidData,
                            "its process returned clips of another video",
                        ));
                    }
                    return Ok(Some(
                        packed.map_err(|failure| if alone { too_large(failure, giver.needed) } else { failure }),
                    ));
                }
                Some(Said::Wants(want)) => {
                    let began = Instant::now();
                    let (given, file, bytes) = giver.give(want);
                    // Time that the run itself takes does not count, because it does not mean that the process
                    // hangs.
                    deadline = deadline.and_then(|deadline| deadline.checked_add(began.elapsed()));
                    process.say(&Order::Take(given), file)?;
                    bytes.map_or(Ok(()), |bytes| process.say_bytes(&bytes))?;
                }
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
        let (process, greeting) = DecodingProcess::start(&self.starter, self.command)?;
        let Greeting { hello, unconfined } = greeting;
        if hello != self.hello {
            return Err(Error::usage("the decoding process does not have the same setup as this one")
                .file(self.command.first().map(OsString::as_os_str).unwrap_or_default())
                .expected(self.hello.to_json())
                .found(hello.to_json()));
        }
        self.unconfined.get_or_init(|| unconfined);
        Ok(process)
    }
}

/// Turns a lack of memory into a failure of the video, if the video needs more than the machine has.
///
/// Such a video has failed although it was alone. It also fails where the system kills its process for lack of
/// memory. If it did not fail here, one video could stop every run.
fn too_large(failure: ClipFailure, needed: u64) -> ClipFailure {
    let most = memory_of_machine();
    if failure.shortage != Some(Shortage::Memory) || needed <= most {
        return failure;
    }
    let message = format!("{} (it needs more memory than the machine has: {needed} of {most} bytes)", failure.message);
    ClipFailure { message, shortage: None, ..failure }
}

/// Whether the clip matches the job. A process that a video has taken over may send anything.
fn is_of(clip: &PackedClip, job: &Job) -> bool {
    let info = &clip.info;
    let given = job.attributes.to_map();
    let same = |(key, value): (&String, &serde_json::Value)| info.attributes.0.get(key) == Some(value);
    (&*info.source, info.label, &*info.class) == (&*job.source, job.label, &*job.class)
        && given.iter().filter(|(key, _)| !["video", "draw"].contains(&key.as_str())).all(same)
}

/// How a process ended.
#[derive(Debug, Clone, Copy)]
struct ProcessEnd {
    status: ExitStatus,
    /// Whether we killed it.
    by_us: bool,
}

impl ProcessEnd {
    /// Returns the failure that the end of the process means for its video. `alone` says that no other video was
    /// being packed.
    ///
    /// A system that runs out of memory kills processes. If other videos were being packed, no video is to blame.
    /// A video whose process is killed when it is alone needs more memory than the machine has. If the process has
    /// a limit, a codec that never checks its allocations aborts when one fails. Such an abort looks like any
    /// other abort, so the run stops rather than losing a video.
    fn failure(self, shortage: Option<Shortage>, alone: bool) -> ClipFailure {
        let ended = format!("the process that decoded it ended ({})", self.status);
        let (message, shortage) = match (shortage, self.signal()) {
            (Some(shortage), _) => (format!("{ended}; {}", shortage.help()), Some(shortage)),
            (None, Some(signal::KILL)) if !self.by_us && alone => {
                (format!("{ended}, even alone: most likely it needs more memory than the machine has"), None)
            }
            (None, Some(signal::KILL)) if !self.by_us => (ended, Some(Shortage::Memory)),
            (None, Some(signal::SYS)) => {
                let what = "it made a system call that no decoder needs, so the video may be an attack";
                (format!("{ended}: {what}"), None)
            }
            (None, Some(signal::ABORT)) if machine::address_space().is_some() => (
                format!("{ended}, as processes do when memory runs out; {}", Shortage::Memory.help()),
                Some(Shortage::Memory),
            ),
            (None, Some(signal::ABORT)) => {
                (format!("{ended}: the codec has a bug, or needs more memory than a process may use"), None)
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

/// These numbers are the same on all systems that have signals.
mod signal {
    pub const ABORT: i32 = 6;
    pub const KILL: i32 = 9;
    #[cfg(target_os = "linux")]
    pub const SYS: i32 = libc::SIGSYS;
    /// No other system filters calls here.
    #[cfg(not(target_os = "linux"))]
    pub const SYS: i32 = -1;
}

/// A process, and a thread that reads its answers.
struct DecodingProcess {
    child: Child,
    requests: Requests,
    answers: Receiver<io::Result<Said>>,
}

impl DecodingProcess {
    fn start(starter: &Spawner, command: &[OsString]) -> Result<(Self, Greeting)> {
        let program = command.first().ok_or_else(|| Error::usage("there is no command for isolated decoding"))?;
        let io = |e| Error::start("the decoding process", e).file(program);
        let (mut child, requests) = starter.run(command).map_err(io)?;
        let stdout = child.stdout.take().ok_or_else(|| io(io::ErrorKind::BrokenPipe.into()))?;
        let (greeting_sender, greeting) = mpsc::channel();
        // A process that sends more than the run reads has to wait.
        let (sender, answers) = mpsc::sync_channel(1);
        // A process cannot send more than fits in its own memory.
        let most = memory_of_machine();
        let reader = thread::Builder::new().spawn(move || {
            let mut input = BufReader::with_capacity(wire::READ_BYTES, stdout);
            let greeting = wire::receive::<Greeting>(&mut input);
            if greeting_sender.send(greeting).is_err() {
                return;
            }
            loop {
                let answer = wire::receive_said(&mut input, most);
                let is_last = answer.is_err();
                if sender.send(answer).is_err() || is_last {
                    return;
                }
            }
        });
        // This is created first, because dropping it ends a process that does not answer.
        let mut process = DecodingProcess { child, requests, answers };
        reader.map_err(|e| Error::start("a thread for the decoding process", e))?;
        match greeting.recv_timeout(START) {
            Ok(Ok(Some(greeting))) => Ok((process, greeting)),
            answer => {
                let ended = process.end().map_or_else(|| format!("{answer:?}"), |end| end.status.to_string());
                Err(Error::usage("the decoding process does not answer").file(program).found(ended))
            }
        }
    }

    /// Sends an order, and an open file with it.
    fn say(&mut self, order: &Order, file: Option<File>) -> io::Result<()> {
        // The message goes out in one piece, because a process is waiting for it.
        let mut message = Vec::new();
        wire::send(&mut message, order)?;
        self.requests.write(&message, file)
    }

    fn say_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut message = Vec::new();
        wire::send_bytes(&mut message, bytes)?;
        self.requests.write(&message, None)
    }

    /// Returns the next message of the process; `None` if none comes in time.
    fn answer(&self, deadline: Option<Instant>) -> io::Result<Option<Said>> {
        let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        match self.answers.recv_timeout(left) {
            Ok(answer) => answer.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Returns how the process ended. If it has not ended after a moment, kills it.
    fn end(&mut self) -> Option<ProcessEnd> {
        for _ in 0..20 {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                status => return status.ok().flatten().map(|status| ProcessEnd { status, by_us: false }),
            }
        }
        // Both calls fail only if the process has already ended.
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

#[cfg(target_os = "linux")]
fn memory_of_machine() -> u64 {
    vidrec_core::memory::memory().unwrap_or(u64::MAX)
}

#[cfg(not(target_os = "linux"))]
fn memory_of_machine() -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::super::packed::PackedClip;
    use super::*;
    use vidrec_core::dataset::writer::ClipInfo;
    use vidrec_format::json_object::JsonObject;

    #[test]
    fn clips_of_another_video_are_not_taken() {
        let attributes = serde_json::from_value(r#"{"take":3}"#.into()).unwrap();
        let job = Job {
            path: "in/a.mp4".into(),
            source: "a.mp4".into(),
            label: Some(2),
            class: "a".into(),
            segment: None,
            ordinal: 0,
            attributes,
            fault: None,
            tracks: None,
            episode: None,
        };
        let info = ClipInfo {
            source: "a.mp4".into(),
            label: Some(2),
            class: "a".into(),
            attributes: JsonObject::of(serde_json::json!({"take": 3, "video": {}})).unwrap(),
            ..ClipInfo::default()
        };
        let clip = |info: ClipInfo| PackedClip {
            info,
            jpegs: Default::default(),
            frames: Vec::new(),
            measured: Default::default(),
            facts: Default::default(),
            tracks: Vec::new(),
        };
        assert!(is_of(&clip(info.clone()), &job));
        for wrong in [
            ClipInfo { label: Some(1), ..info.clone() },
            ClipInfo { source: "b.mp4".into(), ..info.clone() },
            ClipInfo { class: "b".into(), ..info.clone() },
            ClipInfo { attributes: JsonObject::of(serde_json::json!({"take": 4})).unwrap(), ..info.clone() },
            ClipInfo { attributes: JsonObject::default(), ..info },
        ] {
            assert!(!is_of(&clip(wrong), &job));
        }
    }
}
