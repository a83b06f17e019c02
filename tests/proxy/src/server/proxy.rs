//! Another server, forwarded.

use std::error::Error;
use std::io;

use futures_util::future::BoxFuture;
use futures_util::stream::{StreamExt, TryStreamExt};
use http_body_util::BodyExt;
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::backend::Backend;
use super::running::Server;
use crate::message::{Answer, Head, Upload};

/// Fields that belong to one connection, not to what it carries.
const OF_CONNECTION: [&str; 6] =
    ["connection", "keep-alive", "proxy-connection", "expect", "upgrade", "transfer-encoding"];

/// A server in front of another one. `Host` goes through as it came, for signatures may cover it.
#[derive(Debug)]
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
        Server::start(listen, Box::new(Self { to: to.to_owned() }), None)
    }

    async fn forward(&self, head: &Head, upload: Upload) -> Result<Answer, Box<dyn Error + Send + Sync>> {
        let stream = TcpStream::connect(&self.to).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // Its errors come with the answer.
        tokio::spawn(async move { drop(connection.await) });
        let mut request = Request::from_parts(head.clone().into_parts().0, upload);
        OF_CONNECTION.iter().for_each(|name| drop(request.headers_mut().remove(*name)));
        let mut answer = sender.send_request(request).await?;
        OF_CONNECTION.iter().for_each(|name| drop(answer.headers_mut().remove(*name)));
        Ok(answer.map(|body| body.into_data_stream().map_err(io::Error::other).boxed()))
    }
}

impl Backend for Proxy {
    fn answer<'a>(&'a self, head: &'a Head, upload: Upload) -> BoxFuture<'a, io::Result<Answer>> {
        Box::pin(async move { self.forward(head, upload).await.map_err(io::Error::other) })
    }
}
