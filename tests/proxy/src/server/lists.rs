//! Lists of objects, as S3 gives them (`ListObjectsV2`).

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use crate::message::Head;

/// What a client wants listed.
pub struct Asked {
    prefix: String,
    /// The key behind which the page begins.
    after: String,
}

impl Asked {
    pub fn of(head: &Head) -> Option<Self> {
        let query = head.uri().query()?;
        let find = |name| {
            let value = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(n, _)| *n == name)?.1;
            let value = value.replace('+', " ");
            percent_encoding::percent_decode_str(&value).decode_utf8().ok().map(String::from)
        };
        find("list-type")?;
        let after = find("continuation-token").or_else(|| find("start-after")).unwrap_or_default();
        Some(Self { prefix: find("prefix").unwrap_or_default(), after })
    }
}

/// A page of at most `most` objects of the folder `bucket`. `tag` gives the tag of an object.
pub fn page(bucket: &Path, asked: &Asked, most: usize, tag: impl Fn(&Path) -> Option<String>) -> io::Result<String> {
    let mut keys = Vec::new();
    add_keys(bucket, "", &mut keys)?;
    keys.retain(|key| key.starts_with(&asked.prefix) && *key > asked.after);
    keys.sort();
    let more = keys.len() > most;
    keys.truncate(most);
    let mut text = format!("<ListBucketResult><IsTruncated>{more}</IsTruncated>");
    for key in &keys {
        let path = bucket.join(key);
        let (tag, size) = (tag(&path).unwrap_or_default().replace('"', "&quot;"), fs::metadata(path)?.len());
        let key = key.replace('&', "&amp;").replace('<', "&lt;");
        let time = "2026-01-01T00:00:00.000Z";
        let _ = write!(
            text,
            "<Contents><Key>{key}</Key><LastModified>{time}</LastModified><ETag>{tag}</ETag><Size>{size}</Size></Contents>"
        );
    }
    if let Some(last) = keys.last().filter(|_| more) {
        let _ = write!(text, "<NextContinuationToken>{}</NextContinuationToken>", last.replace('&', "&amp;"));
    }
    Ok(text + "</ListBucketResult>")
}

fn add_keys(folder: &Path, prefix: &str, keys: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let key = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            add_keys(&entry.path(), &format!("{key}/"), keys)?;
        } else {
            keys.push(key);
        }
    }
    Ok(())
}
