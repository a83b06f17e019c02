//! Where answers come from.

use std::io;

use futures_util::stream::{StreamExt, TryStreamExt};
use http_body_util::BodyExt;
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::message::{Answer, Head, Upload};
use super::origin::Origin;

/// Fields that belong to one connection, not to what it carries.
const OF_CONNECTION: [&str; 6] =
    ["connection", "keep-alive", "proxy-connection", "expect", "upgrade", "transfer-encoding"];

/// Where answers come from.
pub enum Backend {
    /// A folder.
    Folder(Origin),
    /// Another server. `Host` goes through as it came, for signatures may cover it.
    Server(String),
}

impl Backend {
    pub async fn answer(&self, head: &Head, upload: Upload) -> io::Result<Answer> {
        match self {
            Self::Folder(origin) => {
                let body = upload.collect().await.map_err(io::Error::other)?.to_bytes();
                origin.answer(head, &body)
            }
            Self::Server(address) => forward(address, head, upload).await.map_err(io::Error::other),
        }
    }
}

async fn forward(
    address: &str,
    head: &Head,
    upload: Upload,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let stream = TcpStream::connect(address).await?;
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
