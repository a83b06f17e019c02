//! Writing to a folder as to a store of S3 in path style.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use crate::message::{Answer, Head, empty, error, get, with, xml};

/// Parts of an object, other than the last one, are no smaller (S3's `EntityTooSmall`).
const SMALLEST_PART: usize = 5 << 20;

/// What writers of a folder share.
#[derive(Debug)]
pub struct Writes {
    conditions: bool,
    /// One write takes effect at a time, so conditions hold.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Objects that come in parts, by the id of the upload.
    uploads: HashMap<String, BTreeMap<u32, Vec<u8>>>,
    ids: u64,
    /// The time of the last write: no two have the same, since tags are made of it.
    last: SystemTime,
}

/// What a request does.
enum Action<'a> {
    Put,
    Begin,
    Part(&'a str, u32),
    Complete(&'a str),
    Abort(&'a str),
    Remove,
}

impl Writes {
    pub fn new(conditions: bool) -> Self {
        let state = State { uploads: HashMap::new(), ids: 0, last: SystemTime::UNIX_EPOCH };
        Self { conditions, state: Mutex::new(state) }
    }

    /// Carries a request out that writes the object at `path` in `folder`, whose tag is now `tag`. `None` if it does not
    /// write.
    pub fn answer(
        &self,
        folder: &Path,
        path: &Path,
        head: &Head,
        body: &[u8],
        tag: &dyn Fn() -> Option<String>,
    ) -> io::Result<Option<Answer>> {
        let Some(action) = action(head) else { return Ok(None) };
        let mut state = self.state.lock().unwrap();
        let refused = || if self.conditions { refused(head, tag()) } else { None };
        let done = match action {
            Action::Put => match refused() {
                Some(answer) => answer,
                None => {
                    state.put(folder, path, body)?;
                    with(empty(200), "ETag", tag().unwrap_or_default())
                }
            },
            Action::Begin => {
                state.ids += 1;
                let id = format!("upload-{}", state.ids);
                state.uploads.insert(id.clone(), BTreeMap::new());
                let result = "InitiateMultipartUploadResult";
                xml(200, &format!("<{result}><UploadId>{id}</UploadId></{result}>"))
            }
            Action::Part(id, number) => match state.uploads.get_mut(id) {
                Some(parts) => {
                    parts.insert(number, body.to_vec());
                    with(empty(200), "ETag", format!("\"part-{number}-{}\"", body.len()))
                }
                None => error(404, "NoSuchUpload"),
            },
            Action::Complete(id) => match (state.assembled(id, body), refused()) {
                (Err((status, code)), _) => error(status, code),
                (Ok(_), Some(refusal)) => refusal,
                (Ok(bytes), None) => {
                    state.uploads.remove(id);
                    state.put(folder, path, &bytes)?;
                    let (tag, result) = (tag().unwrap_or_default(), "CompleteMultipartUploadResult");
                    xml(200, &format!("<{result}><ETag>{tag}</ETag></{result}>"))
                }
            },
            Action::Abort(id) => match state.uploads.remove(id) {
                Some(_) => empty(204),
                None => error(404, "NoSuchUpload"),
            },
            Action::Remove => {
                // Fine if there is none.
                let _ = fs::remove_file(path);
                empty(204)
            }
        };
        Ok(Some(done))
    }

    /// Objects of which parts are there, and that were neither completed nor given up.
    pub fn open_uploads(&self) -> usize {
        self.state.lock().unwrap().uploads.len()
    }
}

impl State {
    /// Replaces an object in one step.
    fn put(&mut self, folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.last = SystemTime::now().max(self.last + Duration::from_micros(1));
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        // Outside of all buckets.
        let temporary = folder.join(".written");
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.set_modified(self.last)?;
        fs::rename(temporary, path)
    }

    /// The object that a list of parts makes, or the status and the code of the answer.
    fn assembled(&self, id: &str, list: &[u8]) -> Result<Vec<u8>, (u16, &'static str)> {
        let Some(parts) = self.uploads.get(id) else { return Err((404, "NoSuchUpload")) };
        let list = String::from_utf8_lossy(list);
        let numbers: Vec<u32> =
            list.split("<PartNumber>").skip(1).filter_map(|rest| rest.split('<').next()?.trim().parse().ok()).collect();
        if numbers.is_empty() || !numbers.is_sorted() {
            return Err((400, "InvalidPartOrder"));
        }
        let mut bytes = Vec::new();
        for (place, number) in numbers.iter().enumerate() {
            let Some(part) = parts.get(number) else { return Err((400, "InvalidPart")) };
            if part.len() < SMALLEST_PART && place + 1 < numbers.len() {
                return Err((400, "EntityTooSmall"));
            }
            bytes.extend(part);
        }
        Ok(bytes)
    }
}

fn action(head: &Head) -> Option<Action<'_>> {
    let query = head.uri().query().unwrap_or_default();
    let find = |name: &str| query.split('&').filter_map(|pair| pair.split_once('=')).find(|(n, _)| *n == name);
    let id = find("uploadId").map(|(_, id)| id);
    let number = find("partNumber").and_then(|(_, number)| number.parse().ok());
    Some(match (head.method().as_str(), id, number) {
        ("PUT", Some(id), Some(number)) => Action::Part(id, number),
        ("PUT", None, None) => Action::Put,
        ("POST", Some(id), None) => Action::Complete(id),
        ("POST", None, None) if query.starts_with("uploads") => Action::Begin,
        ("DELETE", Some(id), None) => Action::Abort(id),
        ("DELETE", None, None) => Action::Remove,
        _ => return None,
    })
}

/// What S3 says where a condition does not hold.
fn refused(head: &Head, tag: Option<String>) -> Option<Answer> {
    if get(head.headers(), "If-None-Match") == Some("*") && tag.is_some() {
        return Some(error(412, "PreconditionFailed"));
    }
    let wanted = get(head.headers(), "If-Match")?;
    match tag {
        None => Some(error(404, "NoSuchKey")),
        Some(tag) => (tag != wanted).then(|| error(412, "PreconditionFailed")),
    }
}
