//! The other side of [`Resources::isolate`](super::Resources::isolate): a process that decodes for a run.

use std::io::{self, BufReader, BufWriter};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use super::options::{PackOptions, TOOL};
use super::work::wire::{self, Hello, Request};
use super::work::{MemoryBound, VideoStore, pack_one};
use crate::{Error, Result, video};

/// Packs the videos that a run with [`Resources::isolate`](super::Resources::isolate) asks for, until the run ends.
///
/// Requests come on standard input and answers go to standard output; nothing else may read the one or write to the other.
/// `options` must be those of the run. At the end of standard input the run is over and this returns, even if a video is
/// still being decoded: its codec may hang. So the caller should end the process then.
///
/// # Errors
///
/// [`Io`](crate::ErrorKind::Io): answers cannot be written.
pub fn serve(options: &PackOptions) -> Result<()> {
    video::init();
    let hello = hello(options)?;
    let options = options.clone();
    let (requests, queue) = mpsc::channel();
    let (ended, end) = mpsc::channel();
    let worker_ended = ended.clone();
    let start = |e| Error::start("a thread", e);
    // Neither thread is waited for: one may hang in a codec, the other waits for input.
    thread::Builder::new()
        .spawn(move || {
            if let Err(e) = answer(&options, &hello, &queue) {
                // Where nobody listens, the input has ended already.
                let _ = worker_ended.send(Err(Error::io("talk to the run", "standard output", e)));
            }
        })
        .map_err(start)?;
    thread::Builder::new().spawn(move || listen(&requests, &ended)).map_err(start)?;
    end.recv().unwrap_or(Ok(()))
}

/// What a process says first, and what the run expects it to say.
pub(super) fn hello(options: &PackOptions) -> Result<Hello> {
    Ok(Hello { tool: TOOL.into(), ffmpeg: video::ffmpeg_version(), settings: options.settings()? })
}

/// Takes requests until the run ends.
fn listen(requests: &Sender<Request>, ended: &Sender<Result<()>>) {
    let mut input = BufReader::new(io::stdin().lock());
    while let Ok(Some(request)) = wire::receive(&mut input) {
        if requests.send(request).is_err() {
            // The worker has said why it ended.
            return;
        }
    }
    let _ = ended.send(Ok(()));
}

fn answer(options: &PackOptions, hello: &Hello, queue: &Receiver<Request>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    wire::send(&mut out, hello)?;
    let memory = MemoryBound::of(&options.resources);
    let mut store = VideoStore::new(&options.input.storage);
    for request in queue {
        if let Some(storage) = request.storage.map(|storage| storage.to_storage()).filter(|new| new != store.storage())
        {
            store = VideoStore::new(&storage);
        }
        let mut held = memory.hold();
        let packed = pack_one(
            &request.job,
            options.recipe(&store, (&request.tracks, request.channels)),
            &mut held,
            request.alone,
        );
        wire::send_reply(&mut out, packed)?;
    }
    Ok(())
}
