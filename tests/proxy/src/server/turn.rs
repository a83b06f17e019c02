//! A request and its answer, one after the other.

use std::io;

use super::backend::{Backend, Upload};
use super::reply::Reply;
use super::send::{After, send};
use super::shared::Shared;
use crate::wire::{Request, Socket};

/// Answers the requests of a connection until it ends.
pub fn all(shared: &Shared, backend: &mut impl Backend, mut client: Socket) -> io::Result<()> {
    let mut buffer = Vec::new();
    let mut first = true;
    while let Some(head) = client.head()? {
        let request = Request::parse(&head)?;
        match one(shared, backend, &mut client, &request, std::mem::take(&mut first), &mut buffer)? {
            After::Next if request.fields.says("Connection", "close") => break,
            After::Next => {}
            After::Close => break,
            After::Reset => return client.reset(),
        }
    }
    Ok(())
}

fn one(
    shared: &Shared,
    backend: &mut impl Backend,
    client: &mut Socket,
    request: &Request,
    first: bool,
    buffer: &mut Vec<u8>,
) -> io::Result<After> {
    let fault = shared.rules.choose(request);
    let entry = shared.journal.begin(request);
    shared.link.wait_for_latency(first);
    let mut upload = Upload::new(client, request);
    let reply = Reply::make(fault.as_ref(), request, backend, &mut upload)?;
    if !reply.ends_request() {
        upload.drain()?;
    }
    if reply.faulty {
        entry.is_faulty();
    }
    send(reply, shared, backend, client, &entry, buffer)
}
