//! A worker's connection to its run, which opens files and shares out memory, because a worker may do neither.

use std::fs::File;
use std::io::{self, BufReader, Stdin};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use super::messages::{self, Answer, Ask, Channel, Greeting, PackResult, Request};
use crate::video::{Stage, VideoError};
use vidrec_format::error::Error;

/// The connection to the run.
#[derive(Debug)]
pub(crate) struct RunClient(Mutex<BufReader<Channel<Stdin>>>);

impl RunClient {
    /// Connects over standard input, and greets the run.
    pub fn connect(greeting: &Greeting) -> io::Result<Arc<Self>> {
        let mut channel = Channel::new(io::stdin());
        channel.get_mut().send(greeting, None)?;
        Ok(Arc::new(RunClient(Mutex::new(channel))))
    }

    /// Returns the next video to pack; `None` when the run ends.
    pub fn next(&self) -> io::Result<Option<Request>> {
        messages::receive(&mut *self.0.lock())
    }

    /// Returns the result of a video.
    pub fn reply(&self, packed: PackResult) -> io::Result<()> {
        messages::send_packed(self.0.lock().get_mut(), packed)
    }

    /// Waits until there is room for this many bytes of memory.
    pub fn reserve(&self, bytes: u64) {
        // If the run has ended, this process ends too.
        let _ = self.ask(Ask::Memory(bytes));
    }

    /// Returns an open file that the job names, and its length; `None` if it is not a regular file.
    pub fn file(&self, path: &Path) -> Result<io::Result<Option<(File, u64)>>, VideoError> {
        let unexpected = |answer| io::Error::new(io::ErrorKind::InvalidData, format!("the run answered {answer:?}"));
        Ok(match self.ask(Ask::File(path.into())) {
            Ok((Answer::File(length), Some(file))) => Ok(Some((file, length))),
            // The file did arrive, but this process may not have more files open.
            Ok((Answer::File(_), None)) => Err(io::Error::from_raw_os_error(libc::EMFILE)),
            Ok((Answer::NoFile, _)) => Ok(None),
            Ok((Answer::SystemError(code), _)) => Err(io::Error::from_raw_os_error(code)),
            Ok((Answer::Failed(failure), _)) => return Err(failure.into()),
            Ok((answer @ Answer::Memory, _)) => Err(unexpected(answer)),
            Err(e) => {
                let e = Error::io("ask the run", "standard input", e).without_file();
                return Err(VideoError::new(Stage::Open, e));
            }
        })
    }

    fn ask(&self, ask: Ask) -> io::Result<(Answer, Option<File>)> {
        let mut channel = self.0.lock();
        messages::send_ask(channel.get_mut(), ask)?;
        let answer = messages::receive(&mut *channel)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let file = matches!(answer, Answer::File(_)).then(|| channel.get_mut().take_file()).flatten();
        Ok((answer, file))
    }
}
