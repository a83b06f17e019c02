//! The address of the Hub and the user's token, from options, the environment and the files of `hf auth login`.

use std::env;
use std::path::PathBuf;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use vidrec_format::error::{Error, Result};

pub struct Settings {
    /// Without a slash at the end.
    pub endpoint: String,
    /// The headers of all requests to the Hub: the token, if there is one.
    pub headers: HeaderMap,
}

impl Settings {
    /// The options take precedence over the environment, and the environment over files. An empty token is none.
    pub fn of(endpoint: Option<String>, token: Option<String>) -> Result<Self> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let endpoint = endpoint.or_else(|| variable("HF_ENDPOINT"));
        let endpoint = endpoint.as_deref().unwrap_or("https://huggingface.co").trim_end_matches('/').to_owned();
        let token = match token.or_else(|| variable("HF_TOKEN")) {
            Some(token) => token,
            None => saved_token()?,
        };
        let mut headers = HeaderMap::new();
        if !token.trim().is_empty() {
            let wrong =
                |_| Error::usage("the token of the Hub has characters that no token has").help("check HF_TOKEN");
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.trim())).map_err(wrong)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(Settings { endpoint, headers })
    }
}

/// The token that `hf auth login` saved; empty if there is none.
fn saved_token() -> Result<String> {
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || env::home_dir().map(|home| home.join(".cache"));
    let cache = || folder("XDG_CACHE_HOME").or_else(home).map(|cache| cache.join("huggingface"));
    let file = folder("HF_TOKEN_PATH").or_else(|| Some(folder("HF_HOME").or_else(cache)?.join("token")));
    let Some(file) = file else { return Ok(String::new()) };
    match std::fs::read_to_string(&file) {
        Ok(token) => Ok(token),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(Error::io("read the token of the Hub", file, e).help("set HF_TOKEN, or run `hf auth login`")),
    }
}
