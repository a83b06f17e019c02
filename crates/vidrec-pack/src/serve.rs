//! The other side of [`Resources::isolate`](super::Resources::isolate): a process that decodes for a run.

use std::io::{self, BufReader, BufWriter, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use super::options::{PackOptions, TOOL};
use super::work::wire::{self, Given, Greeting, Hello, Order, Request};
use super::work::{ClipRecipe, Gift, Line, MemoryBound, OpenVideos, VideoStore, confine, pack_one};
use crate::video;
use vidrec_format::error::{Error, Result};

/// Packs the videos that a run with [`Resources::isolate`](super::Resources::isolate) asks for, until the run ends.
///
/// Requests come on standard input, and answers go to standard output. Nothing else may read from the one or write
/// to the other. `options` must be those of the run. The run is over at the end of standard input. This function
/// then returns, even if a video is still being decoded, because its codec may hang. The caller should end the
/// process at that point.
///
/// On Linux, **the process is confined from here on, for the rest of its life**: it cannot open a file, make a
/// connection, start a program or end another process, and a few signals no longer reach it. The run opens the
/// videos. Call this function before the process has a second thread, and only in a process that does nothing
/// else.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io): answers cannot be written.
pub fn serve(options: &PackOptions) -> Result<()> {
    video::init();
    let greeting = Greeting { hello: hello(options)?, unconfined: confine().err() };
    let options = options.clone();
    let (requests, queue) = mpsc::channel();
    let (gift, gifts) = mpsc::channel();
    let (ended, end) = mpsc::channel();
    let worker_ended = ended.clone();
    let start = |e| Error::start("a thread", e);
    // Do not wait for either thread: one may hang in a codec, and the other waits for input.
    thread::Builder::new()
        .spawn(move || {
            if let Err(e) = answer(&options, &greeting, &queue, gifts) {
                // If nobody receives this, the input has ended already.
                let _ = worker_ended.send(Err(Error::io("talk to the run", "standard output", e)));
            }
        })
        .map_err(start)?;
    thread::Builder::new()
        .spawn(move || {
            // Whatever ended the input, the run sends nothing more.
            let _ = listen(&requests, &gift);
            let _ = ended.send(Ok(()));
        })
        .map_err(start)?;
    end.recv().unwrap_or(Ok(()))
}

/// Returns what a process says first, and what the run expects it to say.
pub(super) fn hello(options: &PackOptions) -> Result<Hello> {
    Ok(Hello { tool: TOOL.into(), ffmpeg: video::ffmpeg_version(), settings: options.settings()? })
}

/// Takes requests, and what the run gives, until the input ends.
fn listen(requests: &Sender<Request>, gifts: &Sender<Gift>) -> io::Result<()> {
    let mut input = input()?;
    while let Some(order) = wire::receive(&mut input)? {
        let heard = match order {
            Order::Pack(request) => requests.send(*request).is_ok(),
            Order::Take(given) => gifts.send(gift(given, &mut input)?).is_ok(),
        };
        if !heard {
            // The worker has already said why it ended.
            loop {
                thread::park();
            }
        }
    }
    Ok(())
}

/// Reads what came with the message.
fn gift(given: Given, input: &mut BufReader<Input>) -> io::Result<Gift> {
    let bytes = match given {
        Given::Bytes => wire::receive_bytes(input, u32::MAX)?.ok_or(io::ErrorKind::UnexpectedEof)?,
        _ => Vec::new(),
    };
    #[cfg(unix)]
    let file = matches!(given, Given::File(_)).then(|| input.get_mut().take_file()).flatten();
    #[cfg(not(unix))]
    let file = None;
    Ok((given, file, bytes))
}

#[cfg(unix)]
type Input = super::work::FileReceiver;

#[cfg(unix)]
fn input() -> io::Result<BufReader<Input>> {
    use std::os::fd::AsFd;
    Ok(BufReader::new(Input::new(io::stdin().as_fd().try_clone_to_owned()?)))
}

/// Standard output, as bytes.
struct Output;

impl Write for Output {
    #[cfg(unix)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(io::stdout(), bytes)?)
    }

    #[cfg(not(unix))]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

#[cfg(not(unix))]
type Input = io::Stdin;

#[cfg(not(unix))]
fn input() -> io::Result<BufReader<Input>> {
    Ok(BufReader::new(io::stdin()))
}

fn answer(
    options: &PackOptions,
    greeting: &Greeting,
    queue: &Receiver<Request>,
    gifts: Receiver<Gift>,
) -> io::Result<()> {
    // Write seldom and much, because each write may wake the run. Standard output itself would search for ends of
    // lines.
    let line = Line::new(Box::new(BufWriter::with_capacity(wire::READ_BYTES, Output)), gifts);
    line.say(|mut out| wire::send(&mut out, greeting))?;
    let (memory, open) = (MemoryBound::of_run(&line), Arc::new(OpenVideos::new(1)));
    for request in queue {
        let store = VideoStore::of_run(&line, request.folder, &open);
        let recipe = options.recipe(&store, (&request.tracks, request.channels));
        let recipe = ClipRecipe { measure: request.measure, shared: request.shared, ..recipe };
        let packed = pack_one(&request.job, recipe, &mut memory.hold(), request.alone);
        line.say(|mut out| wire::send_reply(&mut out, packed))?;
    }
    Ok(())
}
