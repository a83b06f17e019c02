//! A server that runs.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use super::backend::Backend;
use super::shared::Shared;
use super::turn;
use crate::fault::Rules;
use crate::journal::{Counts, Exchange};
use crate::link::Link;
use crate::wire::Socket;

/// A running server, which stops when this is dropped. Connections that are open then are cut.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<thread::JoinHandle<()>>,
}

impl Server {
    pub(super) fn start<B: Backend>(listen: &str, backend: impl Fn() -> B + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(listen)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new());
        let of_acceptor = Arc::clone(&shared);
        let acceptor = thread::Builder::new()
            .name("accept".to_owned())
            .spawn(move || accept(&listener, &of_acceptor, &Arc::new(backend)))?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://` and the address, without a slash behind it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its faults: none at first.
    pub fn rules(&self) -> &Rules {
        &self.shared.rules
    }

    /// Latency and bandwidth of all its answers.
    pub fn link(&self) -> &Link {
        &self.shared.link
    }

    /// What it did since it started, or since [`Server::reset_counts`].
    pub fn counts(&self) -> Counts {
        self.shared.journal.counts()
    }

    /// Takes the log of requests, in the order in which they arrived; it starts anew.
    pub fn take_log(&self) -> Vec<Exchange> {
        self.shared.journal.take_log()
    }

    /// Whether it keeps a log, which grows with each request. Default: yes.
    pub fn keep_log(&self, keep: bool) {
        self.shared.journal.keep_log(keep);
    }

    /// Counts and log start anew.
    pub fn reset_counts(&self) {
        self.shared.journal.reset();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(acceptor) = self.acceptor.take().filter(|_| woken) {
            // Its panic was printed.
            let _ = acceptor.join();
        }
        for stream in self.shared.open.lock().unwrap().values() {
            // The other end may have closed it already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn accept<B: Backend>(
    listener: &TcpListener,
    shared: &Arc<Shared>,
    backend: &Arc<impl Fn() -> B + Send + Sync + 'static>,
) {
    for (number, stream) in (0..).zip(listener.incoming()) {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok((stream, copy)) = stream.and_then(|stream| Ok((stream.try_clone()?, stream))) else {
            // Out of descriptors: those that are open will close.
            thread::sleep(std::time::Duration::from_millis(10));
            continue;
        };
        shared.open.lock().unwrap().insert(number, copy);
        let (shared, backend) = (Arc::clone(shared), Arc::clone(backend));
        let connection = thread::Builder::new().name("connection".to_owned()).stack_size(256 << 10);
        let spawned = connection.spawn(move || {
            // Clients break connections off, and so do faults.
            let _ = Socket::new(stream).and_then(|client| turn::all(&shared, &mut backend(), client));
            // The last copy closes it, with a reset if one was set.
            shared.open.lock().unwrap().remove(&number);
        });
        if let Err(error) = spawned {
            eprintln!("fault-proxy: no thread for a connection: {error}");
        }
    }
}
