//! The address of the Hub and the user's token, from options, the environment and the files of `hf auth login`.

use std::env;
use std::path::PathBuf;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use vidrec_format::error::{Error, Result};

/// The address of the Hub, without a slash at the end, and the headers of all requests to it. The options take
/// precedence over the environment, and the environment over files. An empty token is none.
pub fn settings(endpoint: Option<String>, token: Option<String>) -> Result<(String, HeaderMap)> {
    let endpoint = endpoint.or_else(|| variable("HF_ENDPOINT"));
    let endpoint = endpoint.as_deref().unwrap_or("https://huggingface.co").trim_end_matches('/').to_owned();
    let token = token.or_else(|| variable("HF_TOKEN")).map_or_else(saved_token, Ok)?;
    let mut headers = HeaderMap::new();
    if !token.trim().is_empty() {
        let wrong = |_| Error::usage("the token of the Hub has characters that no token has").help("check HF_TOKEN");
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.trim())).map_err(wrong)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok((endpoint, headers))
}

/// The token that `hf auth login` saved; empty if there is none.
fn saved_token() -> Result<String> {
    let folder = |name: &str| variable(name).map(PathBuf::from);
    let cache = || folder("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")));
    let home = || folder("HF_HOME").or_else(|| Some(cache()?.join("huggingface")));
    let Some(file) = folder("HF_TOKEN_PATH").or_else(|| Some(home()?.join("token"))) else { return Ok(String::new()) };
    match std::fs::read_to_string(&file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        read => read
            .map_err(|e| Error::io("read the token of the Hub", file, e).help("set HF_TOKEN, or run `hf auth login`")),
    }
}

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}
