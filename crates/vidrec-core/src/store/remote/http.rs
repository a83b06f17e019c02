//! Watches the answers of a server below object_store, which does not tell its callers the status of a failed
//! request.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use reqwest::Certificate;

use super::redirect::Following;

/// What a server said in its last answer to one request, and how often the request was sent.
#[derive(Debug, Default)]
pub(super) struct Answer {
    status: AtomicU16,
    sent: AtomicU64,
    /// The region of the bucket, if S3 names it.
    region: OnceLock<String>,
    /// The code of the error, if the Hugging Face Hub names one; empty if it names none.
    hub_code: OnceLock<String>,
}

tokio::task_local! {
    /// The answer to the request that this task makes.
    pub(super) static ANSWER: Arc<Answer>;
}

impl Answer {
    /// The status of the last response; `None` before the first.
    pub fn status(&self) -> Option<u16> {
        Some(self.status.load(Relaxed)).filter(|&status| status != 0)
    }

    /// How often the request was sent.
    pub fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
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
        Ok(HttpClient::new(Watched { following, is_hub: self.is_hub, contact: AtomicU8::new(0) }))
    }
}

#[derive(Debug)]
struct Watched {
    following: Following,
    is_hub: bool,
    /// Failed connections so far, or [`REACHED`].
    contact: AtomicU8,
}

/// The server has answered.
const REACHED: u8 = u8::MAX;
/// Connections to a server that has never answered. As a rule, its address is wrong.
const FIRST_TRIES: u8 = 3;

impl Watched {
    /// Notes that a connection failed. object_store does not repeat errors of unknown kind.
    fn failed(&self, e: HttpError) -> HttpError {
        let next = |tries: u8| (tries != REACHED).then_some(tries.saturating_add(1).min(FIRST_TRIES));
        let is_connect = e.kind() == HttpErrorKind::Connect;
        let is_last = || self.contact.fetch_update(Relaxed, Relaxed, next).is_ok_and(|n| n + 1 >= FIRST_TRIES);
        // A certificate that is refused once is refused again.
        let is_last = is_connect && (format!("{e:?}").contains("InvalidCertificate") || is_last());
        if is_last { HttpError::new(HttpErrorKind::Unknown, e) } else { e }
    }
}

#[async_trait]
impl HttpService for Watched {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = ANSWER.try_with(Arc::clone).ok();
        answer.iter().for_each(|answer| _ = answer.sent.fetch_add(1, Relaxed));
        let response = self.following.send(request).await.map_err(|e| self.failed(e))?;
        self.contact.store(REACHED, Relaxed);
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
        }
        Ok(response)
    }
}
