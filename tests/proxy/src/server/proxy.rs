//! Another server, forwarded.

use std::io::{self, Write};

use super::backend::{Backend, Upload};
use super::running::Server;
use crate::wire::{Answer, Body, Framing, Request, Socket};

/// Fields that belong to one connection, not to what it carries.
const OF_CONNECTION: [&str; 5] = ["Connection", "Keep-Alive", "Proxy-Connection", "Expect", "Upgrade"];

/// A server in front of another one. `Host` goes through as it came, for signatures may cover it.
#[derive(Debug, Clone)]
pub struct Proxy {
    to: String,
}

impl Proxy {
    /// Forwards to the server at `to` from an address, as `127.0.0.1:0`, where 0 is any free port.
    ///
    /// # Errors
    ///
    /// If the address cannot be had, or no thread. Whether the other server is there shows when requests come: 502 if not.
    pub fn start(to: &str, listen: &str) -> io::Result<Server> {
        let proxy = Self { to: to.to_owned() };
        Server::start(listen, move || Upstream { proxy: proxy.clone(), idle: None, body: None })
    }
}

/// The other server as one connection sees it.
struct Upstream {
    proxy: Proxy,
    /// A connection on which the last answer was read to its end.
    idle: Option<Socket>,
    body: Option<(Socket, Body, bool)>,
}

impl Upstream {
    fn ask(&mut self, mut socket: Socket, request: &Request, upload: &mut Upload<'_>) -> io::Result<Answer> {
        let framing = Framing::of_request(request);
        let mut head = request.clone();
        OF_CONNECTION.iter().for_each(|name| head.fields.remove(name));
        socket.write_all(&head.bytes())?;
        if !upload.ended() {
            forward(&mut socket, framing, upload)?;
        }
        let mut answer = loop {
            let head = socket.head()?.ok_or(io::ErrorKind::UnexpectedEof)?;
            let answer = Answer::parse(&head)?;
            if answer.status >= 200 {
                break answer;
            }
        };
        let framing = Framing::of_answer(&request.method, &answer);
        let keeps = framing != Framing::UntilClosed && !answer.fields.says("Connection", "close");
        OF_CONNECTION.iter().for_each(|name| answer.fields.remove(name));
        self.body = Some((socket, Body::new(framing), keeps));
        self.put_away();
        Ok(answer)
    }

    /// Keeps the connection for the next request once the body was read to its end.
    fn put_away(&mut self) {
        if let Some((socket, _, keeps)) = self.body.take_if(|(_, body, _)| body.ended()) {
            self.idle = Some(socket).filter(|_| keeps);
        }
    }
}

impl Backend for Upstream {
    fn answer(&mut self, request: &Request, upload: &mut Upload<'_>) -> io::Result<Answer> {
        // A body of which something is left makes its connection useless.
        self.body = None;
        if let Some(idle) = self.idle.take() {
            // The other server may have closed it by now. Then a request without a body is asked again.
            let without_body = upload.ended();
            match self.ask(idle, request, upload) {
                Err(_) if without_body => {}
                answer => return answer,
            }
        }
        self.ask(Socket::connect(&self.proxy.to)?, request, upload)
    }

    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some((socket, body, _)) = &mut self.body else { return Ok(0) };
        let read = body.read(socket, out)?;
        self.put_away();
        Ok(read)
    }
}

/// Sends the body of a request on, framed as it came.
fn forward(socket: &mut Socket, framing: Framing, upload: &mut Upload<'_>) -> io::Result<()> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        let read = upload.read(&mut buffer)?;
        if framing == Framing::Chunked {
            socket.write_all(format!("{read:x}\r\n").as_bytes())?;
        }
        socket.write_all(&buffer[..read])?;
        if framing == Framing::Chunked {
            socket.write_all(b"\r\n")?;
        }
        if read == 0 {
            return Ok(());
        }
    }
}
