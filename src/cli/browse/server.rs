//! The server: HTTP/1.1 on the loopback, until it is told to stop.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::time::{interval, sleep};

use super::answer::{Site, answer};
use crate::cli::outcome::Failure;
use crate::report;

/// Connections that are served at a time; a browser uses six. Others wait.
const CONNECTIONS: usize = 128;
/// Threads that read and decode what is asked for.
const READERS: usize = 16;
/// How long a request may take to arrive, and a connection may be idle.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same while fewer than half of the places are free.
const IMPATIENCE: Duration = Duration::from_secs(1);
/// How often to see whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// Serves a page until `stop` is true. Prints the address of the page on standard output.
pub fn serve(pages: report::Site, port: u16, stop: &AtomicBool) -> Result<(), Failure> {
    let runtime = Builder::new_multi_thread().worker_threads(2).max_blocking_threads(READERS).enable_all().build()?;
    let site = Arc::new(Site { pages, token: token()? });
    let done = runtime.block_on(accept(site, port, stop));
    // What is being read for a browser is no reason to wait.
    runtime.shutdown_background();
    done
}

/// A word that nobody can guess.
fn token() -> Result<String, Failure> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|e| format!("the system gives no random numbers: {e}"))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

async fn accept(site: Arc<Site>, port: u16, stop: &AtomicBool) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(|e| format!("cannot listen at port {port}: {e}; omit --port for a free one"))?;
    let port = listener.local_addr()?.port();
    writeln!(io::stdout(), "http://127.0.0.1:{port}/{}/", site.token)?;
    io::stdout().flush()?;
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    let mut tick = interval(TICK);
    while !stop.load(Ordering::Relaxed) {
        let next = async {
            let place = free.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        tokio::select! {
            _ = tick.tick() => {}
            (stream, place) = next => match stream {
                Ok((stream, _)) => {
                    let site = site.clone();
                    let free = free.clone();
                    tokio::spawn(async move {
                        serve_one(stream, site, &free).await;
                        drop(place);
                    });
                }
                // Too many open files, or a peer that has gone: the next one may do better.
                Err(_) => sleep(TICK).await,
            }
        }
    }
    Ok(())
}

/// Serves one connection until it ends. If few places are `free`, it ends once it has asked for nothing for a second.
async fn serve_one(stream: TcpStream, site: Arc<Site>, free: &Semaphore) {
    // Small answers are not to wait for more; without it, only speed is lost.
    let _ = stream.set_nodelay(true);
    // The number of requests. Each answer that is not sent yet shares it.
    let requests = Arc::new(AtomicU64::new(0));
    let counted = requests.clone();
    let service = service_fn(move |request| {
        counted.fetch_add(1, Ordering::Relaxed);
        let (site, unsent) = (site.clone(), counted.clone());
        async move { Ok::<_, Infallible>(answer(site, request).await.map(|content| content.shares(unsent))) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(16 << 10);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    loop {
        let before = requests.load(Ordering::Relaxed);
        tokio::select! {
            // A browser that leaves in the middle of an answer is nobody's error, and it has been told of others.
            _ = connection.as_mut() => return,
            () = sleep(IMPATIENCE) => {
                // This function and the service share it, too.
                let asks = Arc::strong_count(&requests) > 2 || requests.load(Ordering::Relaxed) > before;
                if !asks && free.available_permits() < CONNECTIONS / 2 {
                    return;
                }
            }
        }
    }
}
