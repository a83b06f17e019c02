//! Fetches ranges of objects, of one version each.

use std::ops::Range;

use futures_util::StreamExt;
use object_store::path::Path as Key;
use object_store::{Attribute, GetOptions, GetRange, ObjectMeta};

use super::failure::{Failure, passing, refuse};
use super::request::{Broken, FetchError, Link, Task};
use crate::store::storage::add;
use vidrec_format::allocation;

/// The version of an object. Every answer must agree with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub length: u64,
    /// The ETag, or the time of the last change if the server sends no ETag, or empty if it sends neither.
    pub tag: String,
}

impl Version {
    /// The version that an answer describes.
    pub fn of(meta: &ObjectMeta) -> Self {
        let tag = meta.e_tag.clone().unwrap_or_else(|| match meta.last_modified.timestamp_millis() {
            0 => String::new(),
            changed => format!("changed {changed}"),
        });
        Version { length: meta.size, tag }
    }

    /// The tag for a condition of a request. A weak ETag never matches (RFC 9110, section 13.1.1).
    fn strong_tag(&self) -> Option<String> {
        let is_strong = self.tag.starts_with('"') || !self.tag.contains(['/', ' ']);
        (is_strong && !self.tag.is_empty()).then(|| self.tag.clone())
    }

    fn check(&self, found: &Version) -> Result<(), Failure> {
        if self == found {
            return Ok(());
        }
        let say =
            |v: &Version| format!("{} bytes, version {}", v.length, if v.tag.is_empty() { "unknown" } else { &v.tag });
        let what = format!("the object was replaced: expected {}, found {}", say(self), say(found));
        Err(refuse(what, "open the data set again"))
    }
}

/// The bytes that a request asks for.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Range(Range<u64>),
    /// The whole object, if it has at most so many bytes.
    Whole(u64),
}

impl Link {
    /// Fetches a part of an object, which must have this version if one is given.
    pub async fn fetch(
        &self,
        task: &Task,
        part: Part,
        version: Option<&Version>,
    ) -> Result<(Vec<u8>, ObjectMeta), FetchError> {
        let found = self.run(task, || self.fetch_once(&task.key, &part, version)).await;
        found.map_err(|e| match part {
            Part::Range(range) => e.at(range),
            Part::Whole(_) => e,
        })
    }

    async fn fetch_once(
        &self,
        key: &Key,
        part: &Part,
        version: Option<&Version>,
    ) -> Result<(Vec<u8>, ObjectMeta), Broken> {
        let range = match part {
            Part::Range(range) => Some(GetRange::Bounded(range.clone())),
            Part::Whole(_) => None,
        };
        let if_match = version.and_then(Version::strong_tag);
        let found = self.client.store.get_opts(key, GetOptions { if_match, range, ..GetOptions::default() }).await?;
        let now = Version::of(&found.meta);
        version.map_or(Ok(()), |expected| expected.check(&now))?;
        let encoding = found.attributes.get(&Attribute::ContentEncoding).map_or("", |encoding| encoding.as_ref());
        if !matches!(encoding, "" | "identity") {
            let what = format!("the answer is compressed ({encoding})");
            return Err(refuse(what, "store and serve the files of data sets as they are").into());
        }
        let wanted = match part {
            Part::Range(range) => now.length.min(range.end).saturating_sub(range.start),
            Part::Whole(most) if now.length > *most => {
                let what = format!("expected at most {most} bytes, found {}", now.length);
                return Err(refuse(what, "check the location").into());
            }
            Part::Whole(_) => now.length,
        };
        let meta = found.meta.clone();
        Ok((self.receive(found.into_stream(), wanted).await?, meta))
    }

    /// Receives `wanted` bytes, and no more, whatever the server sends.
    async fn receive(
        &self,
        mut body: impl StreamExt<Item = object_store::Result<impl AsRef<[u8]>>> + Unpin,
        wanted: u64,
    ) -> Result<Vec<u8>, Broken> {
        let mut bytes = Vec::new();
        let no_memory = |e: vidrec_format::error::Error| refuse(e.to_string(), "close other programs");
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|e| {
                let cause = super::failure::cause(&e);
                passing(format!("the answer broke off after {} of {wanted} bytes: {cause}", bytes.len()))
            })?;
            let chunk = chunk.as_ref();
            add(&self.counters.fetched_bytes, chunk.len() as u64);
            let left = wanted - bytes.len() as u64;
            if chunk.len() as u64 > left {
                return Err(
                    passing(format!("the answer is longer than the {wanted} bytes that vidrec requested")).into()
                );
            }
            allocation::reserve(&mut bytes, usize::try_from(left).unwrap_or(usize::MAX), "what was fetched")
                .map_err(no_memory)?;
            bytes.extend_from_slice(chunk);
        }
        if (bytes.len() as u64) < wanted {
            return Err(passing(format!("the answer ended after {} of {wanted} bytes", bytes.len())).into());
        }
        Ok(bytes)
    }
}
