//! A folder of files, served.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use http_body_util::BodyExt;
use hyper::Method;
use tokio_rustls::rustls::ServerConfig;

use super::backend::Backend;
use super::lists;
use super::running::Server;
use super::writes::Writes;
use crate::message::{Answer, Head, Pieces, Upload, empty, get, with, xml};
use crate::range;

/// Bytes of a file that are sent at once.
const PIECE: u64 = 64 << 10;

/// A web server of a folder: `GET` and `HEAD`, ranges, `ETag`, `Last-Modified`, `If-Match`, `If-None-Match` and
/// `If-Unmodified-Since`.
///
/// Like object storage, it holds on to the version of a file that a request found, if the file is replaced by renaming.
#[derive(Debug, Clone)]
pub struct Origin {
    folder: PathBuf,
    ranges: bool,
    head: bool,
    etags: Etags,
    writes: Option<Arc<Writes>>,
    page: usize,
}

/// What a server says of an object's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Etags {
    /// A strong one, of the file's length and the time of its last change.
    Strong,
    /// The same, but marked as weak: no proof that bytes are equal.
    Weak,
    /// None, and no `Last-Modified` either.
    None,
}

impl Origin {
    /// A server of `folder`, to be started.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ranges: true, head: true, etags: Etags::Strong, writes: None, page: 1000 }
    }

    /// Serves `folder` on a free port of the loopback.
    ///
    /// # Errors
    ///
    /// If there is no port or no thread.
    pub fn serve(folder: impl Into<PathBuf>) -> io::Result<Server> {
        Self::new(folder).start("127.0.0.1:0")
    }

    /// Ranges are ignored: each answer is the whole file. Default: they are served.
    pub fn without_ranges(self) -> Self {
        Self { ranges: false, ..self }
    }

    /// `HEAD` is refused with 405, as behind addresses that are signed for `GET`. Default: it is served.
    pub fn without_head(self) -> Self {
        Self { head: false, ..self }
    }

    /// What it says of versions. Default: [`Etags::Strong`].
    pub fn etags(self, etags: Etags) -> Self {
        Self { etags, ..self }
    }

    /// Objects can be written as with S3 in path style: `PUT` and `DELETE`, also in parts, and `If-None-Match: *`
    /// and `If-Match` for the first of these. Default: 405.
    pub fn writable(self) -> Self {
        Self { writes: Some(Arc::new(Writes::new(true))), ..self }
    }

    /// As [`writable`](Self::writable), but conditions are ignored, as some stores do.
    pub fn writable_without_conditions(self) -> Self {
        Self { writes: Some(Arc::new(Writes::new(false))), ..self }
    }

    /// The most objects of a page, if it is writable: then it also lists the objects of a bucket. Default: 1000.
    pub fn page(self, page: usize) -> Self {
        Self { page, ..self }
    }

    /// Objects of which parts are there, and that were neither completed nor given up so far. To be asked of a copy of
    /// the server that was started.
    pub fn open_uploads(&self) -> usize {
        self.writes.as_ref().map_or(0, |writes| writes.open_uploads())
    }

    /// Starts it at an address, as `127.0.0.1:0`, where 0 is any free port.
    ///
    /// # Errors
    ///
    /// If the address cannot be had, or no thread.
    pub fn start(self, listen: &str) -> io::Result<Server> {
        Server::start(listen, Box::new(self), None)
    }

    /// Starts it with TLS, on a free port of the loopback.
    ///
    /// # Errors
    ///
    /// As of [`start`](Self::start).
    pub fn start_with_tls(self, config: ServerConfig) -> io::Result<Server> {
        Server::start("127.0.0.1:0", Box::new(self), Some(Arc::new(config)))
    }

    fn answer_of(&self, head: &Head, body: &[u8]) -> io::Result<Answer> {
        let path = self.path(head);
        if let (Some(writes), Some(path)) = (&self.writes, &path) {
            if let Some(answer) = writes.answer(&self.folder, path, head, body, &|| self.tag(path))? {
                return Ok(answer);
            }
            if let Some(asked) = lists::Asked::of(head).filter(|_| head.method() == Method::GET) {
                return Ok(xml(200, &lists::page(path, &asked, self.page, |path| self.tag(path))?));
            }
        }
        match *head.method() {
            Method::GET => {}
            Method::HEAD if self.head => {}
            _ => return Ok(empty(405)),
        }
        let found = path.ok_or(io::ErrorKind::NotFound.into()).and_then(File::open);
        let file = match found.and_then(|file| Ok((file.metadata()?, file))) {
            Ok((metadata, file)) if metadata.is_file() => self.content(head, file, &metadata)?,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => empty(403),
            _ => empty(404),
        };
        Ok(file)
    }

    /// What a request asks for of a file.
    fn content(&self, head: &Head, mut file: File, metadata: &Metadata) -> io::Result<Answer> {
        let total = metadata.len();
        let described = |answer| self.describe(answer, metadata);
        if let Some(status) = refused(head, &described(empty(200))) {
            return Ok(described(empty(status)));
        }
        let range = get(head.headers(), "Range").filter(|_| self.ranges);
        let Some(range) = range.and_then(|range| range::asked(range, total)) else {
            let ranges = if self.ranges { "bytes" } else { "none" };
            let answer = with(with(empty(200), "Content-Length", total), "Accept-Ranges", ranges);
            return Ok(described(answer).map(|_| pieces(file, total)));
        };
        if range.is_empty() {
            return Ok(with(empty(416), "Content-Range", format!("bytes */{total}")));
        }
        file.seek(SeekFrom::Start(range.start))?;
        let length = range.end - range.start;
        let answer = with(empty(206), "Content-Length", length);
        let answer = with(answer, "Content-Range", format!("bytes {}-{}/{total}", range.start, range.end - 1));
        Ok(described(answer).map(|_| pieces(file, length)))
    }

    /// The path of the file below the folder.
    fn path(&self, head: &Head) -> Option<PathBuf> {
        let path = percent_encoding::percent_decode_str(head.uri().path()).decode_utf8().ok()?;
        let path = Path::new(path.trim_start_matches('/'));
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
        is_below.then(|| self.folder.join(path))
    }

    /// The tag of an object, if it is there.
    fn tag(&self, path: &Path) -> Option<String> {
        let metadata = path.metadata().ok().filter(Metadata::is_file)?;
        Some(get(self.describe(empty(200), &metadata).headers(), "ETag").unwrap_or_default().to_owned())
    }

    /// An answer with what is known of the file's version.
    fn describe(&self, answer: Answer, metadata: &Metadata) -> Answer {
        let changed = metadata.modified().unwrap_or(UNIX_EPOCH);
        let nanoseconds = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let tag = format!("\"{:x}-{nanoseconds:x}\"", metadata.len());
        let answer = match self.etags {
            Etags::Strong => with(answer, "ETag", tag),
            Etags::Weak => with(answer, "ETag", format!("W/{tag}")),
            Etags::None => return answer,
        };
        with(answer, "Last-Modified", httpdate::fmt_http_date(changed))
    }
}

impl Backend for Origin {
    fn answer<'a>(&'a self, head: &'a Head, upload: Upload) -> BoxFuture<'a, io::Result<Answer>> {
        Box::pin(async move {
            let body = upload.collect().await.map_err(io::Error::other)?.to_bytes();
            self.answer_of(head, &body)
        })
    }
}

/// So many bytes of a file. Of one that became shorter, fewer.
fn pieces(file: File, length: u64) -> Pieces {
    let read = |(file, left): (File, u64)| async move {
        let mut piece = Vec::new();
        let mut some = file.take(left.min(PIECE));
        let read = some.read_to_end(&mut piece)? as u64;
        io::Result::Ok((read > 0).then(|| (piece.into(), (some.into_inner(), left - read))))
    };
    stream::try_unfold((file, length), read).boxed()
}

/// The status that the request's conditions lead to. Times count as equal or not, since clients only name those that the
/// server told them.
fn refused(head: &Head, described: &Answer) -> Option<u16> {
    let told = |name| get(described.headers(), name).unwrap_or_default();
    let wanted = |name| get(head.headers(), name);
    let names = |tags: &str| tags == "*" || tags.split(',').any(|tag| tag.trim() == told("ETag"));
    if let Some(tags) = wanted("If-Match") {
        // A weak tag never matches here (RFC 9110, 13.1.1).
        let same = tags == "*" || names(tags) && !told("ETag").starts_with("W/");
        return (!same).then_some(412);
    }
    if let Some(time) = wanted("If-Unmodified-Since") {
        return (time != told("Last-Modified")).then_some(412);
    }
    names(wanted("If-None-Match")?).then_some(304)
}
