//! A connection of a client.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use socket2::{SockRef, Socket};
use tokio::net::TcpStream;

pub struct Connection {
    pub socket: Socket,
    had_request: AtomicBool,
}

impl Connection {
    pub fn of(stream: &TcpStream) -> io::Result<Self> {
        Ok(Self { socket: SockRef::from(stream).try_clone()?, had_request: AtomicBool::new(false) })
    }

    /// Whether this is the first time that this is asked.
    pub fn is_new(&self) -> bool {
        !self.had_request.swap(true, SeqCst)
    }

    /// Lets the connection end in a reset, with this error.
    pub fn reset(&self) -> io::Error {
        let set = self.socket.set_linger(Some(Duration::ZERO));
        set.err().unwrap_or_else(|| io::ErrorKind::ConnectionReset.into())
    }
}
