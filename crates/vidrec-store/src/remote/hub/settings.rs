//! The address of the Hub and the user's token, from options, the environment and the files of `hf auth login`.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use reqwest::header::HeaderValue;

use vidrec_format::error::{Error, Result};

/// The storage options that are not those of connections.
pub const OPTIONS: [&str; 2] = ["endpoint", "token"];

pub struct Settings {
    /// Without a slash at the end.
    pub endpoint: String,
    /// The value of the header `Authorization`.
    pub authorization: Option<HeaderValue>,
}

impl Settings {
    /// Options take precedence over the environment, and the environment over files. An empty token is none.
    pub fn read(options: &BTreeMap<String, String>) -> Result<Self> {
        let option =
            |name: &str| options.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| v.clone());
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let endpoint = option("endpoint").or_else(|| variable("HF_ENDPOINT"));
        let endpoint = endpoint.unwrap_or_else(|| "https://huggingface.co".to_owned());
        let token = match option("token").or_else(|| variable("HF_TOKEN")) {
            Some(token) => token,
            None => saved_token()?,
        };
        let token = token.trim();
        let authorization = (!token.is_empty()).then(|| HeaderValue::from_str(&format!("Bearer {token}"))).transpose();
        let wrong = |_| Error::usage("the token of the Hub has characters that no token has").help("check HF_TOKEN");
        let mut authorization = authorization.map_err(wrong)?;
        authorization.iter_mut().for_each(|value| value.set_sensitive(true));
        Ok(Settings { endpoint: endpoint.trim_end_matches('/').to_owned(), authorization })
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
