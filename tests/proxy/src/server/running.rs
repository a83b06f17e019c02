//! A server that runs.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{Stream, TryStreamExt};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use super::backend::Backend;
use super::connection::Connection;
use super::reply;
use crate::fault::Rules;
use crate::journal::{Counts, Exchange, Journal};
use crate::link::Link;

/// A running server, which stops when this is dropped. Connections that are open then are cut.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

/// What the connections of a server share.
struct Shared {
    backend: Box<dyn Backend>,
    rules: Rules,
    link: Link,
    journal: Journal,
    tls: Option<TlsAcceptor>,
}

impl Server {
    pub(super) fn start(listen: &str, backend: Box<dyn Backend>, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(listen))?;
        let address = listener.local_addr()?;
        let (rules, link, journal) = (Rules::default(), Link::new(), Journal::new());
        let shared = Arc::new(Shared { backend, rules, link, journal, tls: tls.map(TlsAcceptor::from) });
        runtime.spawn(accept(listener, shared.clone()));
        Ok(Self { address, shared, runtime: Some(runtime) })
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
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, shared.clone()))),
            // Out of descriptors: those that are open will close.
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Answers the requests of a connection until it ends. Clients break connections off, and so do faults.
async fn serve(stream: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let connection = Arc::new(Connection::of(&stream)?);
    let (http, tls) = (http1::Builder::new(), shared.tls.clone());
    let service = service_fn(move |request| one(shared.clone(), connection.clone(), request));
    match tls {
        Some(tls) => http.serve_connection(TokioIo::new(tls.accept(stream).await?), service).await,
        None => http.serve_connection(TokioIo::new(stream), service).await,
    }
    .map_err(io::Error::other)
}

async fn one(
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> io::Result<Response<StreamBody<impl Stream<Item = io::Result<Frame<Bytes>>>>>> {
    let (head, body) = request.into_parts();
    let head = Request::from_parts(head, ());
    let fault = shared.rules.choose(&head);
    shared.journal.begin(&head);
    shared.link.wait_for_latency(connection.is_new()).await;
    let is_faulty = || shared.journal.is_faulty();
    let answer = reply::make(fault, &head, body.boxed(), &*shared.backend, &connection, is_faulty).await?;
    let path = head.uri().path().to_owned();
    Ok(answer.map(|pieces| {
        StreamBody::new(pieces.and_then(move |piece| {
            let (shared, path) = (shared.clone(), path.clone());
            async move {
                shared.link.wait_to_send(piece.len()).await;
                shared.journal.sent(&path, piece.len());
                Ok(Frame::data(piece))
            }
        }))
    }))
}
