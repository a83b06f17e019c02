//! A server that answers as the Hugging Face Hub does, for the repository `me/set`, and the host to which it redirects.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// The token that a private repository asks for.
pub const TOKEN: &str = "hf_hunter2";

/// What the two servers hold and how they behave. Threads end with the process.
pub struct Hub {
    pub endpoint: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub struct State {
    /// The folder of each commit. The last one is `main`.
    commits: Vec<(String, PathBuf)>,
    pub is_private: bool,
    /// The signature of a URL that the other host accepts.
    pub signature: u32,
    /// Bytes that the other host leaves out at the end of each file.
    pub cut: u64,
    /// The heads of requests that reached the Hub, and the other host.
    pub asked: Vec<String>,
    pub fetched: Vec<String>,
}

impl Hub {
    pub fn new(folder: &Path) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let elsewhere = serve(&state, |state, head, _| state.file(head));
        let with_elsewhere = move |state: &mut State, head: &str, own: &str| state.answer(head, own, &elsewhere);
        let hub = Hub { endpoint: serve(&state, with_elsewhere), state };
        hub.commit(folder);
        hub
    }

    /// Makes a folder the newest commit, and returns its name.
    pub fn commit(&self, folder: &Path) -> String {
        let mut state = self.state();
        // Two servers in one process must not have the same commit, because their lists would have the same place.
        let mut digest = std::hash::DefaultHasher::new();
        (folder, state.commits.len()).hash(&mut digest);
        let commit = format!("{:040x}", digest.finish());
        state.commits.push((commit.clone(), folder.to_owned()));
        commit
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Storage options for it. An empty token is none, wherever else there may be one.
    pub fn options(&self, token: &str) -> BTreeMap<String, String> {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        [("endpoint", &*self.endpoint), ("token", token)].map(pair).into()
    }
}

impl State {
    fn answer(&mut self, head: &str, own: &str, elsewhere: &str) -> Vec<u8> {
        self.asked.push(head.to_owned());
        if self.is_private && !head.to_ascii_lowercase().contains(&format!("authorization: bearer {TOKEN}")) {
            return reply("401 Unauthorized", "X-Error-Code: RepoNotFound\r\n", b"Repository not found");
        }
        let (path, query) = path(head);
        let parts: Vec<&str> = path.split('/').collect();
        match parts[1..] {
            ["api", "datasets", "me", "set", "revision", revision] => match self.find(revision) {
                Some((commit, _)) => reply("200 OK", "", format!("{{\"sha\": \"{commit}\"}}").as_bytes()),
                None => reply("404 Not Found", "X-Error-Code: RevisionNotFound\r\n", b"Invalid rev id"),
            },
            ["api", "datasets", "me", "set", "tree", commit, ..] => {
                let page = query.rsplit_once("cursor=").map_or(0, |(_, page)| page.parse().unwrap());
                self.list(&self.find(commit).unwrap().1, &parts[7..].join("/"), page, &format!("{own}{path}?{query}"))
            }
            ["datasets", "me", "set", "resolve", commit, ..] => {
                let (commit, folder) = self.find(commit).unwrap();
                match fs::metadata(folder.join(parts[6..].join("/"))) {
                    Ok(meta) if meta.is_file() => {
                        let to = format!("{elsewhere}/{commit}/{}?sig={}", parts[6..].join("/"), self.signature);
                        let size = meta.len();
                        let tag = format!(
                            "X-Linked-ETag: \"{}\"\r\nX-Linked-Size: {size}\r\n",
                            tag(&parts[6..].join("/"), size)
                        );
                        reply("302 Found", &format!("Location: {to}\r\n{tag}X-Repo-Commit: {commit}\r\n"), b"")
                    }
                    _ => reply("404 Not Found", "X-Error-Code: EntryNotFound\r\n", b"Entry not found"),
                }
            }
            _ => reply("404 Not Found", "X-Error-Code: RepoNotFound\r\n", b"Repository not found"),
        }
    }

    fn find(&self, revision: &str) -> Option<(String, PathBuf)> {
        let is_it = |(commit, _): &&(String, PathBuf)| revision == "main" || commit == revision;
        self.commits.iter().rev().find(is_it).cloned()
    }

    /// Two entries for each page, folders before files, as nothing that sorts would have them.
    fn list(&self, folder: &Path, below: &str, page: usize, url: &str) -> Vec<u8> {
        let mut entries = Vec::new();
        add(folder, below, &mut entries);
        let rest: Vec<_> = entries.iter().skip(2 * page).take(2).cloned().collect();
        let url = url.split("&cursor").next().unwrap();
        let more = 2 * page + 2 < entries.len();
        let link = if more { format!("Link: <{url}&cursor={}>; rel=\"next\"\r\n", page + 1) } else { String::new() };
        reply("200 OK", &link, format!("[{}]", rest.join(", ")).as_bytes())
    }

    /// The answer of the other host, which has tags of its own.
    fn file(&mut self, head: &str) -> Vec<u8> {
        self.fetched.push(head.to_owned());
        let (path, query) = path(head);
        if query != format!("sig={}", self.signature) {
            return reply("403 Forbidden", "", b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>");
        }
        let (commit, name) = path[1..].split_once('/').unwrap();
        let mut bytes = fs::read(self.find(commit).unwrap().1.join(name)).unwrap();
        bytes.truncate(bytes.len().saturating_sub(self.cut as usize));
        let (length, tag) = (bytes.len(), format!("ETag: \"of host {}\"\r\n", self.fetched.len()));
        let range = head.to_ascii_lowercase();
        let range = range.split("range: bytes=").nth(1).and_then(|text| text.split("\r\n").next());
        let Some((start, end)) = range.and_then(|range| range.split_once('-')) else {
            return reply("200 OK", &tag, &bytes);
        };
        let start: usize = start.parse().unwrap();
        let end = end.parse().map_or(length, |end: usize| (end + 1).min(length));
        if start >= end {
            return reply("416 Range Not Satisfiable", &format!("Content-Range: bytes */{length}\r\n"), b"");
        }
        let head = format!("{tag}Content-Range: bytes {start}-{}/{length}\r\n", end - 1);
        reply("206 Partial Content", &head, &bytes[start..end])
    }
}

fn add(folder: &Path, below: &str, entries: &mut Vec<String>) {
    let mut names: Vec<_> = fs::read_dir(folder.join(below)).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort_by_key(|path| (path.is_file(), std::cmp::Reverse(path.clone())));
    for path in names {
        let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            entries.push(format!("{{\"type\": \"directory\", \"oid\": \"d\", \"size\": 0, \"path\": \"{name}\"}}"));
            add(folder, &name, entries);
        } else {
            let size = fs::metadata(&path).unwrap().len();
            let large = format!("{{\"oid\": \"{}\", \"size\": {size}, \"pointerSize\": 9}}", tag(&name, size));
            entries.push(format!(
                "{{\"type\": \"file\", \"oid\": \"p\", \"size\": 9, \"path\": \"{name}\", \"lfs\": {large}}}"
            ));
        }
    }
}

fn tag(name: &str, size: u64) -> String {
    format!("sha-{}-{size}", name.replace(['/', ' ', '.'], "-"))
}

fn path(head: &str) -> (String, String) {
    let target = head.split(' ').nth(1).unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    (path.replace("%20", " "), query.to_owned())
}

fn reply(status: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

type Answer = dyn Fn(&mut State, &str, &str) -> Vec<u8> + Send + Sync;

/// Starts a server, and returns its URL.
fn serve(
    state: &Arc<Mutex<State>>,
    answer: impl Fn(&mut State, &str, &str) -> Vec<u8> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (own, state, answer): (_, _, Arc<Answer>) = (url.clone(), state.clone(), Arc::new(answer));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (own, state, answer) = (own.clone(), state.clone(), answer.clone());
            std::thread::spawn(move || one(client, &state, &own, &*answer));
        }
    });
    url
}

fn one(client: TcpStream, state: &Mutex<State>, own: &str, answer: &Answer) {
    let Some(head) = super::head(&mut BufReader::new(&client)) else { return };
    let answer = answer(&mut state.lock().unwrap(), &head, own);
    // A client that has heard enough closes the connection.
    let _ = (&client).write_all(&answer);
}
