//! Decodes videos in worker processes. A codec that crashes or hangs then costs one video, not the run. A video that takes
//! over its decoder has gained a process that can do nothing ([`confine`](super::confine)).
//!
//! Each thread of a run has a worker that packs one video after another ([`serve`](crate::serve)). A worker that dies or
//! has to be killed is replaced. A worker ends when the run ends, however that happens: its standard input closes, and
//! Linux kills it.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::confine::block_signals;
use super::memory::HeldMemory;
use super::messages::{
    self, Channel, FromWorker, Greeting, PictureFolder, Request, ResourceReply, ResourceRequest, Setup,
};
use super::options::ClipRecipe;
use super::packed::{PackedClip, PackedVideo};
use super::video_store::VideoStore;
use crate::plan::Job;
use crate::track::PlannedTrack;
use crate::video::{Stage, VideoError};
use vidrec_core::store::location::is_remote;
use vidrec_format::error::{Error, Result};
use vidrec_format::machine::{self, Shortage};

/// The time after a video's own limit at which a worker that does not answer is killed. The worker checks the limit itself,
/// unless a call hangs.
const GRACE: Duration = Duration::from_secs(2);

/// The time that a worker may take to start.
const START: Duration = Duration::from_secs(60);

/// The environment variables that a worker gets, by the beginnings of their names. Programs and libraries need these to
/// start. The process gets no credentials, whatever they are called.
const ENVIRONMENT: &str = "ASAN_ CONDA_ DYLD_ GLIBC_TUNABLES HOME LANG LC_ LD_ LLVM_PROFILE_ LSAN_ MALLOC_ MKL_ \
    OMP_ OPENBLAS_ PATH PYTHON RUST_ SYSTEMROOT TEMP TMP UBSAN_ VIDREC_ VIRTUAL_ENV";

type PoolResult = Result<PackedVideo, VideoError>;

/// The workers of a run, as many as are in use at a time.
pub(crate) struct Pool<'a> {
    spawner: Spawner,
    command: &'a [OsString],
    setup: Setup,
    timeout: Duration,
    tracks: &'a [PlannedTrack],
    idle: Mutex<Vec<Worker>>,
    /// Why the workers are not confined; `None` if they are.
    unconfined: OnceLock<Option<String>>,
}

impl<'a> Pool<'a> {
    /// Starts the first worker, to check that workers can start.
    ///
    /// Every worker must have this `setup`. `timeout` is the time limit of a video. `tracks` holds the types of the
    /// tracks.
    ///
    /// # Errors
    ///
    /// The worker cannot be started, or has other settings.
    pub fn start(command: &'a [OsString], setup: Setup, timeout: Duration, tracks: &'a [PlannedTrack]) -> Result<Self> {
        let (idle, unconfined) = Default::default();
        let pool = Pool { spawner: Spawner::start()?, command, setup, timeout, tracks, idle, unconfined };
        let worker = pool.spawn()?;
        pool.idle.lock().push(worker);
        Ok(pool)
    }

    /// Returns what the user should know about the workers, if anything.
    pub fn note(&self) -> Option<String> {
        let why = self.unconfined.get()?.as_ref()?;
        Some(format!(
            "vidrec could not confine the processes that decode, so a hostile video could do more than fail: {why}"
        ))
    }

    /// Packs a video in a worker. Its memory counts against the bound of `held`.
    pub fn pack(&self, job: &Job, recipe: ClipRecipe<'_>, held: &HeldMemory<'_>, alone: bool) -> PoolResult {
        let idle = self.idle.lock().pop();
        let mut worker = idle.map_or_else(|| self.spawn(), Ok).map_err(|e| {
            // The first worker of the run started, so the video is not to blame.
            let shortage = e.shortage().unwrap_or(Shortage::Memory);
            VideoError::new(Stage::Crash, e.blame(shortage))
        })?;
        let limit = self.timeout.saturating_add(GRACE);
        match self.converse(&mut worker, (job, recipe, held), alone, limit) {
            Ok(packed) => {
                self.idle.lock().push(worker);
                packed
            }
            Err(e) if e.kind() == io::ErrorKind::TimedOut => {
                worker.end();
                let message = format!("no answer within {} s; the process was killed", limit.as_secs_f64());
                Err(VideoError::new(Stage::Timeout, Error::decode(message)))
            }
            Err(e) => {
                let shortage = Shortage::of(&e);
                let crash = || VideoError { shortage, ..VideoError::new(Stage::Crash, Error::decode(e.to_string())) };
                Err(worker.end().map_or_else(crash, |end| end.failure(shortage, alone)))
            }
        }
    }

    /// Has a worker pack a video and answers what it asks for. The time that answers take does not count towards `limit`,
    /// because it does not mean that the worker hangs.
    fn converse(
        &self,
        worker: &mut Worker,
        (job, recipe, held): (&Job, ClipRecipe<'_>, &HeldMemory<'_>),
        alone: bool,
        limit: Duration,
    ) -> io::Result<PoolResult> {
        let ClipRecipe { store, measure, shared, .. } = recipe;
        let (folders, tracks) = (folders(job, store), self.tracks.to_vec());
        let request = Request { job: job.clone(), folders, alone, measure, tracks, shared };
        let (mut share, mut needed) = (None, 0);
        let channel = &mut worker.channel;
        channel.get_mut().deadline = Instant::now().checked_add(limit);
        channel.get_mut().send(&request, None)?;
        let files: HashSet<&Path> = named(job).chain(request.folders.iter().flat_map(pictures)).collect();
        loop {
            // A worker cannot send more than fits in its own memory.
            let ask = match messages::receive_from_worker(channel, memory_of_machine())? {
                FromWorker::Asks(ask) => ask,
                FromWorker::Packed(Ok(video)) if !video.clips.iter().all(|clip| is_of(clip, job)) => {
                    let what = "its process returned clips of another video";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                }
                FromWorker::Packed(packed) => {
                    return Ok(packed
                        .map(|video| *video)
                        .map_err(|failure| if alone { too_large(failure, needed) } else { failure }));
                }
            };
            let began = Instant::now();
            let (answer, file) = match ask {
                ResourceRequest::Memory(bytes) => {
                    // A holder of a share must not wait for another one.
                    drop(share.take());
                    needed = bytes;
                    share = Some(held.memory().share(bytes));
                    (ResourceReply::Memory, None)
                }
                ResourceRequest::File(path) if files.contains(Path::new(&path)) => open(Path::new(&path), store),
                ResourceRequest::File(_) => (ResourceReply::NoFile, None),
            };
            let channel = channel.get_mut();
            channel.deadline = channel.deadline.and_then(|deadline| deadline.checked_add(began.elapsed()));
            channel.send(&answer, file.as_ref())?;
        }
    }

    /// Ends the workers that wait for a video.
    pub fn end_idle(&self) {
        self.idle.lock().clear();
    }

    fn spawn(&self) -> Result<Worker> {
        let (worker, Greeting { setup, unconfined }) = Worker::start(&self.spawner, self.command)?;
        if setup != self.setup {
            let json = |setup: &Setup| serde_json::to_string(setup).unwrap_or_default();
            return Err(Error::usage("the decoding process does not have the same setup as this one")
                .file(self.command.first().map(OsString::as_os_str).unwrap_or_default())
                .expected(json(&self.setup))
                .found(json(&setup)));
        }
        self.unconfined.get_or_init(|| unconfined);
        Ok(worker)
    }
}

/// Returns the files and folders that a job names.
fn named(job: &Job) -> impl Iterator<Item = &Path> {
    [&*job.path].into_iter().chain(job.tracks.iter().flat_map(|row| row.files()))
}

fn pictures(folder: &PictureFolder) -> impl Iterator<Item = &Path> {
    folder.pictures.iter().map(|path| &**path)
}

/// Lists the folders of images that a job names.
fn folders(job: &Job, store: &VideoStore) -> Vec<PictureFolder> {
    let listed = |path: &Path| {
        let (pictures, failure) = match store.pictures(path) {
            Ok(pictures) => (pictures, None),
            Err(failure) => (Vec::new(), Some(failure)),
        };
        PictureFolder { path: path.to_owned(), pictures, failure }
    };
    named(job).filter(|path| store.is_folder(path)).map(listed).collect()
}

/// Opens a file for a worker.
fn open(path: &Path, store: &VideoStore) -> (ResourceReply, Option<File>) {
    if is_remote(path) {
        let copy = store.file(path);
        let copied = copy.as_ref().map(|video| video.as_opened().and_then(|(f, n)| Some((f.try_clone().ok()?, n))));
        return match copied {
            Ok(Some((file, length))) => (ResourceReply::File(length), Some(file)),
            Ok(None) => (ResourceReply::SystemError(libc::EMFILE), None),
            Err(failure) => (ResourceReply::Failed(failure.clone()), None),
        };
    }
    match store.open(path) {
        Ok(Some((file, length))) => (ResourceReply::File(length), Some(file)),
        Ok(None) => (ResourceReply::NoFile, None),
        Err(e) => (ResourceReply::SystemError(e.raw_os_error().unwrap_or_default()), None),
    }
}

/// Turns a lack of memory into a failure of the video, if the video needs more than the machine has.
///
/// Such a video has failed although it was alone. It also fails where the system kills its process for lack of
/// memory. If it did not fail here, one video could stop every run.
fn too_large(failure: VideoError, needed: u64) -> VideoError {
    let most = memory_of_machine();
    if failure.shortage != Some(Shortage::Memory) || needed <= most {
        return failure;
    }
    let message = format!("{} (it needs more memory than the machine has: {needed} of {most} bytes)", failure.message);
    VideoError { message, shortage: None, ..failure }
}

/// Whether the clip matches the job. A process that a video has taken over may send anything.
fn is_of(clip: &PackedClip, job: &Job) -> bool {
    let info = &clip.info;
    let given = job.attributes.to_map();
    let same = |(key, value): (&String, &serde_json::Value)| info.attributes.0.get(key) == Some(value);
    (&*info.source, info.label, &*info.class) == (&*job.source, job.label, &*job.class)
        && given.iter().filter(|(key, _)| !["video", "draw"].contains(&key.as_str())).all(same)
}

/// The end of a process.
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
    fn failure(self, shortage: Option<Shortage>, alone: bool) -> VideoError {
        let ended = format!("the process that decoded it ended ({})", self.status);
        let (message, shortage) = match (shortage, self.status.signal()) {
            (Some(shortage), _) => (format!("{ended}; {}", shortage.help()), Some(shortage)),
            (None, Some(libc::SIGKILL)) if !self.by_us && alone => {
                (format!("{ended}, even alone: most likely it needs more memory than the machine has"), None)
            }
            (None, Some(libc::SIGKILL)) if !self.by_us => (ended, Some(Shortage::Memory)),
            (None, Some(libc::SIGSYS)) => {
                let what = "it made a system call that no decoder needs, so the video may be an attack";
                (format!("{ended}: {what}"), None)
            }
            (None, Some(libc::SIGABRT)) if machine::address_space().is_some() => (
                format!("{ended}, as processes do when memory runs out; {}", Shortage::Memory.help()),
                Some(Shortage::Memory),
            ),
            (None, Some(libc::SIGABRT)) => {
                (format!("{ended}: the codec has a bug, or needs more memory than a process may use"), None)
            }
            _ => (ended, None),
        };
        VideoError { shortage, ..VideoError::new(Stage::Crash, Error::decode(message)) }
    }
}

/// A worker process, and the socket to it.
struct Worker {
    child: Child,
    channel: BufReader<Channel>,
}

impl Worker {
    fn start(spawner: &Spawner, command: &[OsString]) -> Result<(Self, Greeting)> {
        let program = command.first().ok_or_else(|| Error::usage("there is no command for isolated decoding"))?;
        let io = |e| Error::start("the decoding process", e).file(program);
        let (child, channel) = spawner.run(command).map_err(io)?;
        // If the worker does not answer, dropping this ends it.
        let mut worker = Worker { child, channel };
        worker.channel.get_mut().deadline = Instant::now().checked_add(START);
        match messages::receive::<Greeting>(&mut worker.channel) {
            Ok(Some(greeting)) => Ok((worker, greeting)),
            answer => {
                let ended = worker.end().map_or_else(|| format!("{answer:?}"), |end| end.status.to_string());
                Err(Error::usage("the decoding process does not answer").file(program).found(ended))
            }
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

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn memory_of_machine() -> u64 {
    if cfg!(target_os = "linux") { vidrec_core::memory::memory().unwrap_or(u64::MAX) } else { u64::MAX }
}

/// A process, and the socket to it.
type Spawned = (Child, BufReader<Channel>);

/// A thread that starts processes. It lives as long as the processes may, because Linux kills a process when the thread that
/// started it ends.
struct Spawner(Sender<(Vec<OsString>, Sender<io::Result<Spawned>>)>);

impl Spawner {
    fn start() -> Result<Self> {
        let (commands, queue) = mpsc::channel::<(Vec<OsString>, Sender<_>)>();
        let work = move || {
            block_signals();
            for (command, answer) in queue {
                // The thread that asked is waiting for it.
                let _ = answer.send(spawn(&command));
            }
        };
        let thread = thread::Builder::new().spawn(work);
        thread.map_err(|e| Error::start("a thread that starts processes", e))?;
        Ok(Spawner(commands))
    }

    fn run(&self, command: &[OsString]) -> io::Result<Spawned> {
        let (answer, started) = mpsc::channel();
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.0.send((command.to_vec(), answer)).map_err(|_| gone())?;
        started.recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn spawn(command: &[OsString]) -> io::Result<Spawned> {
    let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let (channel, stdin) = Channel::pair()?;
    let mut command = Command::new(program);
    command.args(args).stdin(stdin).stdout(Stdio::null());
    command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name)));
    // Only the run handles Ctrl-C. It finishes the videos in progress.
    command.process_group(0);
    Ok((command.spawn()?, channel))
}

fn is_passed_on(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes().to_ascii_uppercase();
    ENVIRONMENT.split(' ').any(|start| name.starts_with(start.as_bytes()))
}

#[cfg(test)]
mod tests {
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
        let clip = |info: ClipInfo| PackedClip { info, ..PackedClip::default() };
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

    #[test]
    #[cfg(target_os = "linux")]
    fn no_signal_to_the_run_ends_a_process_that_starts() {
        let command = ["sh", "-c", "kill -INT $$; kill -TERM $$; kill -HUP $$; exit 7"].map(OsString::from);
        let (mut child, _channel) = Spawner::start().unwrap().run(&command).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }
}
