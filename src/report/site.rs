//! Answers what the page of `vidrec browse` asks for: figures, clips, frames and tracks.

use std::collections::BTreeMap;

use serde_json::json;

use super::check::{CheckReport, FindingKind};
use super::data::{self, MOST_FINDINGS, page_data};
use super::facts;
use super::figures::{NamedSet, Report, all_figures};
use super::page::{Page, in_script};
use super::tracks::{self, Answer};
use crate::{Clip, Result};

/// The clips that are described at once for a search, and about the most bytes of their descriptions.
const PIECE: u64 = 4096;
const PIECE_BYTES: usize = 4 << 20;

/// Data sets, and a page that shows them.
pub struct Site {
    sets: Vec<NamedSet>,
    title: String,
    page: String,
}

impl Site {
    /// Makes the page. `found` is the report of a check of the same data sets.
    ///
    /// # Errors
    ///
    /// [`Internal`](vidrec_format::error::ErrorKind::Internal) if the names cannot be written as JSON, which does not
    /// happen.
    pub fn new(sets: Vec<NamedSet>, title: Option<&str>, found: Option<&CheckReport>) -> Result<Self> {
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        let title = title.map_or_else(|| names.join(", "), str::to_owned);
        // The clips of all findings, also of those that are not listed.
        let mut marks: BTreeMap<FindingKind, Vec<(usize, u64)>> = BTreeMap::new();
        for finding in found.iter().flat_map(|found| &found.findings) {
            marks.entry(finding.kind).or_default().extend(finding.clips.iter().map(|clip| (clip.set, clip.clip)));
        }
        let all: u64 = sets.iter().map(|set| set.set.len()).sum();
        let digests: Vec<String> = sets.iter().map(|set| set.set.fingerprint().digest).collect();
        let set = |NamedSet { name, set }: &NamedSet| json!({ "name": name, "clips": set.len(), "class_names": set.classes() });
        let data = in_script(&json!({
            "title": title,
            "key": data::key(digests.iter().map(String::as_str)),
            "sets": sets.iter().map(set).collect::<Vec<_>>(),
            "notes": [],
            "findings": found.map(|found| data::findings(found, MOST_FINDINGS)),
            "checked": found.map(|found| json!({ "clips": found.clips, "of_clips": all })),
            "marks": marks,
        }))?;
        let page = Page { title: &title, data: &data, more: "", strips: "" }.served();
        Ok(Site { sets, title, page })
    }

    /// Answers a request for a path below the page, such as `0/17/3.jpg`; `None` if there is nothing.
    ///
    /// # Errors
    ///
    /// Those of reading what is asked for. [`Format`](vidrec_format::error::ErrorKind::Format) and
    /// [`Decode`](vidrec_format::error::ErrorKind::Decode) say that it is damaged.
    pub fn answer(&self, path: &str) -> Result<Option<Answer>> {
        let parts: Vec<&str> = path.split('/').collect();
        match parts[..] {
            [""] => {
                return Ok(Some(Answer { kind: "text/html; charset=utf-8", bytes: self.page.clone().into_bytes() }));
            }
            ["overview.json"] => return self.overview().map(Some),
            _ => {}
        }
        let Some((set, number)) = parts.first().and_then(|&part| self.set(part)) else { return Ok(None) };
        let clip = |part: &str| number_of(part).filter(|&clip| clip < set.set.len()).map(|clip| set.set.clip(clip));
        match parts[1..] {
            ["clips", first] => match number_of(first).filter(|&first| first < set.set.len()) {
                Some(first) => piece(set, number, first).map(Some),
                None => Ok(None),
            },
            [name] => match name.strip_suffix(".json").and_then(clip) {
                Some(clip) => Answer::json(&facts::served(number, &clip?)?).map(Some),
                None => Ok(None),
            },
            [ordinal, name] => match clip(ordinal) {
                Some(clip) => of_clip(&clip?, name),
                None => Ok(None),
            },
            [ordinal, track, name] => {
                match (clip(ordinal), number_of(track), name.strip_suffix(".png").and_then(number_of)) {
                    (Some(clip), Some(track), Some(value)) => tracks::picture(&clip?, track, value),
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    fn set(&self, part: &str) -> Option<(&NamedSet, usize)> {
        let number = usize::try_from(number_of(part)?).ok()?;
        Some((self.sets.get(number)?, number))
    }

    /// The figures of all data sets, which reads their indexes.
    fn overview(&self) -> Result<Answer> {
        let sets = all_figures(&self.sets)?;
        let (title, notes) = (self.title.clone(), Vec::new());
        let report = Report { title, page_bytes: 0, shown: None, sets, checked: None, findings: None, notes };
        Answer::json(&page_data(&report, None, 0))
    }
}

/// A whole number as an address has it: digits alone.
fn number_of(part: &str) -> Option<u64> {
    (!part.is_empty() && part.bytes().all(|c| c.is_ascii_digit())).then(|| part.parse().ok()).flatten()
}

/// A frame or the tracks of a clip, by name.
fn of_clip(clip: &Clip<'_>, name: &str) -> Result<Option<Answer>> {
    if let Some(t) = name.strip_suffix(".jpg").and_then(number_of) {
        let Some(t) = u32::try_from(t).ok().filter(|&t| t < clip.frame_count()) else { return Ok(None) };
        let frame = clip.frame(t)?;
        let bytes = frame.jpeg().to_vec();
        frame.check_copy(&bytes)?;
        return Ok(Some(Answer { kind: "image/jpeg", bytes }));
    }
    match name {
        "tracks.json" => tracks::all(clip).map(Some),
        "audio.wav" => tracks::sound(clip),
        _ => Ok(None),
    }
}

/// Describes clips from `first` on, each in a line of JSON.
fn piece(set: &NamedSet, number: usize, first: u64) -> Result<Answer> {
    let mut bytes = Vec::new();
    for clip in (first..set.set.len()).take(PIECE as usize) {
        if bytes.len() > PIECE_BYTES {
            break;
        }
        let facts = set.set.clip(clip).and_then(|clip| facts::of_index(number, &clip));
        let line = facts.and_then(|facts| Answer::json(&facts));
        bytes.extend(line.or_else(|e| Answer::json(&json!({ "fault": e.to_string() })))?.bytes);
        bytes.push(b'\n');
    }
    Ok(Answer { kind: "application/x-ndjson", bytes })
}
