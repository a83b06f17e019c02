//! A folder of files, served.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::backend::{Backend, Upload};
use super::lists;
use super::running::Server;
use super::writes::Writes;
use crate::wire::{self, Answer, Request};

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
        Server::start(listen, move || Folder { origin: self.clone(), body: None })
    }

    /// The path of the file below the folder.
    fn name(request: &Request) -> io::Result<PathBuf> {
        let path = wire::percent_decoded(request.path()).ok_or(io::ErrorKind::NotFound)?;
        let path = PathBuf::from(path.trim_start_matches('/'));
        if path.components().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(path)
    }

    fn open(&self, request: &Request) -> io::Result<(File, Metadata)> {
        let file = File::open(self.folder.join(Self::name(request)?))?;
        let metadata = file.metadata()?;
        if metadata.is_file() { Ok((file, metadata)) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// The list of a bucket's objects that a request asks for.
    fn list(&self, request: &Request) -> io::Result<Option<String>> {
        let asked = request.method == "GET" && self.writes.is_some();
        let Some(asked) = asked.then(|| lists::Asked::of(request)).flatten() else { return Ok(None) };
        let tag = |metadata: &Metadata| {
            let described = self.describe(Answer::new(200), metadata)?;
            Ok(described.fields.get("ETag").unwrap_or_default().to_owned())
        };
        lists::page(&self.folder.join(Self::name(request)?), &asked, self.page, &tag).map(Some)
    }

    /// The head of an answer with what is known of the file's version.
    fn describe(&self, mut answer: Answer, metadata: &Metadata) -> io::Result<Answer> {
        let changed = metadata.modified()?;
        let nanoseconds = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let tag = format!("\"{:x}-{nanoseconds:x}\"", metadata.len());
        match self.etags {
            Etags::Strong => answer.fields.set("ETag", tag),
            Etags::Weak => answer.fields.set("ETag", format!("W/{tag}")),
            Etags::None => return Ok(answer),
        }
        answer.fields.set("Last-Modified", httpdate::fmt_http_date(changed));
        Ok(answer)
    }
}

/// The folder as one connection sees it.
struct Folder {
    origin: Origin,
    body: Option<Box<dyn Read>>,
}

impl Folder {
    /// Carries a request out that writes.
    fn write(&mut self, request: &Request, upload: &mut Upload<'_>) -> io::Result<Option<Answer>> {
        let (Some(writes), Ok(name)) = (&self.origin.writes, Origin::name(request)) else { return Ok(None) };
        let tag = || {
            let (_, metadata) = self.origin.open(request).ok()?;
            let described = self.origin.describe(Answer::new(200), &metadata).ok()?;
            Some(described.fields.get("ETag").unwrap_or_default().to_owned())
        };
        let Some((answer, body)) = writes.answer(&self.origin.folder, &name, request, upload, &tag)? else {
            return Ok(None);
        };
        let answer = answer.with("Content-Length", body.len());
        self.body = Some(Box::new(io::Cursor::new(body.into_bytes())));
        Ok(Some(answer))
    }
}

impl Backend for Folder {
    fn answer(&mut self, request: &Request, upload: &mut Upload<'_>) -> io::Result<Answer> {
        self.body = None;
        if let Some(answer) = self.write(request, upload)? {
            return Ok(answer);
        }
        upload.drain()?;
        if let Some(list) = self.origin.list(request)? {
            let answer = Answer::new(200).with("Content-Length", list.len()).with("Content-Type", "application/xml");
            self.body = Some(Box::new(io::Cursor::new(list.into_bytes())));
            return Ok(answer);
        }
        match request.method.as_str() {
            "GET" => {}
            "HEAD" if self.origin.head => {}
            _ => return Ok(empty(405)),
        }
        let (mut file, metadata) = match self.origin.open(request) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(empty(403)),
            Err(_) => return Ok(empty(404)),
        };
        let described = self.origin.describe(Answer::new(200), &metadata)?;
        if let Some(status) = refused(request, &described) {
            return self.origin.describe(empty(status), &metadata);
        }
        let total = metadata.len();
        let range = request.fields.get("Range").filter(|_| self.origin.ranges);
        let Some(range) = range.and_then(|range| wire::asked(range, total)) else {
            self.body = Some(Box::new(file.take(total)));
            let ranges = if self.origin.ranges { "bytes" } else { "none" };
            return Ok(described.with("Content-Length", total).with("Accept-Ranges", ranges));
        };
        if range.is_empty() {
            return Ok(empty(416).with("Content-Range", format!("bytes */{total}")));
        }
        file.seek(SeekFrom::Start(range.start))?;
        self.body = Some(Box::new(file.take(range.end - range.start)));
        let answer = self.origin.describe(Answer::new(206), &metadata)?;
        let content_range = format!("bytes {}-{}/{total}", range.start, range.end - 1);
        Ok(answer.with("Content-Length", range.end - range.start).with("Content-Range", content_range))
    }

    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.body.as_mut().map_or(Ok(0), |body| body.read(out))
    }
}

fn empty(status: u16) -> Answer {
    Answer::new(status).with("Content-Length", 0)
}

/// The status that the request's conditions lead to. Times count as equal or not, since clients only name those that the
/// server told them.
fn refused(request: &Request, described: &Answer) -> Option<u16> {
    let told = |name| described.fields.get(name).unwrap_or_default();
    let wanted = |name| request.fields.get(name);
    if let Some(tags) = wanted("If-Match") {
        let tag = told("ETag");
        // A weak tag never matches here (RFC 9110, 13.1.1).
        let same = tags == "*" || (request.fields.says("If-Match", tag) && !tag.starts_with("W/"));
        return (!same).then_some(412);
    }
    if let Some(time) = wanted("If-Unmodified-Since") {
        return (time != told("Last-Modified")).then_some(412);
    }
    let tags = wanted("If-None-Match")?;
    (tags == "*" || request.fields.says("If-None-Match", told("ETag"))).then_some(304)
}
