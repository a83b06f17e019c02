//! Sending an answer.

use std::io::{self, Write};
use std::thread::sleep;

use super::backend::Backend;
use super::reply::{Ending, Reply, Source};
use super::shared::Shared;
use crate::journal::Entry;
use crate::link;
use crate::wire::Socket;

/// What becomes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    Next,
    Close,
    Reset,
}

/// Sends all of it, or as much as its fault lets through.
pub fn send(
    mut reply: Reply,
    shared: &Shared,
    backend: &mut impl Backend,
    client: &mut Socket,
    entry: &Entry<'_>,
    buffer: &mut Vec<u8>,
) -> io::Result<After> {
    let without_body = reply.length == Some(0) && reply.ending == Ending::Whole;
    shared.link.wait_to_send(reply.head.len());
    client.write_all(&reply.head)?;
    if !without_body {
        send_body(&mut reply, shared, backend, client, entry, buffer)?;
    }
    Ok(match reply.ending {
        Ending::Whole => After::Next,
        Ending::Reset(_) => After::Reset,
        Ending::Close(_) | Ending::Zeros => After::Close,
        Ending::Stall(_) => {
            client.wait_for_end();
            After::Close
        }
    })
}

fn send_body(
    reply: &mut Reply,
    shared: &Shared,
    backend: &mut impl Backend,
    client: &mut Socket,
    entry: &Entry<'_>,
    buffer: &mut Vec<u8>,
) -> io::Result<()> {
    let end = match reply.ending {
        Ending::Whole | Ending::Zeros => u64::MAX,
        Ending::Stall(after) | Ending::Reset(after) | Ending::Close(after) => after,
    };
    let mut sent = 0;
    let chunked = reply.length.is_none();
    loop {
        let piece = piece(reply, shared, end - sent);
        buffer.resize(buffer.len().max(piece), 0);
        let read = read(reply, backend, &mut buffer[..piece], sent)?;
        if read == 0 {
            break;
        }
        let bytes = &mut buffer[..read];
        if let Some(at) = reply.flipped.and_then(|at| at.checked_sub(sent)).filter(|at| *at < read as u64) {
            bytes[usize::try_from(at).unwrap_or(0)] ^= 1;
        }
        shared.link.wait_to_send(read);
        sleep(reply.bits_per_second.map(|rate| link::transfer_time(read, rate)).unwrap_or_default());
        sent += read as u64;
        counted_write(client, entry, bytes, chunked)?;
    }
    if chunked && reply.ending == Ending::Whole {
        client.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

/// How many bytes to send next.
fn piece(reply: &Reply, shared: &Shared, left: u64) -> usize {
    let slow = reply.bits_per_second.map_or(u64::MAX, |rate| (rate / 8 / 50).max(1));
    let most = left.min(slow);
    usize::try_from(most).unwrap_or(usize::MAX).min(shared.link.piece())
}

fn read(reply: &mut Reply, backend: &mut impl Backend, out: &mut [u8], sent: u64) -> io::Result<usize> {
    let read = match &reply.source {
        Source::Backend => backend.read(out)?,
        Source::Bytes(bytes) => {
            let rest = bytes.get(usize::try_from(sent).unwrap_or(usize::MAX)..).unwrap_or_default();
            let length = rest.len().min(out.len());
            out[..length].copy_from_slice(&rest[..length]);
            length
        }
    };
    if read == 0 && reply.ending == Ending::Zeros {
        out.fill(0);
        return Ok(out.len());
    }
    Ok(read)
}

fn counted_write(client: &mut Socket, entry: &Entry<'_>, bytes: &[u8], chunked: bool) -> io::Result<()> {
    let count = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    entry.sent(count);
    let written = if chunked {
        let start = format!("{:x}\r\n", bytes.len());
        client
            .write_all(start.as_bytes())
            .and_then(|()| client.write_all(bytes))
            .and_then(|()| client.write_all(b"\r\n"))
    } else {
        client.write_all(bytes)
    };
    if written.is_err() {
        entry.sent(-count);
    }
    written
}
