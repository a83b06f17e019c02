//! Watches the answers of a server below object_store, which does not tell its callers the status of a failed
//! request.

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService};
use reqwest::Certificate;

use super::redirect::Following;

/// What a server said in its answer to one request. It travels with the request, as an extension.
#[derive(Debug, Default)]
pub(super) struct Answer {
    status: AtomicU16,
    /// Milliseconds that the server asks the client to wait; 0 if it does not.
    wait_ms: AtomicU64,
    /// The region of the bucket, if S3 names it.
    region: OnceLock<String>,
    /// The code of the error, if the Hugging Face Hub names one; empty if it names none.
    hub_code: OnceLock<String>,
}

tokio::task_local! {
    /// The answer to the request that this task makes, for requests to which object_store attaches no extensions.
    pub(super) static ANSWER: Arc<Answer>;
}

impl Answer {
    /// The status of the last response; `None` before the first.
    pub fn status(&self) -> Option<u16> {
        Some(self.status.load(Relaxed)).filter(|&status| status != 0)
    }

    /// The value of the header Retry-After in seconds (RFC 9110, section 10.2.3). Dates are not understood.
    pub fn wait(&self) -> Option<Duration> {
        Some(self.wait_ms.load(Relaxed)).filter(|&ms| ms > 0).map(Duration::from_millis)
    }

    /// The region of the bucket, from the header in which S3 names it.
    pub fn region(&self) -> Option<&str> {
        self.region.get().map(String::as_str)
    }

    /// The code of an error of the Hugging Face Hub; `None` if another server answered.
    pub fn hub_code(&self) -> Option<&str> {
        self.hub_code.get().map(String::as_str)
    }
}

/// Connects as object_store does by default, except for redirects, and watches the answers.
#[derive(Debug)]
pub(super) struct Watching {
    /// Authorities that may sign certificates of servers, beside those of the system.
    pub authorities: Vec<Certificate>,
    /// Whether the server is the Hugging Face Hub.
    pub is_hub: bool,
}

impl HttpConnector for Watching {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let following = Following::new(options, &self.authorities, self.is_hub)?;
        Ok(HttpClient::new(Watched { following, is_hub: self.is_hub }))
    }
}

#[derive(Debug)]
struct Watched {
    following: Following,
    is_hub: bool,
}

#[async_trait]
impl HttpService for Watched {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = request.extensions().get::<Arc<Answer>>().cloned();
        let answer = answer.or_else(|| ANSWER.try_with(Arc::clone).ok());
        let response = self.following.send(request).await?;
        if let Some(answer) = answer {
            answer.status.store(response.status().as_u16(), Relaxed);
            if let Some(region) = response.headers().get("x-amz-bucket-region").and_then(|region| region.to_str().ok())
            {
                let _ = answer.region.set(region.to_owned());
            }
            if self.is_hub {
                let code = response.headers().get("x-error-code").and_then(|code| code.to_str().ok());
                let _ = answer.hub_code.set(code.unwrap_or_default().to_owned());
            }
            let wait = response.headers().get("retry-after").and_then(|wait| wait.to_str().ok()?.trim().parse().ok());
            answer.wait_ms.store(wait.map_or(0, |seconds: u64| seconds.saturating_mul(1000)), Relaxed);
        }
        Ok(response)
    }
}
