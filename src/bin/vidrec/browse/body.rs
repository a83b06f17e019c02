//! Answers that are sent piece by piece, so that a file of any size takes little memory.

use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::spawn_blocking;
use vidrec::Error;

use super::files::File;

/// The most bytes that are read at a time.
const PIECE: u64 = 1 << 20;

/// The contents of an answer.
#[derive(Default)]
pub struct Content {
    first: Option<Bytes>,
    /// What follows the first piece.
    others: Option<Receiver<Result<Vec<u8>, Error>>>,
    /// The bytes that were not sent yet.
    left: u64,
    /// What is shared until the answer is sent, or given up.
    _shared: Option<Arc<AtomicU64>>,
}

impl Content {
    pub fn of(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Content { left: bytes.len() as u64, first: Some(bytes), ..Content::default() }
    }

    /// Shares something until the answer is sent, or given up.
    pub fn shares(self, shared: Arc<AtomicU64>) -> Self {
        Content { _shared: Some(shared), ..self }
    }

    /// A part of a file. The first piece is read before this returns, so that an error becomes one of the request.
    pub async fn part(file: Arc<File>, range: Range<u64>) -> Result<Self, Error> {
        let left = range.end - range.start;
        let first = range.start..range.end.min(range.start + PIECE);
        let others = first.end..range.end;
        let reader = file.clone();
        let read = spawn_blocking(move || reader.read(first)).await;
        let first = read.map_err(|_| Error::internal("a read of a file has panicked"))??;
        let others = (!others.is_empty()).then(|| pieces(file, others));
        Ok(Content { first: Some(first.into()), others, left, _shared: None })
    }
}

/// Reads pieces ahead of what is sent, until one cannot be read or nobody takes them.
fn pieces(file: Arc<File>, range: Range<u64>) -> Receiver<Result<Vec<u8>, Error>> {
    let (send, pieces) = mpsc::channel(1);
    spawn_blocking(move || {
        for start in range.clone().step_by(PIECE as usize) {
            let piece = file.read(start..range.end.min(start + PIECE));
            let is_last = piece.is_err();
            if send.blocking_send(piece).is_err() || is_last {
                return;
            }
        }
    });
    pieces
}

impl Body for Content {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let next = match (self.first.take(), self.others.as_mut()) {
            (Some(first), _) => Poll::Ready(Some(Ok(first))),
            (None, Some(others)) => others.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Bytes::from))),
            (None, None) => Poll::Ready(None),
        };
        next.map(|piece| {
            piece.map(|piece| {
                let bytes = piece?;
                self.left = self.left.saturating_sub(bytes.len() as u64);
                Ok(Frame::data(bytes))
            })
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
