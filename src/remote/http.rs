//! Watches the answers of a server below object_store, which does not tell its callers the status of a failure.

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService};
use reqwest::Certificate;

use super::client::client;
use super::redirect::{Following, MakeClient};

/// What a server said to one request. It travels with the request, as an extension.
#[derive(Debug, Default)]
pub(super) struct Answer {
    status: AtomicU16,
    /// Milliseconds that the server asks its client to wait; 0 if it does not.
    wait_ms: AtomicU64,
    /// The region of the bucket, where S3 names it.
    region: OnceLock<String>,
}

tokio::task_local! {
    /// That of the request which this task makes, where object_store takes no extensions along.
    pub(super) static ANSWER: Arc<Answer>;
}

impl Answer {
    /// The status of the last response; `None` before the first.
    pub fn status(&self) -> Option<u16> {
        Some(self.status.load(Relaxed)).filter(|&status| status != 0)
    }

    /// The header Retry-After in seconds (RFC 9110, section 10.2.3); dates are not understood.
    pub fn wait(&self) -> Option<Duration> {
        Some(self.wait_ms.load(Relaxed)).filter(|&ms| ms > 0).map(Duration::from_millis)
    }

    /// The region in which the bucket is, by the header of S3 that says so.
    pub fn region(&self) -> Option<&str> {
        self.region.get().map(String::as_str)
    }
}

/// Connects as object_store does by default, but for redirects, and watches.
#[derive(Debug)]
pub(super) struct Watching {
    /// What may sign certificates of servers, beside the authorities of the system.
    pub authorities: Vec<Certificate>,
}

impl HttpConnector for Watching {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let own = HttpClient::new(client(options, &self.authorities, None)?);
        let (options, authorities) = (options.clone(), self.authorities.clone());
        let others = move |guarded: &_| Ok(HttpClient::new(client(&options, &authorities, Some(guarded))?));
        Ok(HttpClient::new(Watched(Following::new(own, MakeClient(Box::new(others))))))
    }
}

#[derive(Debug)]
struct Watched(Following);

#[async_trait]
impl HttpService for Watched {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = request.extensions().get::<Arc<Answer>>().cloned();
        let answer = answer.or_else(|| ANSWER.try_with(Arc::clone).ok());
        let response = self.0.send(request).await?;
        if let Some(answer) = answer {
            answer.status.store(response.status().as_u16(), Relaxed);
            if let Some(region) = response.headers().get("x-amz-bucket-region").and_then(|region| region.to_str().ok())
            {
                let _ = answer.region.set(region.to_owned());
            }
            let wait = response.headers().get("retry-after").and_then(|wait| wait.to_str().ok()?.trim().parse().ok());
            answer.wait_ms.store(wait.map_or(0, |seconds: u64| seconds.saturating_mul(1000)), Relaxed);
        }
        Ok(response)
    }
}
