//! Writes a file as an object, in parts if it is long. Only a few parts are in memory at a time.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::multipart::{MultipartStore, PartId};
use object_store::{PutMode, PutPayload};
use sha2::{Digest, Sha256};

use super::bucket::Bucket;
use super::failure::Kind;
use super::pending::Pending;
use super::request::{Operation, Request, StoreClient, if_found};
use crate::stop;
use crate::store::disk::regular_file::{Links, open_regular};
use vidrec_format::allocation;
use vidrec_format::error::{Error, ErrorKind, Result};

/// Files up to this length are written with one request, and longer ones in parts of this length.
const PART_BYTES: u64 = 8 << 20;
/// The most parts that S3 accepts for an object.
const MOST_PARTS: u64 = 10_000;
/// Parts in flight at a time, and the limit of their bytes in all when they are longer than usual.
const AT_A_TIME: u64 = 6;
const BYTES_AT_A_TIME: u64 = 256 << 20;
/// The time limit for removing the parts of an upload that was interrupted.
const LAST_WORD: Duration = Duration::from_millis(500);
/// The time limit for closing the connection of a request that is aborted.
const CLOSING: Duration = Duration::from_secs(10);

/// Gets the number of bytes that the server has received since the last call, and 0 at intervals. An error ends the upload.
type Progress<'a> = &'a mut dyn FnMut(u64) -> Result<()>;
/// Compares the SHA-256 of all bytes with what they should be.
type Prove<'a> = &'a dyn Fn([u8; 32]) -> Result<()>;

impl Bucket {
    /// Writes a file as an object, and replaces an existing one. The object appears when it is complete, and only if
    /// `prove` accepts the SHA-256 of its bytes. `progress` gets the number of bytes that the server has received since the
    /// last call, and 0 at intervals. An error from `progress` ends the upload.
    pub fn upload(&self, name: &str, path: &Path, prove: Prove<'_>, progress: Progress<'_>) -> Result<()> {
        progress(0)?;
        let file = open_regular(path, Links::Follow)?;
        let length = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?.len();
        let mut from = Source { file, path, digest: Sha256::new() };
        if length <= PART_BYTES {
            let payload = PutPayload::from(from.next(length)?);
            prove(from.digest.finalize().into())?;
            let (client, request) = (self.client()?, self.request(name, Operation::Write, length)?);
            let put = async move { client.put(&request, &payload, PutMode::Overwrite).await.map(drop) };
            self.wait(&Pending::start(put)?, length, Some(&mut || progress(0)))?;
            return progress(length);
        }
        let mut upload = PartsUpload::begin(self, name, progress)?;
        let written = upload.write(&mut from, length, progress);
        let proven = written.and_then(|()| prove(from.digest.finalize().into()));
        proven.and_then(|()| upload.complete(length, progress)).map_err(|e| upload.abort(e))
    }
}

/// A file that is read once.
struct Source<'a> {
    file: File,
    path: &'a Path,
    digest: Sha256,
}

impl Source<'_> {
    fn next(&mut self, bytes: u64) -> Result<Vec<u8>> {
        let mut part = Vec::new();
        allocation::resize(&mut part, usize::try_from(bytes).unwrap_or(usize::MAX), 0, "a part of a file")?;
        self.file.read_exact(&mut part).map_err(|e| Error::io("read the file", self.path, e))?;
        self.digest.update(&part);
        Ok(part)
    }
}

/// An object that is being written in parts.
struct PartsUpload<'a> {
    bucket: &'a Bucket,
    client: Arc<StoreClient>,
    name: &'a str,
    store: Arc<dyn MultipartStore>,
    id: String,
    /// Parts that are being sent, with their lengths.
    pending: VecDeque<(Pending<PartId>, u64)>,
    done: Vec<PartId>,
}

impl<'a> PartsUpload<'a> {
    fn begin(bucket: &'a Bucket, name: &'a str, progress: Progress<'_>) -> Result<Self> {
        let client = bucket.client()?;
        let store = client.api.parts.clone().ok_or_else(|| Error::internal("a web server that is written to"))?;
        let (request, of_request, parts) = (bucket.request(name, Operation::Write, 0)?, client.clone(), store.clone());
        let id =
            Pending::start(async move { of_request.run(&request, || parts.create_multipart(&request.key)).await })?;
        let id = bucket.wait(&id, 0, Some(&mut || progress(0)))?;
        Ok(PartsUpload { bucket, client, name, store, id, pending: VecDeque::new(), done: Vec::new() })
    }

    fn write(&mut self, from: &mut Source<'_>, length: u64, progress: Progress<'_>) -> Result<()> {
        let size = part_bytes(length);
        let at_a_time = (BYTES_AT_A_TIME / size).clamp(1, AT_A_TIME) as usize;
        for (number, at) in (0..length).step_by(size as usize).enumerate() {
            if self.pending.len() >= at_a_time {
                self.take_one(progress)?;
            }
            self.start(number, from.next(size.min(length - at))?)?;
        }
        while !self.pending.is_empty() {
            self.take_one(progress)?;
        }
        Ok(())
    }

    fn start(&mut self, number: usize, part: Vec<u8>) -> Result<()> {
        let length = part.len() as u64;
        let (client, request) = (self.client.clone(), self.bucket.request(self.name, Operation::Write, length)?);
        let (store, id, payload) = (self.store.clone(), self.id.clone(), PutPayload::from(part));
        let pending = Pending::start(async move {
            client.run(&request, || store.put_part(&request.key, &id, number, payload.clone())).await
        })?;
        self.pending.push_back((pending, length));
        Ok(())
    }

    /// Waits for the part that was sent first.
    fn take_one(&mut self, progress: Progress<'_>) -> Result<()> {
        let Some((pending, length)) = self.pending.front() else { return Ok(()) };
        self.done.push(self.bucket.wait(pending, *length, Some(&mut || progress(0)))?);
        let length = *length;
        self.pending.pop_front();
        progress(length)
    }

    /// Completes the upload, so that the object appears.
    fn complete(&mut self, length: u64, progress: Progress<'_>) -> Result<()> {
        let (client, request) = (self.client.clone(), self.bucket.request(self.name, Operation::Write, 0)?);
        let (store, id, parts) = (self.store.clone(), self.id.clone(), self.done.clone());
        let completed = Pending::start(async move {
            match client.run(&request, || store.complete_multipart(&request.key, &id, parts.clone())).await {
                Err(e) if e.is(Kind::NotFound) => {
                    // If the answer to an earlier try was lost, the object exists, and the parts are gone.
                    let look = Request { operation: Operation::Read, ..request.clone() };
                    let is_there = e.tries > 1 && client.look(&look).await?.is_some_and(|found| found.size == length);
                    let lost =
                        || request.failed("the server lost the uploaded parts", "run the same command again", e.tries);
                    is_there.then_some(()).ok_or_else(lost)
                }
                other => other.map(drop),
            }
        })?;
        self.bucket.wait(&completed, 0, Some(&mut || progress(0)))
    }

    /// Removes the parts after an error. If that fails, adds this to the error.
    fn abort(&mut self, e: Error) -> Error {
        // The parts of interrupted work are removed, too, but the wait for that is short.
        let most = if e.kind() == ErrorKind::Interrupted { LAST_WORD } else { Duration::MAX };
        match stop::within(&None, || self.abort_within(most)) {
            Ok(()) => e,
            Err(other) => e.also_help(format!(
                "the uploaded parts of {} could not be removed, and may be charged for ({other})",
                self.bucket.path(self.name).display()
            )),
        }
    }

    fn abort_within(&mut self, most: Duration) -> Result<()> {
        // A part that is still in flight could arrive after the removal.
        self.pending.iter().for_each(|(pending, _)| pending.abort());
        self.pending.iter().for_each(|(pending, _)| _ = pending.is_over_within(CLOSING));
        let (client, request) = (self.client.clone(), self.bucket.request(self.name, Operation::Remove, 0)?);
        let (store, id) = (self.store.clone(), self.id.clone());
        let aborted = Pending::start(async move {
            if_found(client.run(&request, || store.abort_multipart(&request.key, &id)).await).map(drop)
        })?;
        let begin = Instant::now();
        let late = || Error::interrupted("the server did not answer in time");
        self.bucket.wait(&aborted, 0, Some(&mut || if begin.elapsed() < most { Ok(()) } else { Err(late()) }))
    }
}

/// The length of the parts of an object. It is larger than usual if there would be too many parts.
fn part_bytes(length: u64) -> u64 {
    PART_BYTES.max(length.div_ceil(MOST_PARTS).next_multiple_of(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_too_many_parts() {
        assert_eq!(part_bytes(PART_BYTES + 1), PART_BYTES);
        for length in [79 << 30, 1 << 40, 5 << 40] {
            let size = part_bytes(length);
            assert!(length.div_ceil(size) <= MOST_PARTS && size <= 1 << 30, "{length}: {size}");
        }
    }
}
