//! The server of `vidrec browse`: HTTP/1.1 on the loopback, until it is told to stop.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::task::spawn_blocking;
use tokio::time::{interval, sleep};

use crate::cli::{Failure, output};
use crate::report::Site;
use crate::{Error, ErrorKind};

/// Threads that read and decode what is asked for.
const READERS: usize = 16;
/// The time that a request may take to arrive.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The time between two looks at the flag that stops the server.
const TICK: Duration = Duration::from_millis(50);
/// Headers of every answer: browsers keep nothing, guess no media types, and show nothing of this on other pages.
const HEADERS: [(&str, &str); 7] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("content-security-policy", "frame-ancestors 'none'"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

type Answer = Response<Full<Bytes>>;

/// The page with its answers, and the secret that the path of each request begins with. Other users of this machine do not
/// know it.
struct Server {
    site: Site,
    secret: String,
}

/// Serves a page until `stop` is true. Prints the address of the page on standard output.
pub fn serve(site: Site, port: u16, stop: &AtomicBool) -> Result<(), Failure> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|e| format!("the system gives no random numbers: {e}"))?;
    let server = Arc::new(Server { site, secret: random.iter().map(|byte| format!("{byte:02x}")).collect() });
    let runtime = Builder::new_multi_thread().worker_threads(2).max_blocking_threads(READERS).enable_all().build()?;
    let done = runtime.block_on(accept(server, port, stop));
    // The end does not wait for what is being read for a browser.
    runtime.shutdown_background();
    done
}

async fn accept(server: Arc<Server>, port: u16, stop: &AtomicBool) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(|e| format!("cannot listen at port {port}: {e}; omit --port for a free one"))?;
    writeln!(io::stdout(), "http://127.0.0.1:{}/{}/", listener.local_addr()?.port(), server.secret)?;
    io::stdout().flush()?;
    let mut tick = interval(TICK);
    while !stop.load(Ordering::Relaxed) {
        tokio::select! {
            _ = tick.tick() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(tokio::spawn(serve_connection(stream, server.clone()))),
                // Too many open files, or a peer that has gone: the next one may do better.
                Err(_) => sleep(TICK).await,
            }
        }
    }
    Ok(())
}

/// Answers the one request of a connection. A connection that asks for nothing ends after a while.
async fn serve_connection(stream: TcpStream, server: Arc<Server>) {
    // Small answers are not to wait for more; without it, only speed is lost.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let server = server.clone();
        async move { Ok::<_, Infallible>(answer(server, request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIMEOUT).keep_alive(false).max_buf_size(16 << 10);
    // A browser that leaves in the middle of an answer is no error.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

/// Answers a request: says who may ask, and what for. Its own body is not read.
async fn answer(server: Arc<Server>, request: Request<Incoming>) -> Answer {
    if !is_for_this_machine(request.headers()) {
        return text(StatusCode::FORBIDDEN, "this server answers only to names of this machine");
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "this server only reads: GET and HEAD");
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    let nothing = "there is nothing at this address: use the one that vidrec browse printed";
    let Some(path) = server.path(request.uri().path()) else { return text(StatusCode::NOT_FOUND, nothing) };
    let found = spawn_blocking(move || server.site.answer(&path)).await;
    match found.unwrap_or_else(|_| Err(Error::internal("an answer has panicked"))) {
        Ok(Some(found)) => {
            let length = found.bytes.len();
            let bytes = if request.method() == Method::HEAD { Bytes::new() } else { found.bytes.into() };
            let mut answer = with(StatusCode::OK, bytes, found.kind);
            answer.headers_mut().insert(CONTENT_LENGTH, length.into());
            answer
        }
        Ok(None) => text(StatusCode::NOT_FOUND, nothing),
        // The page says so in its place.
        Err(e) if matches!(e.kind(), ErrorKind::Format | ErrorKind::Decode | ErrorKind::Limit) => {
            text(StatusCode::UNPROCESSABLE_ENTITY, &output::printable(&e.to_string()))
        }
        Err(e) => {
            output::print_error(&e);
            text(StatusCode::INTERNAL_SERVER_ERROR, &output::printable(&e.to_string()))
        }
    }
}

/// Whether a browser believes to talk to this machine. The page of another site that has its name lead here does not.
fn is_for_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    headers.get_all(HOST).iter().count() == 1 && (name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost"))
}

impl Server {
    /// The part of a request's path behind the secret, if it begins with the secret.
    fn path(&self, path: &str) -> Option<String> {
        let (secret, rest) = path.strip_prefix('/')?.split_once('/')?;
        // The time of the comparison does not depend on the bytes. The length of the secret is known.
        let differs = secret.bytes().zip(self.secret.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
        (differs == 0 && secret.len() == self.secret.len()).then(|| rest.to_owned())
    }
}

fn text(status: StatusCode, text: &str) -> Answer {
    with(status, format!("{text}\n").into(), "text/plain; charset=utf-8")
}

fn with(status: StatusCode, bytes: Bytes, kind: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(bytes));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}
