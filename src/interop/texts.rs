//! Imports texts: JSON lines, each of which becomes a clip without frames.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::sink::ImportReport;
use super::sink::{self, ImportOptions, Sink, file_name};
use crate::{ClipInfo, Error, JsonObject, ProgressFn, Result, limits};
use vidrec_core::store::disk::regular_file::{Links, open_regular};

/// A shard ends when its lines have this many bytes, because the writer keeps texts in memory until then.
const SHARD_BYTES: u64 = 256 << 20;

/// Imports each line of `files`, a JSON object, as a clip without frames, in order.
///
/// Every key becomes an attribute, except `label`: a whole number, or the name of a class; all lines have labels of the same
/// kind. Classes are numbered in order of name. The source of a clip is the name of its file with the number of its line, such
/// as `list.jsonl:12`. Empty lines are ignored. Files are read twice, the first time for the names of classes.
///
/// ```
/// use vidrec::Dataset;
/// use vidrec::interop::{ImportOptions, texts};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let at = |name: &str| folder.path().join(name);
/// std::fs::write(at("list.jsonl"), r#"{"text": "a dog runs", "label": "run"}"#).unwrap();
/// let options = &ImportOptions::default();
/// texts::import(&[at("list.jsonl")], &at("texts"), options, &mut vidrec::no_progress)?;
///
/// let texts = Dataset::open(at("texts"))?;
/// let clip = texts.clip(0)?;
/// assert_eq!((clip.frame_count(), clip.class()?), (0, "run".into()));
/// assert_eq!(clip.attributes()?.get::<String>("text")?, Some("a dog runs".into()));
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// A line that is no JSON object, that has another kind of label, or that is too long, unless
/// [`salvage`](ImportOptions::salvage) is set. [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if there is a data set in `out`, or there are no lines.
pub fn import(
    files: &[PathBuf],
    out: &Path,
    options: &ImportOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<ImportReport> {
    let mut names = BTreeSet::new();
    for file in files {
        for_each_line(file, &mut |_, line| {
            let name = line.ok().and_then(|(_, object)| Some(object.0.get("label")?.as_str()?.to_owned()));
            names.extend(name.filter(|name| !name.is_empty()));
            Ok(())
        })?;
    }
    let names: Vec<String> = names.into_iter().collect();
    let classes: BTreeMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let mut sink = Sink::create(out, sink::meta("texts", names.clone()), options, progress)?;
    let mut bytes = 0;
    for file in files {
        for_each_line(file, &mut |number, line| {
            let name = format!("{}:{number}", file_name(file));
            match line.and_then(|(length, object)| Ok((length, clip(name.clone(), object, &classes)?))) {
                Ok((length, clip)) => {
                    bytes += length;
                    sink.add(&name, clip, &[], &[]).map_err(|e| e.file(file))?;
                }
                Err(e) => sink.leave_out(&name, e.file(file).also_help(format!("this is line {number}")))?,
            }
            if bytes >= SHARD_BYTES {
                bytes = 0;
                sink.next_shard()?;
            }
            Ok(())
        })?;
    }
    sink.finish()
}

/// Calls `each` with the number of every line that is not empty, its length, and the object on it.
fn for_each_line(file: &Path, each: &mut dyn FnMut(u64, Result<(u64, JsonObject)>) -> Result<()>) -> Result<()> {
    let failed = |e| Error::io("read the file", file, e);
    let mut reader = BufReader::new(open_regular(file, Links::Follow)?);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let most = limits::MAX_CLIP_TEXT_BYTES + 1;
        let read = reader.by_ref().take(most).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            break;
        }
        let is_cut = read as u64 == most && !line.ends_with(b"\n");
        if is_cut {
            reader.skip_until(b'\n').map_err(failed)?;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let object = match is_cut {
            true => Err(Error::limit("the line is too long").expected(format!("at most {} bytes", most - 1))),
            false => object(text),
        };
        each(number, object.map(|object| (read as u64, object)))?;
    }
    Ok(())
}

fn object(line: &[u8]) -> Result<JsonObject> {
    serde_json::from_slice(line).map_err(|e| {
        // The position counts lines within the line.
        let what = e.to_string().split(" at line ").next().unwrap_or_default().to_owned();
        Error::usage(format!("the line is not a JSON object: {what}")).found(format!("at character {}", e.column()))
    })
}

/// The clip of a line.
fn clip(source: String, mut object: JsonObject, classes: &BTreeMap<&str, u32>) -> Result<ClipInfo> {
    let mut clip = ClipInfo { source, time_base: (1, 1), ..ClipInfo::default() };
    let label = object.0.remove("label").unwrap_or_default();
    let number = label.as_u64().filter(|&n| n <= limits::MAX_LABEL as u64).and_then(|n| u32::try_from(n).ok());
    match &label {
        Value::Null => {}
        Value::String(name) if name.is_empty() => {}
        Value::String(name) => {
            clip.label = classes.get(name.as_str()).copied();
            clip.class.clone_from(name);
        }
        _ if number.is_some() && classes.is_empty() => clip.label = number,
        _ => {
            let expected = match classes.is_empty() {
                true => format!("a whole number from 0 to {}, or the name of a class", limits::MAX_LABEL),
                false => "the name of a class, as on other lines".to_owned(),
            };
            return Err(Error::usage("the value of \"label\" is not a label").expected(expected).found(label));
        }
    }
    clip.attributes = object;
    Ok(clip)
}
