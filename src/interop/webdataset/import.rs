//! Imports WebDataset shards.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::interop::clip_json;
use crate::interop::clip_json::ClipJson;
use crate::interop::sink;
use crate::interop::sink::Sink;
use crate::interop::{ImportOptions, ImportReport, text, tracks};
use vidrec_core::dataset::writer::Track;
use vidrec_core::progress::ProgressFn;
use vidrec_core::source_name;
use vidrec_core::store::disk::map::MappedFile;
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::limits;
use vidrec_format::meta::Meta;

/// The size of a tar header in bytes, and the unit to which files are padded.
const BLOCK: usize = 512;

/// The largest file of a sample, other than an image, that is read.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Imports tar files in the given order. Each sample becomes a clip.
///
/// A sample's images (`.jpg`, `.jpeg`, `.png`) are its frames. They are in order of the last number between key
/// and ending (`KEY.007.jpg`), or in the order of the file if they have none. `.cls` is the label. The keys of
/// `.json` become attributes, except that its key `label` becomes the label if there is no `.cls`. `.txt` becomes
/// the attribute `txt`. If an export of vidrec wrote the sample, its `.json` describes the whole clip, and its
/// files `.track.*` hold the tracks. Other files are counted and ignored.
///
/// # Errors
///
/// The first fault, such as a truncated file, a sample without images, or an image that is not a JPEG, unless
/// [`salvage`](ImportOptions::salvage) is set. [`Io`](vidrec_format::error::ErrorKind::Io),
/// [`Usage`](vidrec_format::error::ErrorKind::Usage).
pub fn import(
    files: &[PathBuf],
    out: &Path,
    options: &ImportOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<ImportReport> {
    let first = files.first().ok_or_else(|| Error::usage("no tar files are given"))?;
    let meta = our_meta(first)?.unwrap_or_else(|| sink::meta("webdataset", Vec::new()));
    let mut import =
        Import { sink: Sink::create(out, meta, options, progress)?, options, passed_over: BTreeMap::new() };
    for path in files {
        import.file(path)?;
    }
    let mut report = import.sink.finish()?;
    let note = |(ending, n): (&String, &u64)| format!("ignored .{ending} files: {n}");
    report.notes.extend(import.passed_over.iter().map(note));
    Ok(report)
}

fn our_meta(file: &Path) -> Result<Option<Meta>> {
    clip_json::read_meta(file.parent().unwrap_or(Path::new("")))
}

struct Import<'a, 'f> {
    sink: Sink<'a, 'f>,
    options: &'a ImportOptions,
    /// The number of ignored files by ending.
    passed_over: BTreeMap<String, u64>,
}

/// The files of one sample: their endings in lower case, and their contents.
struct Sample {
    key: String,
    files: Vec<(String, Vec<u8>)>,
}

impl Import<'_, '_> {
    fn file(&mut self, path: &Path) -> Result<()> {
        let bytes = MappedFile::open(path)?;
        if bytes.starts_with(&[0x1F, 0x8B]) {
            return Err(Error::usage("the file is compressed").file(path).help("decompress it first (gunzip)"));
        }
        let (mut at, mut behind_damage) = (0, false);
        while let Some(damage) = self.stretch(path, &bytes[at..], behind_damage)? {
            let Some(next) = next_header(&bytes, at + damage + BLOCK) else { break };
            (at, behind_damage) = (next, true);
        }
        bytes.prove_whole(path)
    }

    /// Imports samples up to the end of the archive or up to damage. Returns where to continue after the damage.
    ///
    /// Samples next to damage may have lost files, so they are skipped.
    fn stretch(&mut self, path: &Path, bytes: &[u8], behind_damage: bool) -> Result<Option<usize>> {
        let mut sample: Option<Sample> = None;
        let mut skipped = behind_damage.then(String::new);
        let mut end = 0;
        let mut archive = tar::Archive::new(bytes);
        for entry in archive.entries().map_err(|e| Error::io("read the tar file", path, e))? {
            let entry = entry.map_err(|e| text::malformed(path, format!("a tar header is damaged or truncated: {e}")));
            let member = entry.and_then(|entry| {
                let behind = entry.raw_file_position().saturating_add(entry.size());
                end = behind.min(bytes.len() as u64).next_multiple_of(BLOCK as u64) as usize;
                self.member(entry).map_err(|e| e.file(path))
            });
            let (key, ending, content) = match member {
                Ok(Some(member)) => member,
                Ok(None) => continue,
                Err(e) => return self.damage(path, e, sample).map(|()| Some(end)),
            };
            // After damage, the first key is that of a sample that may have lost files.
            match &mut skipped {
                Some(first) if first.is_empty() || *first == key => {
                    *first = key;
                    continue;
                }
                _ => skipped = None,
            }
            match &mut sample {
                Some(sample) if sample.key == key => sample.files.push((ending, content)),
                _ => {
                    let new = Sample { key, files: vec![(ending, content)] };
                    sample.replace(new).map_or(Ok(()), |sample| self.add(path, sample))?;
                }
            }
        }
        if !bytes.ends_with(&[0; 2 * BLOCK]) {
            let e = text::malformed(path, "the end of the archive is missing: the file was truncated");
            return self.damage(path, e, sample).map(|()| Some(bytes.len()));
        }
        sample.map_or(Ok(()), |sample| self.add(path, sample)).map(|()| None)
    }

    /// Skips the current sample, which may have lost files.
    fn damage(&mut self, path: &Path, e: Error, sample: Option<Sample>) -> Result<()> {
        let place = text::name(path);
        let place = sample.map_or(place.clone(), |sample| format!("{place}, sample {} and the next", sample.key));
        self.sink.leave_out(&place, e)
    }

    /// Returns the key, ending and contents of a file, unless it is ignored.
    fn member(&mut self, mut entry: tar::Entry<'_, impl Read>) -> Result<Option<(String, String, Vec<u8>)>> {
        if !entry.header().entry_type().is_file() {
            return Ok(None);
        }
        let name = source_name::of_bytes(&entry.path_bytes());
        let start = name.rfind('/').map_or(0, |slash| slash + 1);
        let Some((stem, ending)) = name[start..].split_once('.').filter(|(stem, _)| !stem.is_empty()) else {
            *self.passed_over.entry(String::new()).or_default() += 1;
            return Ok(None);
        };
        let (key, ending) = (name[..start].to_owned() + stem, ending.to_ascii_lowercase());
        let is_track = tracks::is_file(&ending);
        let most = match is_picture(&ending) {
            true => limits::MAX_RECORD_BYTES,
            false if is_track => limits::MAX_TRACK_BLOCK_BYTES,
            false => MAX_TEXT_BYTES,
        };
        if !is_picture(&ending) && !is_track && !matches!(last(&ending), "json" | "cls" | "txt") {
            *self.passed_over.entry(last(&ending).to_owned()).or_default() += 1;
            // The sample exists even if all its files are ignored. It is reported for that reason.
            return Ok(Some((key, ending, Vec::new())));
        }
        let length = entry.size();
        if length > most {
            return Err(Error::limit(format!("{name} is too long")).expected(most).found(length));
        }
        let mut bytes = Vec::new();
        let read = entry.by_ref().take(length).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() as u64 != length {
            return Err(Error::decode(format!("{name} is truncated")).expected(length).found(bytes.len()));
        }
        Ok(Some((key, ending, bytes)))
    }

    fn add(&mut self, path: &Path, sample: Sample) -> Result<()> {
        let place = format!("{}, sample {}", text::name(path), sample.key);
        let failed = |e: Error| e.file(path).also_help(format!("this is sample {}", sample.key));
        let read = clip(&sample, self.options);
        let read = read.and_then(|(clip, pictures)| Ok((read_tracks(&sample, &clip)?, clip, pictures)));
        match read {
            Ok((tracks, clip, pictures)) => {
                self.pass_over_tracks(&sample, &clip);
                self.sink.add(&place, &clip, &pictures, &tracks).map_err(failed)
            }
            Err(e) => self.sink.leave_out(&place, failed(e)),
        }
    }

    /// Counts the files that look like files of tracks but belong to none.
    fn pass_over_tracks(&mut self, sample: &Sample, clip: &ClipJson) {
        let stems: Vec<&str> = clip.tracks.iter().filter_map(|track| track.files.as_deref()).collect();
        for (ending, _) in sample.files.iter().filter(|(ending, _)| tracks::is_file(ending)) {
            let is_of = |stem: &&str| ending.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.'));
            if !stems.iter().any(is_of) {
                *self.passed_over.entry(last(ending).to_owned()).or_default() += 1;
            }
        }
    }
}

/// Reads the tracks of a sample that an export of vidrec wrote.
fn read_tracks(sample: &Sample, clip: &ClipJson) -> Result<Vec<Track>> {
    let file = |name: &str| {
        let found = sample.files.iter().find(|(ending, _)| ending == name);
        let missing = || Error::decode("a file of the track is missing").expected(format!("{}.{name}", sample.key));
        found.map(|(_, bytes)| Cow::Borrowed(&bytes[..])).ok_or_else(missing)
    };
    clip.tracks.iter().map(|track| tracks::read(track, &file)).collect()
}

fn last(ending: &str) -> &str {
    ending.rsplit('.').next().unwrap_or(ending)
}

fn is_picture(ending: &str) -> bool {
    matches!(last(ending), "jpg" | "jpeg" | "png")
}

/// Returns the clip and the frames of a sample.
fn clip<'a>(sample: &'a Sample, options: &ImportOptions) -> Result<(ClipJson, Vec<Cow<'a, [u8]>>)> {
    let mut frames: Vec<_> = sample.files.iter().filter(|(ending, _)| is_picture(ending)).collect();
    if frames.iter().all(|(ending, _)| number(ending).is_some()) {
        frames.sort_by_key(|(ending, _)| number(ending));
    }
    let (mut clip, mut is_ours) = (ClipJson::named(sample.key.clone(), options.time_base), false);
    let json = sample.files.iter().find(|(ending, _)| last(ending) == "json" && !tracks::is_file(ending));
    if let Some((_, bytes)) = json {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|e| Error::decode(format!("its .json is invalid: {e}")))?;
        match (ClipJson::from_value(&value), value) {
            (Some(ours), _) => (clip, is_ours) = (ours, true),
            (None, Value::Object(keys)) => {
                keys.get("label").filter(|label| label.is_u64()).into_iter().for_each(|label| clip.set_label(label));
                clip.attributes = JsonObject(keys);
            }
            (None, other) => drop(clip.attributes.0.insert("json".into(), other)),
        }
    }
    // An export of vidrec says so if a clip has no frames.
    if frames.is_empty() && !(is_ours && clip.pts.is_empty()) {
        return Err(Error::decode("the sample has no images").expected(".jpg or .png files"));
    }
    for (ending, bytes) in &sample.files {
        let text = || String::from_utf8_lossy(bytes).trim().to_owned();
        match last(ending) {
            "cls" => {
                let label = text().parse::<u32>();
                let label = label.map_err(|_| Error::decode("its .cls is not a whole number").found(text()))?;
                clip.set_label(&json!(label));
            }
            "txt" => drop(clip.attributes.0.insert("txt".into(), json!(text()))),
            _ => {}
        }
    }
    Ok((clip, frames.into_iter().map(|(_, bytes)| Cow::Borrowed(&bytes[..])).collect()))
}

/// Returns the last number in an ending, before its last dot.
fn number(ending: &str) -> Option<u64> {
    let (place, _) = ending.rsplit_once('.')?;
    place.rsplit(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?.parse().ok()
}

/// Returns the start of the next tar header at or after `from`: a block with the magic and a matching checksum.
fn next_header(bytes: &[u8], from: usize) -> Option<usize> {
    let whole = |at: &usize| {
        let block = bytes.get(*at..)?.first_chunk::<BLOCK>()?;
        let header = tar::Header::from_byte_slice(block);
        // For the checksum, its own bytes count as spaces (POSIX, ustar).
        let sum: u32 =
            block.iter().enumerate().map(|(i, &b)| if (148..156).contains(&i) { 32 } else { b.into() }).sum();
        (block[257..].starts_with(b"ustar") && header.cksum().is_ok_and(|stored| stored == sum)).then_some(())
    };
    (from.next_multiple_of(BLOCK)..bytes.len()).step_by(BLOCK).find(|at| whole(at).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_in_order_of_their_numbers() {
        assert_eq!(
            [number("jpg"), number("007.jpg"), number("img_10.jpeg"), number("left.png")],
            [None, Some(7), Some(10), None]
        );
        let files = ["10.jpg", "9.jpg", "json"]
            .map(|e| (e.to_owned(), if e == "json" { b"{\"a\":1}".to_vec() } else { e.into() }));
        let sample = Sample { key: "k".into(), files: files.to_vec() };
        let (clip, frames) = clip(&sample, &ImportOptions::default()).unwrap();
        assert_eq!((frames[0].to_vec(), frames.len(), clip.attributes.len()), (b"9.jpg".to_vec(), 2, 1));
    }
}
