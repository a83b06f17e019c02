//! Writes an object in parts. Only a few parts are in memory at a time.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{AbortHandle, Abortable};
use object_store::multipart::{MultipartStore, PartId};
use object_store::{PutMode, PutPayload};

use super::bucket::Bucket;
use super::failure::Kind;
use super::promise::Pending;
use super::request::{Doing, FetchError, Link, Task};
use crate::stop;
use crate::store::disk::regular_file::{Links, open_regular};
use vidrec_format::error::{Error, ErrorKind, Result};

/// Objects up to this length are written with one request, and longer ones in parts of this length.
const PIECE_BYTES: u64 = 8 << 20;
/// The most parts that S3 accepts for an object.
const MOST_PIECES: u64 = 10_000;
/// Parts in flight at a time, and the limit of their bytes in all when they are longer than usual.
const AT_A_TIME: usize = 6;
const BYTES_AT_A_TIME: u64 = 256 << 20;
/// How often a waiting caller is called back.
const TICK: Duration = Duration::from_millis(100);
/// How long the server may take to remove the parts of an upload that was interrupted.
const LAST_WORD: Duration = Duration::from_millis(500);

/// A source of bytes to upload.
pub trait Pieces {
    /// The number of bytes in all.
    fn bytes(&self) -> u64;
    /// Returns the next `bytes` bytes.
    fn next(&mut self, bytes: usize) -> Result<Vec<u8>>;
    /// Checks that all bytes were right. The error says what is wrong. Called before the object appears.
    fn finish(&mut self) -> Result<()>;
}

impl Bucket {
    /// Writes an object piece by piece, and replaces an existing one. The object appears when it is complete, and
    /// only if `from` is right to its end. It passes `told` the number of bytes that the server has received since
    /// the last call, and 0 at intervals. An error from `told` ends the upload.
    pub fn upload_pieces(&self, name: &str, from: &mut dyn Pieces, told: Told<'_>) -> Result<()> {
        upload(self, name, from, told)
    }

    /// Writes a file as an object, as [`upload_pieces`](Self::upload_pieces) does.
    pub fn upload(&self, name: &str, file: &Path, told: Told<'_>) -> Result<()> {
        self.upload_pieces(name, &mut FilePieces::open(file)?, told)
    }
}

/// Reads a file of this machine.
struct FilePieces {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl FilePieces {
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_regular(path, Links::Follow)?;
        let bytes = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?.len();
        Ok(FilePieces { path: path.to_owned(), file, bytes })
    }
}

impl Pieces for FilePieces {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn next(&mut self, bytes: usize) -> Result<Vec<u8>> {
        let mut piece = Vec::new();
        piece.try_reserve_exact(bytes).map_err(|_| Error::no_memory("a part of a file", bytes))?;
        piece.resize(bytes, 0);
        self.file.read_exact(&mut piece).map_err(|e| Error::io("read the file", &self.path, e))?;
        Ok(piece)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

pub(super) type Told<'a> = &'a mut dyn FnMut(u64) -> Result<()>;

/// Writes an object from its pieces, and replaces an existing one.
fn upload(bucket: &Bucket, name: &str, from: &mut dyn Pieces, told: Told<'_>) -> Result<()> {
    told(0)?;
    let length = from.bytes();
    if length <= PIECE_BYTES {
        let bytes = from.next(length as usize)?;
        from.finish()?;
        let payload = PutPayload::from(bytes);
        let task = bucket.task(name, Doing::Write, length)?;
        let sent = Sent::start(bucket, length, |link| async move {
            link.put(&task, &payload, PutMode::Overwrite).await.map(drop)
        })?;
        sent.wait(bucket, told)?;
        return told(length);
    }
    let mut object = InPieces::begin(bucket, name, told)?;
    match object.write(from, told).and_then(|()| object.complete(length, told)) {
        Ok(()) => Ok(()),
        Err(e) => Err(object.abort(e)),
    }
}

/// An object that is being written in parts.
struct InPieces<'a> {
    bucket: &'a Bucket,
    name: &'a str,
    parts: Arc<dyn MultipartStore>,
    id: String,
    on_way: VecDeque<Sent<PartId>>,
    done: Vec<PartId>,
}

impl<'a> InPieces<'a> {
    fn begin(bucket: &'a Bucket, name: &'a str, told: Told<'_>) -> Result<Self> {
        let Some(parts) = bucket.link()?.client.parts.clone() else {
            return Err(Error::usage("the store does not support uploads in parts").file(bucket.path(name)));
        };
        let (task, store) = (bucket.task(name, Doing::Write, 0)?, parts.clone());
        let id = Sent::start(bucket, 0, |link| async move {
            link.run(&task, || async { Ok(store.create_multipart(&task.key).await?) }).await
        })?;
        let id = id.wait(bucket, told)?;
        Ok(InPieces { bucket, name, parts, id, on_way: VecDeque::new(), done: Vec::new() })
    }

    fn write(&mut self, from: &mut dyn Pieces, told: Told<'_>) -> Result<()> {
        let size = size_of_pieces(from.bytes());
        let at_a_time = usize::try_from(BYTES_AT_A_TIME / size).unwrap_or(1).clamp(1, AT_A_TIME);
        let mut left = from.bytes();
        for number in 0.. {
            if left == 0 {
                break;
            }
            if self.on_way.len() >= at_a_time {
                self.take_one(told)?;
            }
            let length = left.min(size);
            let piece = from.next(usize::try_from(length).map_err(|_| Error::limit("the part is too long"))?)?;
            self.start(number, piece)?;
            left -= length;
        }
        from.finish()?;
        while !self.on_way.is_empty() {
            self.take_one(told)?;
        }
        Ok(())
    }

    fn start(&mut self, number: usize, piece: Vec<u8>) -> Result<()> {
        let length = piece.len() as u64;
        let task = self.bucket.task(self.name, Doing::Write, length)?;
        let (store, id, payload) = (self.parts.clone(), self.id.clone(), PutPayload::from(piece));
        let sent = Sent::start(self.bucket, length, |link| async move {
            link.run(&task, || async { Ok(store.put_part(&task.key, &id, number, payload.clone()).await?) }).await
        })?;
        self.on_way.push_back(sent);
        Ok(())
    }

    /// Waits for the part that was sent first.
    fn take_one(&mut self, told: Told<'_>) -> Result<()> {
        let Some(sent) = self.on_way.pop_front() else { return Ok(()) };
        let bytes = sent.bytes;
        self.done.push(sent.wait(self.bucket, told)?);
        told(bytes)
    }

    /// Completes the upload, so that the object appears.
    fn complete(&mut self, length: u64, told: Told<'_>) -> Result<()> {
        let task = self.bucket.task(self.name, Doing::Write, 0)?;
        let (store, id, parts) = (self.parts.clone(), self.id.clone(), self.done.clone());
        let sent = Sent::start(self.bucket, 0, |link| async move {
            let made =
                link.run(&task, || async { Ok(store.complete_multipart(&task.key, &id, parts.clone()).await?) }).await;
            match made {
                // The answer to an earlier try was lost: the object exists, and the parts are gone.
                Err(e) if e.is(Kind::NotFound) && e.tries() > 1 && link.has_length(&task, length).await? => Ok(()),
                Err(e) if e.is(Kind::NotFound) => {
                    let what = "the server lost the uploaded parts";
                    Err(task.failed(what, "run the same command again", e.tries()))
                }
                other => other.map(drop),
            }
        })?;
        sent.wait(self.bucket, told)
    }

    /// Removes the parts after an error. If that fails, adds this to the error.
    fn abort(self, e: Error) -> Error {
        // The parts of interrupted work are removed, too, but the wait for that is short.
        let most = if e.kind() == ErrorKind::Interrupted { LAST_WORD } else { Duration::MAX };
        stop::within(&None, || self.abort_within(most, e))
    }

    fn abort_within(mut self, most: Duration, e: Error) -> Error {
        // A part that is still in flight could arrive after the removal.
        self.on_way.drain(..).for_each(|sent| sent.end());
        let aborted = self.bucket.task(self.name, Doing::Remove, 0).and_then(|task| {
            let (store, id) = (self.parts.clone(), self.id.clone());
            let sent = Sent::start(self.bucket, 0, |link| async move {
                match link.run(&task, || async { Ok(store.abort_multipart(&task.key, &id).await?) }).await {
                    Err(e) if e.is(Kind::NotFound) => Ok(()),
                    other => other,
                }
            })?;
            let begin = Instant::now();
            let late = || Error::interrupted("the server did not answer in time");
            sent.wait(self.bucket, &mut |_| if begin.elapsed() < most { Ok(()) } else { Err(late()) })
        });
        match aborted {
            Ok(()) => e,
            Err(other) => e.also_help(format!(
                "the uploaded parts of {} could not be removed, and may be charged for ({other})",
                self.bucket.path(self.name).display()
            )),
        }
    }
}

/// A request in flight that can be aborted.
struct Sent<T> {
    pending: Pending<T>,
    handle: AbortHandle,
    bytes: u64,
}

impl<T: Clone + Send + 'static> Sent<T> {
    fn start<F>(bucket: &Bucket, bytes: u64, work: impl FnOnce(Arc<Link>) -> F) -> Result<Self>
    where
        F: Future<Output = Result<T, FetchError>> + Send + 'static,
    {
        let (handle, registration) = AbortHandle::new_pair();
        let work = Abortable::new(work(bucket.link()?), registration);
        let location = bucket.location().to_owned();
        let work = async move { work.await.unwrap_or_else(|_| Err(FetchError::lost(&location))) };
        Ok(Sent { pending: bucket.remote.start(work)?, handle, bytes })
    }

    fn wait(self, bucket: &Bucket, told: Told<'_>) -> Result<T> {
        while !self.pending.is_over_within(TICK) {
            if let Err(e) = told(0).and_then(|()| stop::check()) {
                self.end();
                return Err(e);
            }
        }
        bucket.wait(&self.pending, self.bytes)
    }

    fn end(&self) {
        self.handle.abort();
        // The connection is closed when the task is over.
        self.pending.is_over_within(Duration::from_secs(10));
    }
}

impl Link {
    async fn has_length(&self, task: &Task, length: u64) -> Result<bool, FetchError> {
        let task = Task { doing: Doing::Read, ..task.clone() };
        Ok(self.look(&task).await?.is_some_and(|found| found.bytes == length))
    }
}

/// The length of the parts of an object. It is larger than usual if there would be too many parts.
fn size_of_pieces(length: u64) -> u64 {
    const STEP: u64 = 1 << 20;
    PIECE_BYTES.max(length.div_ceil(MOST_PIECES).div_ceil(STEP) * STEP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_too_many_parts() {
        assert_eq!(size_of_pieces(PIECE_BYTES + 1), PIECE_BYTES);
        for length in [79 << 30, 1 << 40, 5 << 40] {
            let size = size_of_pieces(length);
            assert!(length.div_ceil(size) <= MOST_PIECES && size <= 1 << 30, "{length}: {size}");
        }
    }
}
