//! Data sets on the Hugging Face Hub, `hf://datasets/OWNER/NAME[@REVISION]/PATH`.
//!
//! The objects of a commit are files on a web server that redirects its clients. The API of the Hub says
//! which commit a revision is, and lists the files of a commit.
//!
//! Source: <https://huggingface.co/docs/hub/api> and huggingface_hub, `hf_api.py` and `file_download.py`.

use std::path::PathBuf;

use async_trait::async_trait;
use futures_util::StreamExt;
use object_store::client::{HttpClient, HttpRequest, HttpRequestBody};
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::path::Path as Key;
use object_store::{Error, HeaderMap, ListResult, ObjectMeta, Result};
use reqwest::header::{AUTHORIZATION, HeaderValue, LINK};
use reqwest::{StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::aws::variable;
use super::http_client::failed;
use vidrec_format::error;

/// The start of all stores on the Hub.
pub(super) const DATASETS: &str = "hf://datasets/";
/// The longest answer of the API that is read, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// A revision of a repository.
#[derive(Debug)]
pub(super) struct Hub {
    pub http: HttpClient,
    pub endpoint: String,
    /// [`DATASETS`], owner and name, and `@` with a branch, a tag or a commit, percent-encoded, if it is not main.
    pub store: String,
}

impl Hub {
    pub fn revision(&self) -> &str {
        parts(&self.store).1
    }

    /// The URL below which the files are.
    pub fn files(&self) -> String {
        let (repository, revision) = parts(&self.store);
        format!("{}/datasets/{repository}/resolve/{revision}", self.endpoint)
    }

    /// Asks which commit the revision is now.
    pub async fn commit(&self) -> Result<String> {
        let (revision, _): (serde_json::Value, _) = self.get(&(self.api("revision") + "?expand=sha")).await?;
        let commit = revision["sha"].as_str().filter(|sha| is_commit(sha)).map(str::to_owned);
        commit.ok_or_else(|| failed(format!("the server calls {} a commit", revision["sha"])))
    }

    fn api(&self, what: &str) -> String {
        let (repository, revision) = parts(&self.store);
        format!("{}/api/datasets/{repository}/{what}/{revision}", self.endpoint)
    }

    async fn get<T: DeserializeOwned>(&self, url: &str) -> Result<(T, HeaderMap)> {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = url.parse().map_err(failed)?;
        let (head, body) = self.http.execute(request).await.map_err(failed)?.into_parts();
        let (mut bytes, mut body) = (Vec::new(), body.bytes_stream());
        while let Some(chunk) = body.next().await {
            bytes.extend_from_slice(&chunk.map_err(failed)?);
            if bytes.len() > MOST_BYTES {
                return Err(failed(format!("the answer is longer than {MOST_BYTES} bytes")));
            }
        }
        if head.status != StatusCode::OK {
            let (path, text) = (self.store.clone(), String::from_utf8_lossy(&bytes));
            let source = format!("{}: {text}", head.status).into();
            let is_missing = head.status == StatusCode::NOT_FOUND;
            return Err(if is_missing { Error::NotFound { path, source } } else { failed(source) });
        }
        let value = serde_json::from_slice(&bytes);
        let value = value.map_err(|e| failed(format!("the answer is not what the Hub's API gives: {e}")))?;
        Ok((value, head.headers))
    }
}

/// A file or folder of a list.
#[derive(Deserialize)]
struct Entry {
    r#type: String,
    path: String,
    #[serde(flatten)]
    content: Content,
    /// The contents to which git has only a pointer.
    lfs: Option<Content>,
}

#[derive(Deserialize)]
struct Content {
    /// The digest, as git or LFS counts it.
    oid: String,
    #[serde(default)]
    size: u64,
}

impl Entry {
    fn object(self) -> Result<ObjectMeta> {
        let Content { oid, size } = self.lfs.unwrap_or(self.content);
        let (location, e_tag) = (Key::parse(&self.path)?, Some(format!("\"{oid}\"")));
        Ok(ObjectMeta { location, last_modified: Default::default(), size, e_tag, version: None })
    }
}

/// Lists are in the order of the server, and their tokens are URLs.
#[async_trait]
impl PaginatedListStore for Hub {
    async fn list_paginated(&self, prefix: Option<&str>, how: PaginatedListOptions) -> Result<PaginatedListResult> {
        let url = match how.page_token {
            Some(url) => url,
            None => {
                let mut url = Url::parse(&self.api("tree")).map_err(failed)?;
                let folder = prefix.unwrap_or_default().split('/').filter(|part| !part.is_empty());
                url.path_segments_mut().map_err(|()| failed("the endpoint is not a web address"))?.extend(folder);
                url.set_query(Some("recursive=true&expand=false"));
                url.into()
            }
        };
        let (entries, headers): (Vec<Entry>, _) = self.get(&url).await?;
        let page_token = next(headers.get_all(LINK).iter().filter_map(|link| link.to_str().ok()), &url);
        if page_token.as_ref().is_some_and(|next| !next.starts_with(&format!("{}/", self.endpoint))) {
            return Err(failed("the list continues on another server"));
        }
        let objects = entries.into_iter().filter(|entry| entry.r#type == "file").map(Entry::object);
        let (objects, common_prefixes, extensions) = (objects.collect::<Result<_>>()?, Vec::new(), Default::default());
        Ok(PaginatedListResult { result: ListResult { objects, common_prefixes, extensions }, page_token })
    }
}

/// The URL of the next page, from headers `Link` (RFC 8288).
fn next<'a>(links: impl Iterator<Item = &'a str>, here: &str) -> Option<String> {
    let link = links.flat_map(|links| links.split(',')).find(|link| link.contains("rel=\"next\""))?;
    let (_, rest) = link.split_once('<')?;
    Some(Url::parse(here).ok()?.join(rest.split_once('>')?.0).ok()?.into())
}

/// The repository and the revision of a store that begins with [`DATASETS`].
fn parts(store: &str) -> (&str, &str) {
    let name = store.strip_prefix(DATASETS).unwrap_or(store);
    name.split_once('@').unwrap_or((name, "main"))
}

/// Splits what follows [`DATASETS`] into the store and the path of a file. `None` if it names no repository.
pub(super) fn split(rest: &str) -> Option<(String, &str)> {
    let end = rest.match_indices('/').nth(1).map_or(rest.len(), |(at, _)| at);
    let (repository, revision) = parts(&rest[..end]);
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let is_name = |part: &str| !part.is_empty() && !part.starts_with('.') && is_plain(part);
    let (owner, name) = repository.split_once('/')?;
    let has_revision = is_name(&revision.replace("%2F", "-"));
    let store = format!("{DATASETS}{}", &rest[..end]);
    (is_name(owner) && is_name(name) && has_revision).then_some((store, rest[end..].trim_start_matches('/')))
}

/// The store at one commit instead of its revision.
pub(super) fn at(store: &str, commit: &str) -> String {
    format!("{DATASETS}{}@{commit}", parts(store).0)
}

/// Whether a store names a commit, which never changes.
pub(super) fn is_pinned(store: &str) -> bool {
    is_commit(parts(store).1)
}

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The address of the Hub, without a slash at the end, and the headers of all requests to it. The options take
/// precedence over the environment, and the environment over files. An empty token is none.
pub(super) fn settings(endpoint: Option<String>, token: Option<String>) -> error::Result<(String, HeaderMap)> {
    let endpoint = endpoint.or_else(|| variable("HF_ENDPOINT"));
    let endpoint = endpoint.as_deref().unwrap_or("https://huggingface.co").trim_end_matches('/').to_owned();
    let token = token.or_else(|| variable("HF_TOKEN")).map_or_else(saved_token, Ok)?;
    let mut headers = HeaderMap::new();
    if !token.trim().is_empty() {
        let wrong =
            |_| error::Error::usage("the token of the Hub has characters that no token has").help("check HF_TOKEN");
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.trim())).map_err(wrong)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok((endpoint, headers))
}

/// The token that `hf auth login` saved; empty if there is none.
fn saved_token() -> error::Result<String> {
    let folder = |name: &str| variable(name).map(PathBuf::from);
    let cache = || folder("XDG_CACHE_HOME").or_else(|| Some(std::env::home_dir()?.join(".cache")));
    let home = || folder("HF_HOME").or_else(|| Some(cache()?.join("huggingface")));
    let Some(file) = folder("HF_TOKEN_PATH").or_else(|| Some(home()?.join("token"))) else { return Ok(String::new()) };
    match std::fs::read_to_string(&file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|e| {
            error::Error::io("read the token of the Hub", file, e).help("set HF_TOKEN, or run `hf auth login`")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{at, is_pinned, split};

    #[test]
    fn repositories_revisions_and_paths_are_told_apart() {
        for (rest, expected) in [
            ("lerobot/pusht", Some(("lerobot/pusht", ""))),
            ("lerobot/pusht/", Some(("lerobot/pusht", ""))),
            ("o/n.x@v2.0/a/b.rec", Some(("o/n.x@v2.0", "a/b.rec"))),
            ("o/n@refs%2Fpr%2F1/a@b", Some(("o/n@refs%2Fpr%2F1", "a@b"))),
            ("o", None),
            ("o/@main", None),
            ("o/n@/a", None),
            ("../n", None),
            ("o/n%2F..", None),
        ] {
            let expected = expected.map(|(store, path)| (format!("hf://datasets/{store}"), path));
            assert_eq!(split(rest), expected, "{rest}");
        }
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let pinned = at("hf://datasets/o/n@v1", commit);
        assert_eq!(pinned, format!("hf://datasets/o/n@{commit}"));
        assert!(is_pinned(&pinned) && !is_pinned("hf://datasets/o/n@v1") && !is_pinned("hf://datasets/o/n"));
    }
}
